// SPDX-License-Identifier: Apache-2.0
// Kernel groups that repeat earlier ones are counted and not simulated; without values, so are
// operations. Everything in a result is the same as with all of them: values, cycles, causes,
// units, traffic, operations, findings.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/config/preset.h"
#include "sim/convert/surface_spec.h"
#include "sim/report/reports.h"
#include "sim/run/session.h"
#include "tests/sim/compile/nvdla/checked_run.h"
#include "tests/sim/compile/nvdla/random_network.h"

namespace npuscope {
namespace {

nlohmann::ordered_json told(const Result& result) {
    nlohmann::ordered_json all = nlohmann::ordered_json::parse(json_report(result));
    all.erase("wall_seconds");
    all.erase("repeated_cycles");
    return all;
}

double share_of(const Result& result) {
    return static_cast<double>(result.repeated_cycles.value) /
           static_cast<double>(result.simulated_cycles.value);
}

/// The same with values, of which all that the network writes is compared, too; once they are
/// computed by a second thread, once by the simulation itself.
double repeated_share_with_values(const Network& network, const PlanTarget& target) {
    const SystemConfig system = nvdla_system(target.npu, target.memory);
    const Plan plan = plan_network(network, target);
    const Program program = plan_program(plan);
    RunOptions options;
    for (const NamedSurface& surface : plan_surfaces(plan)) {
        const SurfaceSpec spec = parse_surface_spec(surface.spec);
        options.keep.push_back({{spec.base, Bytes(spec.layout.bytes)}});
    }
    const Result counted = run_program(program, system, options);
    options.repeats = true;
    options.value_thread.reset();
    const Result all = run_program(program, system, options);
    EXPECT_EQ(all.repeated_cycles, Cycles(0));
    EXPECT_EQ(told(counted), told(all));
    EXPECT_EQ(counted.kept, all.kept);
    return share_of(counted);
}

/// Share of the cycles that were only counted; the results of both runs are compared.
double repeated_share(const Network& network, PlanTarget target) {
    target.images = false;
    const SystemConfig system = nvdla_system(target.npu, target.memory);
    const Program program = plan_program(plan_network(network, target));
    const Result all = run_program(program, system, {.values = false, .repeats = true});
    const Result counted = run_program(program, system, {.values = false});
    EXPECT_EQ(all.repeated_cycles, Cycles(0));
    EXPECT_EQ(told(counted), told(all));
    return share_of(counted);
}

Network bundled(const std::string& name) {
    return read_network(configs_folder() / "workload" / (name + ".yaml"));
}

TEST(RepeatedGroups, AreMostOfABigNetworkOnASmallArray) {
    EXPECT_GT(repeated_share(bundled("resnet50"), sample::preset_target("nv_small")), 0.5);
}

TEST(RepeatedOperations, AreAFifthOfANetworkOfEqualBlocksOnABigArray) {
    EXPECT_GT(repeated_share(bundled("resnet50"), sample::preset_target("nv_large")), 0.2);
}

TEST(RepeatedOperations, ChangeNothingOfAProgramThatExpectsResults) {
    PlanTarget target = sample::preset_target("nv_small_256");
    target.images = false;
    Program program = plan_program(plan_network(bundled("resnet50"), target));
    std::vector<Statement> statements;
    for (Statement& statement : program.statements) {
        if (std::holds_alternative<BeginLayer>(statement.action) && !statements.empty()) {
            if (const auto* last = std::get_if<NotifyOnInterrupt>(&statements.back().action)) {
                CheckCrc check;
                check.sync = last->sync;
                statements.push_back({{}, check});
            }
        }
        statements.push_back(std::move(statement));
    }
    program.statements = std::move(statements);
    const SystemConfig system = nvdla_system(target.npu, target.memory);
    const Result all = run_program(program, system, {.values = false, .repeats = true});
    const Result counted = run_program(program, system, {.values = false});
    EXPECT_GT(all.checks.size(), 40U);
    EXPECT_GT(counted.repeated_cycles.value, counted.simulated_cycles.value / 2);
    EXPECT_EQ(told(counted), told(all));
}

TEST(RepeatedGroups, ChangeNothingOfAResultOnAnyPreset) {
    for (const char* name : {"resnet18", "mobilenet_v2", "vgg16", "ds_cnn"}) {
        for (const PlanTarget& target : sample::preset_targets()) {
            SCOPED_TRACE(std::string(name) + " on " + target.npu.name);
            repeated_share(bundled(name), target);
        }
    }
}

TEST(RepeatedGroups, ChangeNothingBehindAnyMemoryOfOneLatency) {
    struct Behind {
        Cycles latency;
        Cycles beat;
        std::uint64_t bandwidth;  // bytes a second; 0: any
    };
    const std::vector<Behind> memories{{Cycles(0), Cycles(1), 0},
                                       {Cycles(800), Cycles(1), 0},
                                       {Cycles(100), Cycles(4), 0},
                                       {Cycles(20), Cycles(1), 700'000'000},
                                       {Cycles(400), Cycles(1), 2'500'000'000},
                                       {Cycles(50), Cycles(1), 25'000'000'000}};
    for (const Behind& memory : memories) {
        for (const char* npu : {"nv_small", "nv_small_256_full", "nv_medium_512", "nv_full"}) {
            SCOPED_TRACE(npu);
            PlanTarget target = sample::preset_target(npu);
            target.memory.read_latency = memory.latency;
            target.memory.beat_interval = memory.beat;
            if (memory.bandwidth != 0) {
                target.memory.regions.front().bandwidth = BytesPerSecond(memory.bandwidth);
            }
            repeated_share(bundled("mobilenet_v1"), target);
        }
    }
}

TEST(RepeatedGroups, ChangeNothingOnArraysOfOtherShapes) {
    for (const std::uint32_t width : {8U, 16U, 32U}) {
        for (const std::uint32_t kernels : {4U, 8U, 16U}) {
            for (const std::uint32_t depth : {64U, 512U}) {
                SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(kernels));
                PlanTarget target = sample::preset_target("nv_small");
                target.npu.datapath.atomic_c = width;
                target.npu.datapath.atomic_k = kernels;
                target.npu.cbuf.bank_depth = depth;
                target.npu.mcif.outstanding_reads = 16 * depth / 64;
                repeated_share(bundled("mobilenet_v1"), target);
            }
        }
    }
}

TEST(RepeatedGroups, ChangeNothingOfRandomNetworks) {
    for (std::uint64_t seed = 101; seed <= 130; ++seed) {
        const Network network = sample::random_network(seed);
        for (const PlanTarget& target : sample::preset_targets()) {
            SCOPED_TRACE(network.name + " on " + target.npu.name);
            repeated_share(network, target);
        }
    }
}

TEST(RepeatedGroups, LeaveOutWorkOfARunWithValues) {
    EXPECT_GT(repeated_share_with_values(bundled("resnet18"), sample::preset_target("nv_small")),
              0.3);
}

TEST(RepeatedGroups, ChangeNoValueOnAnyPreset) {
    for (const char* name : {"mobilenet_v1", "ds_cnn"}) {
        for (const PlanTarget& target : sample::preset_targets()) {
            SCOPED_TRACE(std::string(name) + " on " + target.npu.name);
            repeated_share_with_values(bundled(name), target);
        }
    }
}

TEST(RepeatedGroups, ChangeNoValueOfRandomNetworks) {
    for (std::uint64_t seed = 131; seed <= 150; ++seed) {
        const Network network = sample::random_network(seed);
        for (const PlanTarget& target : sample::preset_targets()) {
            SCOPED_TRACE(network.name + " on " + target.npu.name);
            repeated_share_with_values(network, target);
        }
    }
}

TEST(RepeatedGroups, AreSimulatedWhereAnErrorIsTold) {
    const PlanTarget target = sample::preset_target("nv_small");
    const SystemConfig system = nvdla_system(target.npu, target.memory);
    Program program = plan_program(plan_network(bundled("resnet18"), target));
    const auto is_load = [](const Statement& statement) {
        return std::holds_alternative<LoadMemory>(statement.action);
    };
    const auto loads = std::ranges::find_if(program.statements, is_load);
    ASSERT_NE(loads, program.statements.end());
    program.statements.erase(loads);
    const Result counted = run_program(program, system, {});
    const Result all = run_program(program, system, {.repeats = true});
    EXPECT_FALSE(all.findings.empty());
    EXPECT_EQ(counted.repeated_cycles, Cycles(0));
    EXPECT_EQ(told(counted), told(all));
}

TEST(RepeatedGroups, AreSimulatedWithALimitOfCycles) {
    PlanTarget target = sample::preset_target("nv_small");
    target.images = false;
    const SystemConfig system = nvdla_system(target.npu, target.memory);
    const Program program = plan_program(plan_network(bundled("resnet18"), target));
    const Result result =
        run_program(program, system, {.max_cycles = Cycles(1'000'000'000), .values = false});
    EXPECT_EQ(result.repeated_cycles, Cycles(0));
}

TEST(RepeatedGroups, AreSimulatedWhereEachBurstIsAnsweredByItself) {
    PlanTarget target = sample::preset_target("nv_small");
    target.npu.mcif.transactions = McifTransactions::Bursts;
    EXPECT_EQ(repeated_share(bundled("lenet"), target), 0);
}

TEST(RepeatedGroups, AreSimulatedWhereAnswersDependOnAddresses) {
    PlanTarget target = sample::preset_target("nv_small");
    target.memory.latency_spread = Cycles(20);
    EXPECT_EQ(repeated_share(bundled("lenet"), target), 0);
}

}  // namespace
}  // namespace npuscope
