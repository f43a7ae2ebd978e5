// SPDX-License-Identifier: Apache-2.0
#include "sim/model/folded_error.h"

#include <gtest/gtest.h>

#include <vector>

namespace npuscope {
namespace {

ConvolvedLayer layer_of(const Sizes& weights, const CutTaps& cut) {
    ConvolvedLayer form{.layer = {},
                        .source = {},
                        .input = {},
                        .output = {},
                        .cut = cut,
                        .before = NodeChain("x"),
                        .order = NodeChain("x"),
                        .fit = NodeChain("x"),
                        .after = NodeChain("x")};
    form.layer.weights.type.sizes = weights;
    return form;
}

TEST(FoldedError, AWindowThatTheBorderCutsKeepsTheErrorsOfItsOtherTaps) {
    const std::vector<double> errors{0.5, -0.25, 0, 0.25, -0.5, 0};  // two channels, 1 x 3
    const ConvolvedLayer whole = layer_of({4, 2, 1, 3}, {});
    EXPECT_EQ(TapErrors(whole).largest_window(errors), 0);
    const ConvolvedLayer left = layer_of({4, 2, 1, 3}, {.left = 1});
    EXPECT_EQ(TapErrors(left).largest_window(errors), 0.75);
    const ConvolvedLayer right = layer_of({4, 2, 1, 3}, {.right = 1});
    EXPECT_EQ(TapErrors(right).largest_window(errors), 0);
    const ConvolvedLayer nothing = layer_of({4, 2, 1, 3}, {.left = 3, .right = 3});
    EXPECT_EQ(TapErrors(nothing).largest_window(errors), 0.75);
}

TEST(FoldedError, RowsAndColumnsAreCutTogether) {
    const std::vector<double> errors{1, -1, -1, 1};
    const ConvolvedLayer corner = layer_of({1, 1, 2, 2}, {.top = 1, .left = 1});
    EXPECT_EQ(TapErrors(corner).largest_window(errors), 1);
    const ConvolvedLayer rows = layer_of({1, 1, 2, 2}, {.top = 1, .bottom = 1});
    EXPECT_EQ(TapErrors(rows).largest_window(errors), 0);
}

TEST(FoldedError, AProductHasNoBorder) {
    const ConvolvedLayer product = layer_of({3, 20}, {});
    EXPECT_EQ(TapErrors(product).largest_window(std::vector<double>{0.5, 0.25, -0.5}), 0.25);
}

TEST(FoldedError, OfFewWeightsIsThatOfTheWorstInput) {
    const FoldedKernel kernel{.raised = 0.5, .lowered = 0.25, .squares = 0.3125};
    EXPECT_EQ(largest_error(kernel, {0, 255}), 0.5 * 255);
    EXPECT_EQ(largest_error(kernel, {-128, 127}), 0.25 * 127 + 0.5 * 128);
}

TEST(FoldedError, OfManyWeightsIsFiveDeviationsOfEvenInput) {
    const FoldedKernel kernel{.raised = 50, .lowered = 50, .squares = 25, .uneven = 2};
    EXPECT_EQ(largest_error(kernel, {0, 255}), 5 * 5 * 74 + 2 * 127.5);
    EXPECT_EQ(largest_error(kernel, {-127.5, 127.5}), 5 * 5 * 74);
}

}  // namespace
}  // namespace npuscope
