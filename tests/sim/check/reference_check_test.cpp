// SPDX-License-Identifier: Apache-2.0
// Programs that real RTL ran contain no mistake; a mistake in any of them is found.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "models/npu/register_blocks.h"
#include "sim/check/check_report.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"
#include "tests/sim/check/damaged_program.h"
#include "tests/support/reference_data.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

fs::path source() { return NPUSCOPE_SOURCE; }

struct Case {
    std::string name;
    Program program;
    NpuConfig npu;
};

void add_cases(const fs::path& folder, std::vector<Case>& cases) {
    const RegisterNames names = RegisterNames(nvdla_register_blocks());
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (!entry.is_directory()) {
            continue;
        }
        Case one{entry.path().filename().string(), read_program(entry.path(), names),
                 read_preset<NpuConfig>(find_preset(source() / "configs", "npu", "nv_small"))};
        // these need a unit that nv_small lacks
        one.npu.sdp.element_wise = one.name.find("_ew_") != std::string::npos;
        cases.push_back(std::move(one));
    }
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    add_cases(source() / "tests/golden/rtl", cases);
    if (const fs::path data = reference_data(source()); !data.empty()) {
        add_cases(data / "nvdla/nv_small_traces", cases);
        add_cases(data / "rtl/vectors", cases);
    }
    return cases;
}

CheckReport checked(const Case& one, const Program& program) {
    const auto memory =
        read_preset<MemoryConfig>(find_preset(source() / "configs", "memory", "dram_50"));
    return check_program(program, {one.npu, memory});
}

class ReferenceCheck : public testing::Test {
 protected:
    void SetUp() override {
        if (reference_data(source()).empty()) {
            GTEST_LOG_(INFO) << "no reference data at NPUSCOPE_REFERENCE_DATA: the repository's "
                                "programs alone";
        }
    }
    /// Damages every program that uses the register; `kind` must be among the findings.
    void expect_found(const std::string& register_name, const std::string& launches,
                      const std::function<std::uint32_t(std::uint32_t)>& changed,
                      const std::string& kind) {
        int damaged = 0;
        for (const Case& one : cases_) {
            Program program = one.program;
            if (sample::written(program, launches + ".D_OP_ENABLE") != 1 ||
                sample::change_writes(program, register_name, changed) == 0) {
                continue;
            }
            ++damaged;
            const CheckReport report = checked(one, program);
            EXPECT_FALSE(report.clean()) << one.name;
            EXPECT_TRUE(std::ranges::any_of(
                report.findings,
                [&](const Diagnostic& found) { return kind.find(found.id) != std::string::npos; }))
                << one.name << "\n"
                << sample::kinds_of(report);
        }
        EXPECT_GT(damaged, 0);
    }

    /// All programs of the CDP are NVIDIA's.
    static bool normalises() { return !reference_data(source()).empty(); }

    std::vector<Case> cases_ = all_cases();
};

TEST_F(ReferenceCheck, ProgramsThatRanHoldNoMistake) {
    for (const Case& one : cases_) {
        const CheckReport report = checked(one, one.program);
        EXPECT_TRUE(report.clean()) << one.name << "\n" << sample::kinds_of(report);
        EXPECT_GE(report.operations, 1U) << one.name;
    }
}

TEST(NvFullCheck, ProgramsOfTheRepositoryHoldNoMistake) {
    const RegisterNames names = RegisterNames(nvdla_register_blocks(AddressMap::NvFull));
    const auto npu = read_preset<NpuConfig>(find_preset(source() / "configs", "npu", "nv_full"));
    for (const auto& entry : fs::directory_iterator(source() / "tests/golden/nv_full")) {
        if (entry.is_directory()) {
            const Case one{entry.path().filename().string(), read_program(entry.path(), names),
                           npu};
            const CheckReport report = checked(one, one.program);
            EXPECT_TRUE(report.clean()) << one.name << "\n" << sample::kinds_of(report);
        }
    }
}

TEST(NvFullCheck, NoRegisterOfAProgramThatRanIsSuspicious) {
    const fs::path data = reference_data(source());
    if (data.empty()) {
        GTEST_SKIP() << "no reference data";
    }
    const RegisterNames names = RegisterNames(nvdla_register_blocks(AddressMap::NvFull));
    const auto npu = read_preset<NpuConfig>(find_preset(source() / "configs", "npu", "nv_full"));
    for (const char* const folder : {"nv_full/vectors", "nvdla/nv_full_traces"}) {
        for (const auto& entry : fs::directory_iterator(data / folder)) {
            const bool complete = !entry.path().filename().string().starts_with("cc_alexnet");
            if (!entry.is_directory() || !complete) {  // the one's weights are not published
                continue;
            }
            const Case one{entry.path().filename().string(), read_program(entry.path(), names),
                           npu};
            const CheckReport report = checked(one, one.program);
            EXPECT_FALSE(sample::finds(report, "suspicious_register")) << one.name << "\n"
                                                                       << sample::kinds_of(report);
        }
    }
}

