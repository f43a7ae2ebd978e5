// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

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

TEST(MovingOperators, TheMiddleIsCroppedOrPadded) {
    const GraphValue line = value_of({3}, {1, 2, 3});
    const auto to = [&](double size) {
        return run(node_of("CenterCropPad"), {line, whole({1}, {size})}).numbers;
    };
    EXPECT_THAT(to(6), ElementsAre(0, 1, 2, 3, 0, 0));
    EXPECT_THAT(to(2), ElementsAre(1, 2));
    EXPECT_THAT(to(1), ElementsAre(2));
    EXPECT_THAT(refusal(node_of("CenterCropPad"), {line, whole({2}, {1, 1})}),
                HasSubstr("it has 2 sizes"));
    EXPECT_THAT(refusal(node_of("CenterCropPad"), {line, whole({1}, {-1})}),
                HasSubstr("-1 is not a valid tensor size"));
}

}  // namespace
}  // namespace npuscope
