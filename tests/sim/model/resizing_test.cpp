// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::Integers;
using sample::node_of;
using sample::omitted;
using sample::refusal;
using sample::run;
using sample::value_of;
using sample::whole;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ResizingOperators, CubicResizesWeighFourElements) {
    const auto resized = [](std::map<std::string, Attribute> attributes) {
        attributes["mode"] = std::string("cubic");
        attributes["coordinate_transformation_mode"] = std::string("asymmetric");
        return run(node_of("Resize", std::move(attributes)),
                   {value_of({4}, {1, 2, 4, 8}), omitted(), value_of({1}, {2})})
            .numbers;
    };
    // at 1.5: 19/32 of the two beside it, -3/32 of the next ones
    EXPECT_NEAR(resized({})[3], (19.0 * (2 + 4) - 3 * (1 + 8)) / 32, 1e-6);
    // at 0.5, with the first element twice, or without it
    EXPECT_NEAR(resized({})[1], (19.0 * (1 + 2) - 3 * (1 + 4)) / 32, 1e-6);
    EXPECT_NEAR(resized({{"exclude_outside", std::int64_t{1}}})[1],
                (19.0 * (1 + 2) - 3 * 4) / (2 * 19 - 3), 1e-6);
    EXPECT_EQ(resized({})[2], 2);
}

TEST(ResizingOperators, PlacesMayBeSymmetricOrThoseOfTensorFlow) {
    const auto resized = [](const char* coordinates, const char* mode, double scale) {
        const GraphNode node =
            node_of("Resize", {{"mode", std::string(mode)},
                               {"coordinate_transformation_mode", std::string(coordinates)}});
        return run(node, {value_of({4}, {1, 2, 4, 8}), omitted(), value_of({1}, {scale})}, 19)
            .numbers;
    };
    // 4 * 0.6 = 2.4, of which 2: places 0.66667 and 2.33333
    sample::expect_near(resized("half_pixel_symmetric", "linear", 0.6), {5.0 / 3, 16.0 / 3});
    EXPECT_THAT(resized("half_pixel_symmetric", "linear", 0.5), ElementsAre(1.5, 6));
    EXPECT_THAT(resized("tf_half_pixel_for_nn", "nearest", 0.5), ElementsAre(2, 8));
}

TEST(ResizingOperators, ResizesCropARegion) {
    const auto cropped = [](double from, double to) {
        return std::vector<GraphValue>{value_of({4}, {1, 2, 4, 8}), value_of({2}, {from, to}),
                                       omitted(), whole({1}, {3})};
    };
    const GraphNode node =
        node_of("Resize", {{"mode", std::string("linear")},
                           {"extrapolation_value", 9.0},
                           {"coordinate_transformation_mode", std::string("tf_crop_and_resize")}});
    EXPECT_THAT(run(node, cropped(0, 2.0 / 3)).numbers, ElementsAre(1, 2, 4));
    EXPECT_THAT(run(node, cropped(0, 2)).numbers, ElementsAre(1, 8, 9));
    EXPECT_THAT(refusal(node, {value_of({4}, {1, 2, 4, 8}), value_of({1}, {0}), omitted(),
                               whole({1}, {3})}),
                HasSubstr("no region to crop"));
    EXPECT_THAT(refusal(node, cropped(0, std::nan(""))), HasSubstr("its region is not within"));
    EXPECT_THAT(refusal(node, cropped(3e38, -3e38)), HasSubstr("its region is not within"));
}

TEST(ResizingOperators, AxesOutsideAPlaneAreCroppedToo) {
    const GraphNode node =
        node_of("Resize", {{"mode", std::string("linear")},
                           {"coordinate_transformation_mode", std::string("tf_crop_and_resize")}});
    const GraphValue map = value_of({1, 2, 1, 2}, {1, 2, 3, 4});
    const GraphValue region = value_of({8}, {0, 1, 0, 0, 1, 0, 1, 1});  // the channels exchanged
    EXPECT_THAT(run(node, {map, region, omitted(), whole({4}, {1, 2, 1, 3})}).numbers,
                ElementsAre(3, 3.5, 4, 1, 1.5, 2));
}

TEST(ResizingOperators, SizesMayNameAxesAndKeepTheAspectRatio) {
    const GraphValue map = value_of({2, 1, 3}, {1, 2, 3, 4, 5, 6});
    const auto sizes = [&](const char* policy, std::vector<double> wanted) {
        GraphNode node = node_of("Resize", {{"axes", Integers{2, 0}},
                                            {"keep_aspect_ratio_policy", std::string(policy)}});
        return run(node, {map, omitted(), omitted(), whole({2}, std::move(wanted))}, 18).type.sizes;
    };
    EXPECT_EQ(sizes("stretch", {6, 3}), (Sizes{3, 1, 6}));
    EXPECT_EQ(sizes("not_larger", {6, 3}), (Sizes{3, 1, 5}));  // 1.5 times, rounded up
    EXPECT_EQ(sizes("not_smaller", {6, 3}), (Sizes{4, 1, 6}));
    const GraphNode last = node_of("Resize", {{"axes", Integers{-1}}});
    EXPECT_THAT(run(last, {map, omitted(), value_of({1}, {1.0 / 3})}, 18).numbers,
                ElementsAre(2, 5));
    EXPECT_THAT(refusal(node_of("Resize", {{"axes", Integers{0, -3}}}),
                        {map, omitted(), value_of({2}, {1, 1})}, 18),
                HasSubstr("name axis 0 twice"));
    EXPECT_THAT(refusal(node_of("Resize", {{"keep_aspect_ratio_policy", std::string("best")}}),
                        {map, omitted(), omitted(), whole({3}, {2, 1, 3})}, 18),
                HasSubstr("keep_aspect_ratio_policy 'best' is not known"));
}

TEST(ResizingOperators, RoundingIsKnown) {
    const GraphNode node = node_of("Resize", {{"nearest_mode", std::string("best")}});
    EXPECT_THAT(refusal(node, {value_of({2}, {1, 2}), omitted(), value_of({1}, {2})}),
                HasSubstr("nearest_mode 'best' is not known"));
}

}  // namespace
}  // namespace npuscope
