// SPDX-License-Identifier: Apache-2.0
#include "bench/tinpu_rows.h"

#include <gtest/gtest.h>

#include "sim/command_line/command.h"
#include "sim/compile/tinpu/layer_plan.h"
#include "sim/config/preset.h"
#include "sim/model/prepare_graph.h"
#include "sim/run/session.h"
#include "tests/support/families.h"

namespace npuscope::bench {
namespace {

SystemConfig preset() {
    SystemArguments arguments;
    arguments.families = test::families();
    arguments.npu = "tinpu_f28p55";
    return read_system(arguments);
}

TEST(TinpuRows, ModelsHaveTheirPublishedSizes) {
    // weights only; the rest of a model's name are biases and scales
    const auto weights = [](std::string_view model) {
        std::uint64_t bytes = 0;
        for (const TinpuJob& job : model_jobs(model, 256)) {
            bytes += job.weights ? job.weights->bytes().value : 0;
        }
        return bytes;
    };
    EXPECT_EQ(weights("CLS_1k_NPU"), 776U);
    EXPECT_EQ(weights("CLS_4k_NPU"), 3496U);
    EXPECT_EQ(weights("CLS_6k_NPU"), 6112U);
    EXPECT_EQ(weights("CLS_13k_NPU"), 12072U);
}

/// The bundled tables list the same layers, for one frame; they add tables of constants, which
/// bound no layer.
TEST(TinpuRows, BundledTablesTakeAsLong) {
    const SystemConfig system = preset();
    for (const auto& [table, model] :
         {std::pair{"ti_cls_1k", "CLS_1k_NPU"}, std::pair{"ti_cls_4k", "CLS_4k_NPU"},
          std::pair{"ti_cls_6k", "CLS_6k_NPU"}, std::pair{"ti_cls_13k", "CLS_13k_NPU"}}) {
        const auto file = configs_folder() / "workload" / (std::string(table) + ".yaml");
        const Graph graph = finish_graph(network_graph(read_network(file)));
        const LayerPlan plan = plan_layers(graph, tinpu_npu(system), system.memory);
        const Result run =
            run_model(layer_program(graph, plan, tinpu_npu(system), system.host, nullptr), system,
                      {})
                .result;
        const Result rows = time_jobs(model_jobs(model, 128), system);
        EXPECT_NEAR(static_cast<double>(run.cycles.value), static_cast<double>(rows.cycles.value),
                    0.005 * static_cast<double>(rows.cycles.value))
            << table;
        EXPECT_EQ(run.model->host.cycles, Cycles(0)) << table;
        EXPECT_TRUE(rows.findings.empty()) << table;
    }
}

TEST(TinpuRows, ThePresetIsWithinTwentyPercentOfEveryPublishedRun) {
    const SystemConfig system = preset();
    std::size_t calibrated = 0;
    for (const PublishedRun& run : published_runs()) {
        const Cycles cycles = time_jobs(model_jobs(run.model, run.frame), system).cycles;
        const double ratio = static_cast<double>(cycles.value) / static_cast<double>(run.cycles);
        EXPECT_NEAR(ratio, 1.0, 0.2) << run.model << " " << run.frame;
        calibrated += run.calibrated ? 1U : 0U;
    }
    EXPECT_EQ(2 * calibrated, published_runs().size());
}

}  // namespace
}  // namespace npuscope::bench
