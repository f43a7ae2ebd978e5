// SPDX-License-Identifier: Apache-2.0
// Whole programs against what the real RTL left in memory: the CRC in each program is the RTL's.
// The few in the repository always run; NVIDIA's traces and hundreds of layers if the reference
// data is available.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "models/npu/register_blocks.h"
#include "sim/check/check_report.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"
#include "sim/run/session.h"
#include "tests/support/reference_data.h"
#include "tests/support/transactions.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

fs::path source() { return NPUSCOPE_SOURCE; }

std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> folders;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.is_directory()) {
            folders.push_back(entry.path());
        }
    }
    std::ranges::sort(folders);
    return folders;
}

SystemConfig nv_small() {
    SystemConfig system = nvdla_system();
    nvdla_npu(system) =
        read_preset<NpuConfig>(find_preset(source() / "configs", "npu", "nv_small"));
    system.memory =
        read_preset<MemoryConfig>(find_preset(source() / "configs", "memory", "dram_50"));
    return system;
}

/// Runs every program below a folder; returns how many there were.
std::size_t expect_all_to_pass(const fs::path& folder) {
    const RegisterNames names = RegisterNames(nvdla_register_blocks());
    std::size_t programs = 0;
    for (const fs::path& program : folders_in(folder)) {
        SystemConfig system = nv_small();
        // these four need a unit that nv_small lacks
        nvdla_npu(system).sdp.element_wise =
            program.filename().string().find("_ew_") != std::string::npos;
        const Program read = read_program(program, names);
        const Result result = run_program(read, system, {});
        EXPECT_EQ(result.status(), RunStatus::Pass) << program;
        EXPECT_FALSE(result.checks.empty()) << program;
        EXPECT_GT(result.cycles, Cycles(0)) << program;
        test::expect_the_same_by_transactions(read, system, result);
        ++programs;
    }
    return programs;
}

TEST(RtlPrograms, of_this_repository_leave_the_bytes_that_the_rtl_left) {
    EXPECT_EQ(expect_all_to_pass(source() / "tests/golden/rtl"), 9U);
}

TEST(RtlPrograms, of_other_presets_take_the_cycles_of_their_rtl) {
    for (const fs::path& preset : folders_in(source() / "tests/golden/rtl_presets")) {
        for (const fs::path& folder : folders_in(preset)) {
            const Program program = read_program(folder, RegisterNames(nvdla_register_blocks()));
            const nlohmann::json expect =
                nlohmann::json::parse(std::ifstream(folder / "expect.json"));
            for (const auto& [latency, cycles] : expect["cycles"].items()) {
                SystemConfig system = nv_small();
                nvdla_npu(system) = read_preset<NpuConfig>(
                    find_preset(source() / "configs", "npu", preset.filename().string()));
                system.memory.read_latency = Cycles(std::stoull(latency));
                const Result result = run_program(program, system, {});
                EXPECT_NE(result.status(), RunStatus::Fail) << folder;
                EXPECT_EQ(result.cycles, Cycles(cycles.get<std::uint64_t>()))
                    << folder << " at " << latency;
            }
        }
    }
}

TEST(RtlPrograms, that_fetch_weights_nobody_takes_compute_with_what_is_left) {
    const Program program = read_program(source() / "tests/golden/rtl_stale_weights",
                                         RegisterNames(nvdla_register_blocks()));
    const Result result = run_program(program, nv_small(), {});
    EXPECT_EQ(result.status(), RunStatus::Pass);
    EXPECT_EQ(result.checks.size(), 4U);
    // nine of the ten convolutions find something in front of their weights
    EXPECT_EQ(std::ranges::count(result.findings, "stale_weights", &Diagnostic::id), 9);
    const CheckReport report = check_program(program, {nvdla_npu(nv_small()), nv_small().memory});
    EXPECT_EQ(std::ranges::count_if(report.findings,
                                    [](const Diagnostic& found) {
                                        return found.id == "stale_weights" &&
                                               found.register_name == "NVDLA_CDMA.D_WEIGHT_BYTES_0";
                                    }),
              9);
}

TEST(RtlPrograms, whose_ends_meet_in_the_delivery_buffer_stop_where_the_rtl_stops) {
    const Program program = read_program(source() / "tests/golden/rtl_short_ends",
                                         RegisterNames(nvdla_register_blocks()));
    try {
        run_program(program, nv_small(), {});
        FAIL() << "the RTL stands still";
    } catch (const MachineStopped& stopped) {
        const std::string message = stopped.what();
        // twelve outputs of the last operation were written
        EXPECT_NE(message.find("sdp 6 is ended after 12 of its 15 atoms"), std::string::npos)
            << message;
        EXPECT_NE(message.find("warning: the last atom of this convolution, number 10"),
                  std::string::npos)
            << message;
        EXPECT_NE(message.find("D_DATAOUT_SIZE_0_0 is 0x10004"), std::string::npos) << message;
    }
    const CheckReport report = check_program(program, {nvdla_npu(nv_small()), nv_small().memory});
    ASSERT_EQ(report.findings.size(), 2U);
    for (const Diagnostic& found : report.findings) {
        EXPECT_EQ(found.id, "ends_meet");
        EXPECT_EQ(found.register_name, "NVDLA_CACC.D_DATAOUT_SIZE_0_0");
        EXPECT_FALSE(found.remedy.empty());
        EXPECT_GT(found.place.line, 0U);
    }
}

