// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::node_of;
using sample::refusal;
using sample::run;
using sample::value_of;
using sample::whole;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphNode sampler(const char* mode, const char* padding, std::int64_t corners = 0) {
    return node_of("GridSample", {{"mode", std::string(mode)},
                                  {"padding_mode", std::string(padding)},
                                  {"align_corners", corners}});
}

TEST(SamplingOperators, GridsReadBetweenElements) {
    const GraphValue map = value_of({1, 1, 2, 2}, {1, 2, 3, 4});
    const auto at = [&](const GraphNode& node, double x, double y) {
        return run(node, {map, value_of({1, 1, 1, 2}, {x, y})}, 16).numbers.front();
    };
    EXPECT_EQ(at(sampler("bilinear", "zeros"), 0, 0), 2.5);
    EXPECT_EQ(at(sampler("linear", "zeros"), -1, -1), 0.25);
    EXPECT_EQ(at(sampler("bilinear", "border"), -1, -1), 1);
    EXPECT_EQ(at(sampler("bilinear", "zeros", 1), -1, 1), 3);
    EXPECT_EQ(at(sampler("nearest", "zeros"), 0.9, -0.9), 2);
    EXPECT_EQ(at(sampler("nearest", "zeros"), 5, 0), 0);
    EXPECT_EQ(at(sampler("nearest", "border"), 5, -1), 2);
    // x 2.5 beyond the edge at 1.5 is 0.5 there
    EXPECT_EQ(at(sampler("bilinear", "reflection"), 2, -0.5), 1.5);
    EXPECT_EQ(at(sampler("bicubic", "border", 1), 0, 0), 2.5);
    EXPECT_EQ(at(sampler("linear", "zeros"), std::nan(""), 0), 0);
    EXPECT_THAT(refusal(sampler("best", "zeros"), {map, value_of({1, 1, 1, 2}, {0, 0})}),
                HasSubstr("mode 'best' is not known"));
    EXPECT_THAT(refusal(sampler("linear", "zeros"), {map, value_of({1, 1, 1, 3}, {0, 0, 0})}),
                HasSubstr("does not fit a map"));
}

TEST(SamplingOperators, AffineGridsAreTheInputsPlaces) {
    const GraphValue theta = value_of({1, 2, 3}, {1, 0, 0, 0, 1, 0});
    const GraphValue size = whole({4}, {1, 1, 2, 2});
    EXPECT_THAT(run(node_of("AffineGrid"), {theta, size}).numbers,
                ElementsAre(-0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5));
    const GraphNode corners = node_of("AffineGrid", {{"align_corners", std::int64_t{1}}});
    const GraphValue turned = value_of({1, 2, 3}, {0, 1, 10, 1, 0, 20});
    EXPECT_THAT(run(corners, {turned, size}).numbers, ElementsAre(9, 19, 9, 21, 11, 19, 11, 21));
    EXPECT_THAT(refusal(corners, {turned, whole({4}, {2, 1, 2, 2})}), HasSubstr("its theta is"));
}

TEST(SamplingOperators, RegionsAreDividedIntoBins) {
    std::vector<double> numbers;
    for (int i = 0; i < 16; ++i) {
        numbers.push_back(i % 4);
    }
    const GraphValue map = value_of({1, 1, 4, 4}, numbers);
    const GraphValue region = value_of({1, 4}, {0, 0, 4, 4});
    const GraphValue batch = whole({1}, {0});
    const auto aligned = [&](std::map<std::string, Attribute> attributes) {
        attributes["sampling_ratio"] = std::int64_t{1};
        return run(node_of("RoiAlign", std::move(attributes)), {map, region, batch}, 16).numbers;
    };
    EXPECT_THAT(aligned({}), ElementsAre(1.5));
    EXPECT_THAT(aligned({{"mode", std::string("max")}}), ElementsAre(0.5));
    EXPECT_THAT(aligned({{"coordinate_transformation_mode", std::string("output_half_pixel")}}),
                ElementsAre(2));
    EXPECT_THAT(aligned({{"output_width", std::int64_t{2}}}), ElementsAre(0.5, 2.5));
    EXPECT_THAT(refusal(node_of("RoiAlign"), {map, region, whole({1}, {1})}),
                HasSubstr("batch index 1 does not exist"));
    EXPECT_THAT(refusal(node_of("RoiAlign"), {map, value_of({1, 4}, {0, 0, 1e9, 4}), batch}),
                HasSubstr("is too large"));
    const GraphNode many = node_of("RoiAlign", {{"sampling_ratio", std::int64_t{1024}},
                                                {"output_height", std::int64_t{1024}},
                                                {"output_width", std::int64_t{1024}}});
    EXPECT_THAT(refusal(many, {map, region, batch}), HasSubstr("steps to compute"));
}

}  // namespace
}  // namespace npuscope
