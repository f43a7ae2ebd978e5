// SPDX-License-Identifier: Apache-2.0
// Register programs for nv_full with the memory and the registers that its C model left behind. The
// few in the repository always run; all of the reference data and NVIDIA's traces if available.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "models/npu/register_blocks.h"
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

SystemConfig nv_full() {
    SystemConfig system = nvdla_system();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(source() / "configs", "npu", "nv_full"));
    system.memory =
        read_preset<MemoryConfig>(find_preset(source() / "configs", "memory", "dram_50"));
    return system;
}

void expect_pass(const fs::path& folder) {
    SCOPED_TRACE(folder.filename());
    const SystemConfig system = nv_full();
    const RegisterNames names =
        RegisterNames(nvdla_register_blocks(nvdla_npu(system).csb.address_map));
    const Program program = read_program(folder, names);
    const Result result = run_program(program, system, {});
    EXPECT_EQ(result.status(), RunStatus::Pass);
    test::expect_the_same_by_transactions(program, system, result);
    EXPECT_FALSE(result.checks.empty());
    for (const CheckResult& check : result.checks) {
        EXPECT_TRUE(check.pass) << to_string(check.place) << ' ' << check.subject << ": "
                                << check.actual << " instead of " << check.expected;
    }
}

/// int8 to fp16: the C model left bytes, the RTL hangs or writes others.
bool converts_int8_to_fp16(const fs::path& folder) {
    const std::string name = folder.filename().string();
    return name.starts_with("sdpcvt_i8_i8_f16") || name.starts_with("conv_i8_to_f16");
}

/// The RTL ends a different number of windows than the C model, beyond the input.
bool flushes_other_windows(const fs::path& folder) {
    const std::string name = folder.filename().string();
    return name == "pdp_i8_10" || name == "pdp_i16_10" || name == "pdp_f16_09";
}

void expect_refused(const fs::path& folder, const std::string& rule) {
    SCOPED_TRACE(folder.filename());
    const SystemConfig system = nv_full();
    const RegisterNames names =
        RegisterNames(nvdla_register_blocks(nvdla_npu(system).csb.address_map));
    try {
        run_program(read_program(folder, names), system, {});
        ADD_FAILURE() << "it ran";
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.diagnostic().id, rule);
    }
}

/// Runs every folder whose name begins with `prefix`; returns how many there were.
std::size_t expect_all_to_pass(const fs::path& parent, const std::string& prefix) {
    std::vector<fs::path> folders;
    for (const fs::directory_entry& entry : fs::directory_iterator(parent)) {
        if (entry.is_directory() && entry.path().filename().string().starts_with(prefix)) {
            folders.push_back(entry.path());
        }
    }
    std::ranges::sort(folders);
    for (const fs::path& folder : folders) {
        if (converts_int8_to_fp16(folder)) {
            expect_refused(folder, "precision_conversion");
        } else if (flushes_other_windows(folder)) {
            expect_refused(folder, "windows_flushed");
        } else {
            expect_pass(folder);
        }
    }
    return folders.size();
}

TEST(NvFullPrograms, of_this_repository_leave_what_the_c_model_left) {
    EXPECT_EQ(expect_all_to_pass(source() / "tests/golden/nv_full", ""), 23U);
}

/// A program that nv_full's RTL ran behind a memory of 50 cycles, and its cycles and beats there.
struct RtlRow {
    const char* name;
    std::uint64_t cycles;
    std::uint64_t reads;
    std::uint64_t writes;
};

class NvFullRtl : public testing::TestWithParam<RtlRow> {};

TEST_P(NvFullRtl, takes_the_same_cycles_and_beats) {
    const SystemConfig system = nv_full();
    const RegisterNames names =
        RegisterNames(nvdla_register_blocks(nvdla_npu(system).csb.address_map));
    const fs::path folder = source() / "tests/golden/nv_full" / GetParam().name;
    const Result result = run_program(read_program(folder, names), system, {});
    EXPECT_EQ(result.cycles, Cycles(GetParam().cycles));
    ASSERT_FALSE(result.ports.empty());
    EXPECT_EQ(result.ports[0].traffic.read_beats, GetParam().reads);
    EXPECT_EQ(result.ports[0].traffic.write_beats, GetParam().writes);
}

INSTANTIATE_TEST_SUITE_P(, NvFullRtl,
                         testing::Values(RtlRow{"cdp_i8_blocks", 334, 16, 16},
                                         RtlRow{"pdp_i8_parts", 473, 28, 40},
                                         RtlRow{"sdp_bs_i8_6", 208, 18, 6}),
                         [](const auto& row) { return std::string(row.param.name); });

/// Folders of one kind, and how many of them the reference data has at least.
struct Kind {
    const char* prefix;
    std::size_t least;
};

class NvFullVectors : public testing::TestWithParam<Kind> {};

TEST_P(NvFullVectors, leave_what_the_c_model_left) {
    const fs::path data = reference_data(source());
    if (data.empty()) {
        GTEST_SKIP() << "no reference data: set NPUSCOPE_REFERENCE_DATA to run the vectors";
    }
    EXPECT_GE(expect_all_to_pass(data / "nv_full/vectors", GetParam().prefix), GetParam().least);
}

constexpr std::array kKinds{
    Kind{"bdma", 4},   Kind{"rbk_", 22}, Kind{"sdp_", 56}, Kind{"sdpcvt", 25}, Kind{"sdplut", 13},
    Kind{"sdppdp", 5}, Kind{"pdp_", 27}, Kind{"cdp_", 16}, Kind{"conv", 34},   Kind{"batch", 12},
    Kind{"deconv", 6}, Kind{"img_", 61}, Kind{"imgn", 2},  Kind{"imgofs", 12}, Kind{"imgsign", 5},
    Kind{"yext", 7},   Kind{"wino", 16}, Kind{"wmb", 13}};

INSTANTIATE_TEST_SUITE_P(EveryKind, NvFullVectors, testing::ValuesIn(kKinds),
                         [](const auto& instance) {
                             std::string name = instance.param.prefix;
                             std::erase(name, '_');
                             return name;
                         });

class NvFullTraces : public testing::TestWithParam<const char*> {};

TEST_P(NvFullTraces, pass_as_published) {
    const fs::path data = reference_data(source());
    if (data.empty()) {
        GTEST_SKIP() << "no reference data: set NPUSCOPE_REFERENCE_DATA to run NVIDIA's traces";
    }
    expect_pass(data / "nvdla/nv_full_traces" / GetParam());
}

INSTANTIATE_TEST_SUITE_P(WithConvolution, NvFullTraces,
                         testing::Values("sanity3", "sanity3_cvsram", "conv_8x8_fc_int16",
                                         "googlenet_conv2_3x3_int16"),
                         [](const auto& instance) { return std::string(instance.param); });

INSTANTIATE_TEST_SUITE_P(WithoutConvolution, NvFullTraces,
                         testing::Values("sanity0", "sanity1", "sanity1_cvsram", "sanity2",
                                         "sanity2_cvsram", "sdp_relu_int16",
                                         "pdp_max_pooling_int16"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace npuscope
