// SPDX-License-Identifier: Apache-2.0
// Whatever form operands take and wherever they are (pixels, compressed weights, SRAM), the bytes
// of the results are the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "sim/check/check_report.h"
#include "sim/compile/nvdla/plan_program.h"
#include "tests/sim/compile/nvdla/checked_run.h"
#include "tests/sim/compile/nvdla/random_network.h"
#include "tests/sim/compile/nvdla/reference_network.h"
#include "tests/sim/compile/nvdla/sample_networks.h"

namespace npuscope {
namespace {

using sample::preset_target;
using sample::preset_targets;
using sample::run_checked;

bool uses(const Plan& plan, ConvMode mode) {
    return std::ranges::any_of(plan.operations, [mode](const Operation& operation) {
        const auto* conv = std::get_if<ConvOperation>(&operation.job);
        return conv != nullptr && conv->conv.cdma.mode == mode;
    });
}

bool compresses(const Plan& plan) {
    return std::ranges::any_of(plan.operations, [](const Operation& operation) {
        const auto* conv = std::get_if<ConvOperation>(&operation.job);
        return conv != nullptr && conv->conv.cdma.compression.has_value();
    });
}

/// First layers of one to four channels: seen as features and as pixels.
TEST(PlannedForms, GivesTheSameBytesFromPixelsAsFromFeatures) {
    for (const std::uint32_t channels : {1U, 2U, 3U, 4U}) {
        const Network network = sample::image_network(channels, "");
        for (PlanTarget target : preset_targets()) {
            SCOPED_TRACE(target.npu.name);
            target.npu.surfaces = {};
            EXPECT_TRUE(uses(plan_network(network, target), ConvMode::Image));
            const Result pixels = run_checked(network, target);
            target.pixels = false;
            EXPECT_FALSE(uses(plan_network(network, target), ConvMode::Image));
            const Result features = run_checked(network, target);
            ASSERT_EQ(pixels.checks.size(), features.checks.size());
            for (std::size_t i = 0; i < pixels.checks.size(); ++i) {
                EXPECT_EQ(pixels.checks[i].actual, features.checks[i].actual);
            }
            EXPECT_LT(pixels.cycles, features.cycles);
        }
    }
}

TEST(PlannedForms, ThreeChannelsMayLieInTwoPlanes) {
    const Network network = parse_network(
        "name: planes\n"
        "input: {channels: 3, height: 40, width: 44}\n"
        "layers:\n"
        "  - {name: first, kind: conv, kernels: 16, kernel: 7, stride: 2, padding: 3}\n",
        "planes.yaml");
    const Plan plan = plan_network(network, {});  // 21 channels of columns instead of 28
    ASSERT_TRUE(plan.input.pixels.has_value());
    EXPECT_EQ(plan.input.pixels->format->planes, 2);
    run_checked(network, {});
}

TEST(PlannedForms, ReadsEveryDeclaredPixelFormatSignedAndNot) {
    for (const PixelFormat& format : pixel_formats()) {
        if (format.code_bits != 8) {
            continue;
        }
        Network network = sample::image_network(format.channels == 4 ? 3 : format.channels,
                                                std::string(format.name));
        for (const InputType type : {InputType::Int8, InputType::Uint8}) {
            network.input.type = type;
            for (const char* preset : {"nv_small", "nv_full"}) {
                SCOPED_TRACE(std::string(format.name) + " on " + preset);
                PlanTarget target = preset_target(preset);
                EXPECT_EQ(plan_network(network, target).input.pixels->format, &format);
                run_checked(network, target);
                target.npu.cbuf.bank_depth = 24;
                run_checked(network, target);
            }
        }
    }
}

TEST(PlannedForms, CompressedWeightsGiveTheSameBytesWithLessTraffic) {
    const Network network = parse_network(
        "name: pruned\n"
        "zeros: 75\n"
        "input: {channels: 64, height: 7, width: 7}\n"
        "layers:\n"
        "  - {name: first, kind: conv, kernels: 128, kernel: 3, padding: 1, relu: true}\n"
        "  - {name: second, kind: conv, kernels: 64, kernel: 3, padding: 1, relu: true}\n"
        "  - {name: last, kind: fc, kernels: 40}\n",
        "pruned.yaml");
    PlanTarget target = preset_target("nv_full");
    target.memory.beat_interval = Cycles(4);
    EXPECT_TRUE(compresses(plan_network(network, target)));
    const Result compressed = run_checked(network, target);
    target.compression = CompressionChoice::Always;
    const Result always = run_checked(network, target);
    target.compression = CompressionChoice::Never;
    EXPECT_FALSE(compresses(plan_network(network, target)));
    const Result plain = run_checked(network, target);
    const auto read = [](const Result& result) { return result.total_traffic().read_beats; };
    EXPECT_LT(read(compressed), read(plain) / 2);
    EXPECT_LT(compressed.cycles, plain.cycles);
    for (std::size_t i = 0; i < plain.checks.size(); ++i) {
        EXPECT_EQ(compressed.checks[i].actual, plain.checks[i].actual);
        EXPECT_EQ(always.checks[i].actual, plain.checks[i].actual);
    }
}

TEST(PlannedForms, WinogradIsChosenWhereItMayRoundAndNearlyGivesTheDirectResult) {
    const Network network = parse_network(
        "name: patches\n"
        "input: {channels: 20, height: 12, width: 16}\n"
        "layers:\n"
        "  - {name: first, kind: conv, kernels: 40, kernel: 3, padding: 1, relu: true}\n"
        "  - {name: second, kind: conv, kernels: 40, kernel: 3, padding: 1}\n"
        "  - {name: sum, kind: add, from: [second, first], relu: true}\n"
        "  - {name: third, kind: conv, kernels: 8, kernel: 3, padding: 0}\n",
        "patches.yaml");
    PlanTarget target = preset_target("nv_full");
    EXPECT_FALSE(uses(plan_network(network, target), ConvMode::Winograd));
    const Result direct = run_checked(network, target);
    target.winograd = true;
    EXPECT_TRUE(uses(plan_network(network, target), ConvMode::Winograd));
    const Result transformed = run_checked(network, target);
    EXPECT_LT(transformed.cycles, direct.cycles);
    target.npu.cbuf.bank_depth = 32;  // several tiles
    run_checked(network, target);
    // only the rounding: most results are near those of the direct convolution
    const Plan plan = plan_network(network, preset_target("nv_full"));
    const Plan patches = plan_network(network, target);
    const auto one = reference::run_network(network, plan).at("first");
    const auto other = reference::run_network(network, patches).at("first");
    std::size_t near = 0;
    for (std::size_t i = 0; i < one.values.size(); ++i) {
        near += std::abs(one.values[i] - other.values[i]) <= 6 ? 1U : 0U;
    }
    EXPECT_GT(near, one.values.size() * 9 / 10);
}

/// A memory with this many bytes behind the second port.
MemoryConfig memory_with_sram(std::uint64_t bytes) {
    MemoryConfig memory;
    memory.beat_interval = Cycles(4);
    MemoryRegionConfig sram;
    sram.name = "sram";
    sram.base = Address(0x50000000);
    sram.size = Bytes(1U << 24U);
    sram.beat_interval = Cycles(1);
    sram.surfaces = Bytes(bytes);
    memory.regions.push_back(sram);
    return memory;
}

TEST(PlannedForms, ResultsInSramAreTheSameBytesAndSpareTheFirstPort) {
    for (const char* preset : {"nv_full", "nv_large", "nv_small_256_full"}) {
        SCOPED_TRACE(preset);
        PlanTarget target = preset_target(preset);
        target.memory = memory_with_sram(0);
        const Result without = run_checked(sample::mixed_network(), target);
        EXPECT_EQ(plan_network(sample::mixed_network(), target).sram, Bytes(0));
        const std::uint64_t without_sram = without.cycles.value;
        std::uint64_t before = without_sram;
        for (const std::uint64_t room : {8192U, 40960U, 1U << 20U}) {
            target.memory = memory_with_sram(room);
            const Plan plan = plan_network(sample::mixed_network(), target);
            EXPECT_GT(plan.sram, Bytes(0));
            EXPECT_LE(plan.sram, Bytes(room));
            const Result with = run_checked(sample::mixed_network(), target);
            EXPECT_LE(with.cycles.value, before);
            before = with.cycles.value;
            const CheckReport report =
                check_program(plan_program(plan), {target.npu, target.memory});
            for (const Diagnostic& found : report.findings) {
                ADD_FAILURE() << found.sentence;
            }
        }
        EXPECT_LT(before, without_sram);
    }
}

TEST(PlannedForms, RandomNetworksGiveThePlainBytesFromSram) {
    for (std::uint64_t seed = 20; seed < 30; ++seed) {
        PlanTarget target = preset_target(seed % 2 == 0 ? "nv_full" : "nv_large");
        target.memory = memory_with_sram(1U << 16U);
        target.winograd = seed % 4 == 0;
        SCOPED_TRACE(seed);
        run_checked(sample::random_network(seed), target);
    }
}

TEST(PlannedForms, WeightsWithFewZerosStayAsTheyAre) {
    PlanTarget target = preset_target("nv_full");
    const Network network = sample::image_network(3, "");
    EXPECT_FALSE(compresses(plan_network(network, target)));
    target.compression = CompressionChoice::Always;
    EXPECT_TRUE(compresses(plan_network(network, target)));
    run_checked(network, target);
}

}  // namespace
}  // namespace npuscope