std::uint32_t off_by_one_byte(std::uint32_t value) { return value + 1; }
std::uint32_t far_away(std::uint32_t value) { return value + 0x4000000; }

TEST_F(ReferenceCheck, MisalignedAddressesAreFound) {
    expect_found("NVDLA_CDMA.D_DAIN_ADDR_LOW_0", "NVDLA_CDMA", off_by_one_byte, "misaligned");
    expect_found("NVDLA_CDMA.D_WEIGHT_ADDR_LOW", "NVDLA_CDMA", off_by_one_byte, "misaligned");
    expect_found("NVDLA_PDP.D_DST_BASE_ADDR_LOW", "NVDLA_PDP", off_by_one_byte, "misaligned");
    if (normalises()) {
        expect_found("NVDLA_CDP.D_DST_BASE_ADDR_LOW", "NVDLA_CDP", off_by_one_byte, "misaligned");
    }
}

TEST_F(ReferenceCheck, SurfacesMovedAwayFromTheirDataAreFound) {
    expect_found("NVDLA_CDMA.D_DAIN_ADDR_LOW_0", "NVDLA_CDMA", far_away,
                 "uninitialised_read|never_loaded");
    expect_found("NVDLA_CDMA.D_WEIGHT_ADDR_LOW", "NVDLA_CDMA", far_away,
                 "uninitialised_read|never_loaded");
    expect_found("NVDLA_PDP.D_DST_BASE_ADDR_LOW", "NVDLA_PDP", far_away, "compares_no_result");
    if (normalises()) {
        expect_found("NVDLA_CDP.D_DST_BASE_ADDR_LOW", "NVDLA_CDP", far_away, "compares_no_result");
    }
}

TEST_F(ReferenceCheck, MissingLoadsAreFound) {
    for (const Case& one : cases_) {
        Program program = one.program;
        ASSERT_GT(sample::leave_out<LoadMemory>(program), 0) << one.name;
        const CheckReport report = checked(one, program);
        EXPECT_TRUE(sample::finds(report, "never_loaded") ||
                    sample::finds(report, "uninitialised_read"))
            << one.name << "\n"
            << sample::kinds_of(report);
    }
}

TEST_F(ReferenceCheck, ResultsOnTopOfOperandsAreFound) {
    for (const Case& one : cases_) {
        Program program = one.program;
        const bool pools = sample::written(program, "NVDLA_PDP.D_OP_ENABLE") == 1;
        const bool convolves = sample::written(program, "NVDLA_CDMA.D_OP_ENABLE") == 1;
        if (pools || !convolves) {
            continue;
        }
        const std::uint32_t input = sample::written(program, "NVDLA_CDMA.D_DAIN_ADDR_LOW_0");
        ASSERT_GT(sample::change_writes(program, "NVDLA_SDP.D_DST_BASE_ADDR_LOW",
                                        [input](std::uint32_t) { return input; }),
                  0);
        const CheckReport report = checked(one, program);
        EXPECT_TRUE(sample::finds(report, "surface_overlap")) << one.name << "\n"
                                                              << sample::kinds_of(report);
    }
}

TEST_F(ReferenceCheck, WrongStridesAreFound) {
    for (const Case& one : cases_) {
        const bool flat = sample::written(one.program, "NVDLA_CDMA.D_DATAIN_SIZE_0") >> 16U == 0;
        if (sample::written(one.program, "NVDLA_CDMA.D_OP_ENABLE") != 1 || flat) {
            continue;
        }
        for (const std::uint32_t factor : {0U, 2U}) {
            Program program = one.program;
            if (sample::change_writes(program, "NVDLA_CDMA.D_LINE_STRIDE",
                                      [&](std::uint32_t stride) { return stride * factor; }) == 0) {
                continue;
            }
            const CheckReport report = checked(one, program);
            EXPECT_FALSE(report.clean()) << one.name << " times " << factor;
        }
    }
}

}  // namespace
}  // namespace npuscope
