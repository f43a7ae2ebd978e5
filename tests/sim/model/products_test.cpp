// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::Integers;
using sample::node_of;
using sample::refusal;
using sample::run;
using sample::value_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ProductOperators, TransposedConvolutionsHaveTheWantedSize) {
    const GraphValue x = value_of({1, 1, 2}, {1, 2});
    const GraphValue kernel = value_of({1, 1, 1}, {10});
    const auto made = [&](std::int64_t size, const char* pad) {
        return run(node_of("ConvTranspose", {{"strides", Integers{2}},
                                             {"output_shape", Integers{size}},
                                             {"auto_pad", std::string(pad)}}),
                   {x, kernel})
            .numbers;
    };
    EXPECT_THAT(made(3, "NOTSET"), ElementsAre(10, 0, 20));
    EXPECT_THAT(made(5, "NOTSET"), ElementsAre(10, 0, 20, 0, 0));
    EXPECT_THAT(made(2, "SAME_UPPER"), ElementsAre(10, 0));
    EXPECT_THAT(made(2, "NOTSET"), ElementsAre(0, 20));
    const auto message = [&](std::int64_t size) {
        return refusal(node_of("ConvTranspose", {{"output_shape", Integers{size}}}), {x, kernel});
    };
    EXPECT_THAT(message(std::numeric_limits<std::int64_t>::min()),
                HasSubstr("is not a valid size of an output"));
    EXPECT_THAT(message(0), HasSubstr("0 is not a valid size of an output"));
}

}  // namespace
}  // namespace npuscope
