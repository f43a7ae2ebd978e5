// SPDX-License-Identifier: Apache-2.0
// The good programs that mistakes are put into: every register program of the reference data and of
// tests/golden whose expected bytes real hardware, or NVIDIA's C model, produced; and the jobs of
// small networks on a TINPU.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/system_config.h"
#include "sim/program/program.h"

namespace npuscope::bench {

struct Subject {
    std::string name;            ///< folder of programs and program: `rtl/vectors/fz040`
    std::filesystem::path path;  ///< of a program, or of a network that is planned
    std::string npu;             ///< preset
    std::string memory;          ///< preset; without registers the one that belongs to the NPU
    bool element_wise = false;   ///< needs a unit that the preset lacks
    bool meets_faults = false;   ///< triggers a hardware fault, so that findings are right
};

/// Those of the repository at `source`, and of `data`, which may be empty; in the order of names.
std::vector<Subject> reference_subjects(const std::filesystem::path& source,
                                        const std::filesystem::path& data);

SystemConfig system_of(const Subject& subject);
Program program_of(const Subject& subject, const SystemConfig& system);

}  // namespace npuscope::bench
