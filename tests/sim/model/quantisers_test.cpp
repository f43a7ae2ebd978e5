// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear of float16 and of blocks.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::node_of;
using sample::run;
using sample::value_of;
using ::testing::HasSubstr;

TEST(Quantisers, QuantisersTakeHalves) {
    const auto half = [](double number) { return value_of({}, {number}, ElementType::Float16); };
    const GraphValue codes = value_of({2}, {3, 101}, ElementType::Int8);
    const GraphValue real = run(node_of("DequantizeLinear"), {codes, half(0.125)}, 19);
    EXPECT_EQ(real, value_of({2}, {0.375, 12.625}, ElementType::Float16));
    // a half has 11 bits
    EXPECT_EQ(run(node_of("DequantizeLinear"), {codes, half(31)}, 19).numbers[1], 3132);
    const GraphValue zero = value_of({}, {0}, ElementType::Int8);
    EXPECT_EQ(run(node_of("QuantizeLinear"), {real, half(0.125), zero}, 19), codes);
    const std::int64_t int8 = 3;
    EXPECT_EQ(run(node_of("QuantizeLinear", {{"output_dtype", int8}}), {real, half(0.125)}, 21),
              codes);
    const std::int64_t float32 = 1;
    EXPECT_EQ(run(node_of("DequantizeLinear", {{"output_dtype", float32}}), {codes, half(31)}, 23)
                  .numbers[1],
              3131);
}

TEST(Quantisers, BlocksHaveScalesOfTheirOwn) {
    const GraphValue codes = value_of({3, 2}, {1, 2, 3, 4, 5, 6}, ElementType::Int8);
    const GraphNode node =
        node_of("DequantizeLinear", {{"axis", std::int64_t{0}}, {"block_size", std::int64_t{2}}});
    const GraphValue zeros = value_of({2, 2}, {0, 0, 1, 1}, ElementType::Int8);
    EXPECT_EQ(run(node, {codes, value_of({2, 2}, {1, 10, 100, 1000}), zeros}, 21).numbers,
              (std::vector<double>{1, 20, 3, 40, 400, 5000}));
    EXPECT_THAT(sample::refusal(node, {codes, value_of({3, 2}, {1, 2, 3, 4, 5, 6})}, 21),
                HasSubstr("its scales have the sizes 3x2 instead of 2x2"));
}

}  // namespace
}  // namespace npuscope
