// SPDX-License-Identifier: Apache-2.0
// The layers of a program that launches jobs, as reference operators over a byte memory: one loop
// nest per layer, and every element's address by the formula of its format. Nothing but the job is
// shared with the unit. A map that the host provides has no values in a program file; it gets
// random ones, the same for the reference operators and for the machine.
// source: TI NNC for MCUs, User's Guide, Supported Layer Patterns; models/layout/packed_surface.h
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/check/proof.h"
#include "sim/program/program.h"

namespace npuscope {

/// Bytes of maps that the host provides, by their names in the program's comments; H W C.
using HostMaps = std::map<std::string, std::vector<std::uint8_t>>;

/// The program with host stores of every map that a comment names as the host's and that no file
/// fills, right before the first job that reads it. Maps missing in `maps` get random values.
Program with_host_maps(Program program, const HostMaps& maps);

/// Whether the program launches jobs, and all of them are layers of a TINPU.
bool launches_known_jobs(const Program& program);

/// As plain_results(), for programs whose jobs are those of a TINPU.
std::vector<ProvedResult> plain_job_results(const Program& program, const MemoryConfig& machine,
                                            bool keep_arrays);

}  // namespace npuscope