TEST(RtlPrograms, whose_ends_meet_run_where_the_hardware_keeps_its_marks) {
    const Program program = read_program(source() / "tests/golden/rtl_short_ends",
                                         RegisterNames(nvdla_register_blocks()));
    SystemConfig system = nv_small();
    nvdla_npu(system).cacc.stale_end_marks = false;
    const Result result = run_program(program, system, {});
    EXPECT_EQ(result.status(), RunStatus::Pass);
    EXPECT_TRUE(result.findings.empty());
    EXPECT_TRUE(check_program(program, {nvdla_npu(system), system.memory}).findings.empty());
}

TEST(RtlPrograms, whose_image_blocks_are_miscounted_meet_the_pixels_that_the_rtl_meets) {
    const fs::path folder = source() / "tests/golden/rtl_image_blocks";
    EXPECT_EQ(expect_all_to_pass(folder), 5U);
    SystemConfig right = nv_small();
    nvdla_npu(right).csc.miscounts_image_blocks = false;
    for (const fs::path& path : folders_in(folder)) {
        const Program program = read_program(path, RegisterNames(nvdla_register_blocks()));
        const Result result = run_program(program, nv_small(), {});
        ASSERT_EQ(result.findings.size(), 1U) << path;
        EXPECT_EQ(result.findings[0].id, "image_miscounted");
        const CheckReport report =
            check_program(program, {nvdla_npu(nv_small()), nv_small().memory});
        // one of these programs loads more than it reads, which the check reports, too
        ASSERT_FALSE(report.findings.empty()) << path;
        EXPECT_EQ(std::ranges::count(report.findings, "image_miscounted", &Diagnostic::id), 1);
        EXPECT_EQ(report.findings[0].id, "image_miscounted");
        EXPECT_EQ(report.findings[0].register_name, "NVDLA_CSC.D_WEIGHT_SIZE_EXT_1_0");
        EXPECT_NE(report.findings[0].remedy.find("column"), std::string::npos);
        // a driver expects something else of such a program
        EXPECT_EQ(run_program(program, right, {}).status(), RunStatus::Fail) << path;
    }
}

TEST(RtlPrograms, that_reuse_the_buffer_leave_the_bytes_and_take_the_cycles_of_the_rtl) {
    const fs::path folder = source() / "tests/golden/rtl_reuse";
    EXPECT_EQ(expect_all_to_pass(folder), 11U);
    const RegisterNames names = RegisterNames(nvdla_register_blocks());
    std::size_t timed = 0;
    for (const fs::path& program : folders_in(folder)) {
        std::ifstream expected(program / "expect.json");
        if (!expected) {
            continue;  // the host's own pace shows in its cycles
        }
        const Result result = run_program(read_program(program, names), nv_small(), {});
        EXPECT_EQ(result.cycles.value, nlohmann::json::parse(expected)["cycles"]["lat50"])
            << program;
        ++timed;
    }
    EXPECT_EQ(timed, 7U);
}

TEST(RtlPrograms, of_nvidia_leave_the_bytes_that_their_golden_crcs_name) {
    const fs::path data = reference_data(source());
    if (data.empty()) {
        GTEST_SKIP() << "no reference data: set NPUSCOPE_REFERENCE_DATA to run NVIDIA's traces";
    }
    EXPECT_GE(expect_all_to_pass(data / "nvdla/nv_small_traces"), 78U);
}

TEST(RtlPrograms, of_the_reference_data_leave_the_bytes_that_the_rtl_left) {
    const fs::path data = reference_data(source());
    if (data.empty()) {
        GTEST_SKIP() << "no reference data: set NPUSCOPE_REFERENCE_DATA to run the RTL's layers";
    }
    EXPECT_GE(expect_all_to_pass(data / "rtl/vectors"), 195U);
}

TEST(RtlPrograms, that_ask_for_an_absent_unit_are_refused_with_register_and_place) {
    const fs::path data = reference_data(source());
    if (data.empty()) {
        GTEST_SKIP() << "no reference data: set NPUSCOPE_REFERENCE_DATA to run NVIDIA's traces";
    }
    const Program program = read_program(data / "nvdla/nv_small_traces/sdp_3x3x33_ew_int8_reg_0",
                                         RegisterNames(nvdla_register_blocks()));
    try {
        run_program(program, nv_small(), {});
        FAIL() << "the program was accepted";
    } catch (const ConfigError& error) {
        EXPECT_NE(error.sentence().find("NVDLA_SDP.D_DP_EW_CFG"), std::string::npos);
        EXPECT_GT(error.place().line, 0U);
    }
}

}  // namespace
}  // namespace npuscope
