// SPDX-License-Identifier: Apache-2.0
// Every reference program takes the same cycles with values and without, for all units.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/program/read_program.h"
#include "sim/run/session.h"
#include "tests/support/reference_data.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> programs() {
    const fs::path data = reference_data(NPUSCOPE_SOURCE);
    std::vector<fs::path> found;
    for (const char* folder : {"rtl/vectors", "nvdla/nv_small_traces"}) {
        if (!fs::exists(data / folder)) {
            continue;
        }
        for (const auto& entry : fs::directory_iterator(data / folder)) {
            found.push_back(entry.path());
        }
    }
    return found;
}

Result run(const fs::path& path, bool values) {
    RunOptions options;
    options.values = values;
    SystemConfig system = nvdla_system();
    nvdla_npu(system).sdp.element_wise = true;  // some traces use what nv_small lacks
    const Program program = read_program(path, RegisterNames(nvdla_register_blocks()),
                                         values ? Images::Read : Images::LeaveOut);
    return run_program(program, system, options);
}

TEST(TimeAloneReference, EveryProgramTakesTheSameCyclesAndBeats) {
    const std::vector<fs::path> paths = programs();
    if (paths.empty()) {
        GTEST_SKIP() << "no reference data; NPUSCOPE_REFERENCE_DATA names it";
    }
    for (const fs::path& path : paths) {
        const Result with = run(path, true);
        const Result without = run(path, false);
        EXPECT_EQ(with.cycles, without.cycles) << path;
        EXPECT_EQ(with.total_traffic().read_beats, without.total_traffic().read_beats) << path;
        EXPECT_EQ(with.total_traffic().write_beats, without.total_traffic().write_beats) << path;
    }
}

}  // namespace
}  // namespace npuscope
