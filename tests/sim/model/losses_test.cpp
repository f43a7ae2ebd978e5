// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::expect_near;
using sample::node_of;
using sample::refusal;
using sample::run;
using sample::run_all;
using sample::value_of;
using sample::whole;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LossOperators, LikelihoodsAreWeightedAndReduced) {
    const GraphValue x = value_of({2, 2}, {-1, -3, -5, -7});
    const GraphValue classes = whole({2}, {1, 0});
    const GraphValue weights = value_of({2}, {1, 2});
    const auto loss = [&](const char* reduction, std::map<std::string, Attribute> more = {}) {
        more["reduction"] = std::string(reduction);
        return run(node_of("NegativeLogLikelihoodLoss", std::move(more)), {x, classes, weights})
            .numbers;
    };
    EXPECT_THAT(loss("none"), ElementsAre(6, 5));
    EXPECT_THAT(loss("sum"), ElementsAre(11));
    EXPECT_THAT(loss("mean"), ElementsAre(::testing::DoubleNear(11.0F / 3, 1e-6)));
    EXPECT_THAT(loss("mean", {{"ignore_index", std::int64_t{1}}}), ElementsAre(5));
    EXPECT_THAT(refusal(node_of("NegativeLogLikelihoodLoss"), {x, whole({2}, {1, 2})}),
                HasSubstr("class 2 does not exist"));
    EXPECT_THAT(refusal(node_of("NegativeLogLikelihoodLoss"), {whole({1, 2}, {1, 2}), classes}),
                HasSubstr("needs float input"));
    EXPECT_THAT(refusal(node_of("NegativeLogLikelihoodLoss"), {x, classes, classes}),
                HasSubstr("needs float input"));
}

TEST(LossOperators, EntropyIsThatOfTheSoftmax) {
    GraphNode node = node_of("SoftmaxCrossEntropyLoss");
    node.outputs = {"loss", "logarithms"};
    const Values results = run_all(node, {value_of({1, 2}, {3, 3}), whole({1}, {1})});
    expect_near(results[0].numbers, {std::log(2.0)});
    expect_near(results[1].numbers, {-std::log(2.0), -std::log(2.0)});
}

}  // namespace
}  // namespace npuscope
