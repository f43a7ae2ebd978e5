// SPDX-License-Identifier: Apache-2.0
// What the planner splits is checked with the decoder, which refuses slices that do not fit.
#include "sim/compile/nvdla/single_operations.h"

#include <gtest/gtest.h>

#include "models/pdp/pdp_registers.h"
#include "tests/sim/message_of.h"
#include "tests/support/refusal.h"

namespace npuscope {
namespace {

struct Pool {
    std::uint32_t width;
    std::uint32_t kernel;
    std::uint32_t stride;
    std::uint32_t padding;
};

/// Throws the problem where the layer cannot be planned.
PdpJob planned(const Pool& pool, LayerKind kind = LayerKind::MaxPool) {
    Layer layer;
    layer.name = "pool";
    layer.kind = kind;
    layer.kernel = pool.kernel;
    layer.stride = pool.stride;
    layer.padding = pool.padding;
    Network network;
    network.input = {8, 40, pool.width};
    network.layers = {layer};
    const auto shapes = network_shapes(network);
    PlanContext context{
        .costs = {}, .memory = PlanMemory(Address(0x80000000), Bytes(0)), .sram = {}, .plan = {}};
    const StoredCube input = context.place_cube("input", network.input.shape(), 8);
    plan_pool({layer, shapes.front(), input}, context);
    if (context.problem) {
        throw ConfigError(*context.problem);
    }
    return std::get<PdpJob>(context.plan.operations.front().job);
}

PdpJob decoded(const PdpJob& job) {
    const auto images = encode_pdp(job);
    return npuscope::decoded(
        [&](Diagnostics& findings) { return decode_pdp(images[1], images[0], {}, {}, findings); });
}

TEST(PdpPlanner, SplitsTheWidthOnlyWhereTheLineBufferIsTooSmall) {
    EXPECT_EQ(planned({112, 3, 2, 1}).pooling.parts.size(), 1U);
    EXPECT_EQ(planned({256, 2, 2, 0}).pooling.parts.size(), 1U);
    EXPECT_EQ(planned({416, 2, 2, 0}).pooling.parts.size(), 2U);
    EXPECT_EQ(planned({100, 3, 1, 1}).pooling.parts.size(), 4U);
}

TEST(PdpPlanner, EverySplitIsWhatTheUnitDecodes) {
    for (std::uint32_t width : {15U, 33U, 64U, 131U, 260U, 417U}) {
        for (std::uint32_t kernel = 1; kernel <= 8; ++kernel) {
            for (std::uint32_t stride = 1; stride <= kernel; ++stride) {
                for (const std::uint32_t padding : {0U, kernel / 2}) {
                    const PdpJob job = planned({width, kernel, stride, padding});
                    EXPECT_EQ(decoded(job).pooling, job.pooling)
                        << width << ' ' << kernel << ' ' << stride << ' ' << padding;
                }
            }
        }
    }
}

TEST(PdpPlanner, ReadsNoLineBehindTheLastWindow) {
    EXPECT_EQ(planned({14, 2, 2, 0}).input.height, 40U);
    for (const Pool& pool : {Pool{14, 3, 2, 0}, Pool{14, 3, 3, 0}}) {
        const PdpJob job = planned(pool);  // of 40 lines the last one would begin a window alone
        EXPECT_EQ(job.input.height, 39U);
        EXPECT_EQ(job.source->shape.height, 39U);
        EXPECT_EQ(decoded(job).input, job.input);
        EXPECT_EQ(decoded(job).source, job.source);
    }
    EXPECT_EQ(planned({14, 3, 2, 1}).input.height, 40U);
}

TEST(PdpPlanner, AveragesByReciprocals) {
    const PdpJob job = planned({14, 7, 7, 0}, LayerKind::AvgPool);
    EXPECT_EQ(job.pooling.method, PoolingMethod::Average);
    EXPECT_EQ(job.pooling.recip_width, 9362U);
    EXPECT_EQ(decoded(job).pooling, job.pooling);
}

TEST(PdpPlanner, RefusesWindowsThatTheUnitDoesNotHave) {
    EXPECT_NE(sample::message_of([] { planned({40, 9, 1, 0}); }).find("'pool'"), std::string::npos);
}

}  // namespace
}  // namespace npuscope
