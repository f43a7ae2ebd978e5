// SPDX-License-Identifier: Apache-2.0
#include "bench/tinpu_rows.h"

#include <gtest/gtest.h>

#include "models/tinpu/tinpu_timing.h"
#include "sim/config/preset.h"
#include "sim/layers/layer_system.h"

namespace npuscope::bench {
namespace {

TEST(TinpuRows, ModelsHaveTheirPublishedSizes) {
    // weights alone; the rest of a model's name are biases and scales
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

TEST(TinpuRows, ThePresetIsWithinTwentyPercentOfEveryPublishedRun) {
    const auto config =
        read_preset<LayerNpuConfig>(find_preset(configs_folder(), "npu", "tinpu_f28p55"));
    std::size_t calibrated = 0;
    for (const PublishedRun& run : published_runs()) {
        Cycles cycles;
        for (const TinpuJob& job : model_jobs(run.model, run.frame)) {
            cycles += tinpu_cycles(job, config.engine).total();
        }
        const double ratio = static_cast<double>(cycles.value) / static_cast<double>(run.cycles);
        EXPECT_NEAR(ratio, 1.0, 0.2) << run.model << " " << run.frame;
        calibrated += run.calibrated ? 1U : 0U;
    }
    EXPECT_EQ(2 * calibrated, published_runs().size());
}

}  // namespace
}  // namespace npuscope::bench
