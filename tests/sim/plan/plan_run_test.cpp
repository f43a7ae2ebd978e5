// SPDX-License-Identifier: Apache-2.0
// Planned networks on the simulated machine: whatever the buffer forces the planner to do, the same
// bytes must come out, those of a plain computation.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <set>

#include "models/base/error.h"
#include "sim/check/program_check.h"
#include "sim/config/preset.h"
#include "sim/plan/expectations.h"
#include "sim/plan/plan_program.h"
#include "sim/run/session.h"
#include "tests/sim/plan/random_network.h"
#include "tests/sim/plan/reference_network.h"
#include "tests/sim/plan/sample_networks.h"

namespace npuscope {
namespace {

std::uint32_t crc_of(const std::vector<std::uint8_t>& bytes) {
    return static_cast<std::uint32_t>(
        crc32(crc32(0, nullptr, 0), bytes.data(), static_cast<uInt>(bytes.size())));
}

/// The program of a plan, with a check of every layer's result behind its last operation.
Program checked_program(const Plan& plan, const reference::Results& results) {
    Program program = plan_program(plan);
    for (const PlannedLayer& layer : plan.layers) {
        const auto bytes = reference::bytes_of(results.at(layer.name), layer.stored);
        const std::size_t last = layer.first_operation + layer.operations - 1;
        insert_behind(program, sync_name(last),
                      {Place{layer.name, 0, 0},
                       CheckCrc{sync_name(last), MemoryPort::Primary, layer.stored.cube.base,
                                Bytes(bytes.size()), crc_of(bytes)}});
    }
    return program;
}

Result run_checked(const Network& network, const PlanTarget& target) {
    const Plan plan = plan_network(network, target);
    const reference::Results results = reference::run_network(network, plan);
    const Result result =
        run_program(checked_program(plan, results), {target.npu, target.memory}, {});
    EXPECT_EQ(result.checks.size(), plan.layers.size());
    for (const CheckResult& check : result.checks) {
        EXPECT_TRUE(check.pass) << to_string(check.place);
    }
    for (const Finding& finding : result.findings) {
        ADD_FAILURE() << finding.message;
    }
    return result;
}

TEST(PlannedNetwork, GivesThePlainComputationsBytes) { run_checked(sample::mixed_network(), {}); }

TEST(PlannedNetwork, GivesTheSameBytesHoweverSmallTheTiles) {
    const Result whole = run_checked(sample::mixed_network(), {});
    const Result tiled = run_checked(sample::mixed_network(), sample::target_with_bank_depth(28));
    EXPECT_GT(tiled.operations.size(), whole.operations.size() + 10);
    ASSERT_EQ(tiled.checks.size(), whole.checks.size());
    for (std::size_t i = 0; i < whole.checks.size(); ++i) {
        EXPECT_EQ(tiled.checks[i].actual, whole.checks[i].actual)
            << to_string(whole.checks[i].place);
    }
}

TEST(PlannedNetwork, GivesTheSameBytesWhereAtomsStayPartlyEmpty) {
    const Network network = parse_network(
        "name: fat\n"
        "input: {channels: 40, height: 6, width: 6}\n"
        "layers:\n"
        "  - {name: first, kind: fc, kernels: 21, relu: true}\n"
        "  - {name: second, kind: fc, kernels: 30}\n"
        "  - {name: twice, kind: add, from: [second, second]}\n",
        "fat.yaml");
    const PlanTarget target = sample::target_with_bank_depth(24);
    ASSERT_LT(plan_network(network, target).layers[0].stored.lanes, 8U);
    run_checked(network, target);
}

TEST(PlannedNetwork, PoolsOnTheWayToMemoryHoweverSmallTheTiles) {
    const Network network = sample::oblong_network();
    for (const std::uint32_t depth : {512U, 12U}) {
        const PlanTarget target = sample::target_with_bank_depth(depth);
        const Plan plan = plan_network(network, target);
        ASSERT_EQ(plan.layers.front().name, "rows");
        EXPECT_TRUE(plan.operations.front().ends_in_pdp());
        EXPECT_GE(plan.layers.front().operations, depth < 100 ? 3U : 1U);
        run_checked(network, target);
    }
}

TEST(PlannedNetwork, AddsAloneWhereTheSecondStageIsMissing) {
    PlanTarget target;
    target.npu.sdp.bn = false;
    run_checked(sample::mixed_network(), target);
}

TEST(PlannedNetwork, MadeUpValuesNeitherSaturateNorVanish) {
    const Network network = sample::mixed_network();
    const auto results = reference::run_network(network, plan_network(network, {}));
    for (const auto& [name, tensor] : results) {
        SCOPED_TRACE(name);
        const std::set<std::int8_t> values(tensor.values.begin(), tensor.values.end());
        EXPECT_GE(values.size(), std::min<std::size_t>(tensor.values.size() / 2, 8)) << name;
        const auto saturated = std::ranges::count(tensor.values, std::int8_t{127});
        EXPECT_LT(saturated, static_cast<std::ptrdiff_t>(tensor.values.size() / 4 + 1)) << name;
    }
}

TEST(PlannedNetwork, TakesTheSameTimeWithoutValues) {
    PlanTarget target;
    const SystemConfig system{target.npu, target.memory};
    const Program with = plan_program(plan_network(sample::mixed_network(), target));
    target.images = false;
    const Program without = plan_program(plan_network(sample::mixed_network(), target));
    RunOptions options;
    const Result valued = run_program(with, system, options);
    options.values = false;
    EXPECT_EQ(run_program(without, system, options).cycles, valued.cycles);
}

/// Every preset that has registers.
std::vector<PlanTarget> preset_targets() {
    std::vector<PlanTarget> targets;
    for (const std::string& name : list_presets(configs_folder(), "npu")) {
        if (!name.starts_with("tinpu")) {
            targets.emplace_back();
            targets.back().npu = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", name));
        }
    }
    return targets;
}

TEST(PlannedNetwork, LeNetGivesThePlainBytesOnEveryPreset) {
    const Network network = read_network(configs_folder() / "workload/lenet.yaml");
    for (const PlanTarget& target : preset_targets()) {
        SCOPED_TRACE(target.npu.name);
        run_checked(network, target);
    }
}

TEST(PlannedNetwork, GivesThePlainBytesOnEveryPresetAlsoWhenPruned) {
    for (Network network : {sample::mixed_network(), sample::oblong_network()}) {
        for (const std::uint32_t zeros : {0U, 80U}) {
            network.zeros = zeros;
            for (const PlanTarget& target : preset_targets()) {
                SCOPED_TRACE(network.name + " on " + target.npu.name);
                run_checked(network, target);
            }
        }
    }
}

bool can_plan(const Network& network, const PlanTarget& target) {
    try {
        plan_network(network, target);
    } catch (const ConfigError&) {
        return false;
    }
    return true;
}

/// Random networks of a few layers, whatever a planner can be asked.
TEST(PlannedNetwork, RandomNetworksGiveThePlainBytesOnEveryPreset) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const Network network = sample::random_network(seed);
        for (PlanTarget target : preset_targets()) {
            SCOPED_TRACE(network.name + " on " + target.npu.name);
            const std::uint32_t depth = target.npu.cbuf.bank_depth;
            target.npu.cbuf.bank_depth = depth / (seed % 3 == 0 ? 8 : 1);
            if (!can_plan(network, target)) {  // nothing of a layer fits so small a buffer
                target.npu.cbuf.bank_depth = depth;
            }
            run_checked(network, target);
        }
    }
}

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
TEST(PlannedNetwork, GivesTheSameBytesFromPixelsAsFromFeatures) {
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

TEST(PlannedNetwork, ReadsEveryDeclaredPixelFormatSignedAndNot) {
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
                PlanTarget target;
                target.npu = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", preset));
                EXPECT_EQ(plan_network(network, target).input.pixels->format, &format);
                run_checked(network, target);
                target.npu.cbuf.bank_depth = 24;
                run_checked(network, target);
            }
        }
    }
}

TEST(PlannedNetwork, CompressedWeightsGiveTheSameBytesWithLessTraffic) {
    const Network network = parse_network(
        "name: pruned\n"
        "zeros: 75\n"
        "input: {channels: 64, height: 7, width: 7}\n"
        "layers:\n"
        "  - {name: first, kind: conv, kernels: 128, kernel: 3, padding: 1, relu: true}\n"
        "  - {name: second, kind: conv, kernels: 64, kernel: 3, padding: 1, relu: true}\n"
        "  - {name: last, kind: fc, kernels: 40}\n",
        "pruned.yaml");
    PlanTarget target;
    target.npu = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", "nv_full"));
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

TEST(PlannedNetwork, WeightsWithFewZerosStayAsTheyAre) {
    PlanTarget target;
    target.npu = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", "nv_full"));
    const Network network = sample::image_network(3, "");
    EXPECT_FALSE(compresses(plan_network(network, target)));
    target.compression = CompressionChoice::Always;
    EXPECT_TRUE(compresses(plan_network(network, target)));
    run_checked(network, target);
}

TEST(PlannedNetwork, TheCheckFindsNothingInPlans) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Network network = sample::random_network(seed);
        for (const PlanTarget& target : preset_targets()) {
            SCOPED_TRACE(network.name + " on " + target.npu.name);
            const CheckReport report = check_program(plan_program(plan_network(network, target)),
                                                     {target.npu, target.memory});
            for (const Found& found : report.found) {
                ADD_FAILURE() << found.finding.message;
            }
        }
    }
}

}  // namespace
}  // namespace npuscope
