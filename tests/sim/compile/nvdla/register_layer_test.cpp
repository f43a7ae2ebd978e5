// SPDX-License-Identifier: Apache-2.0
// Random integer sequences: what the stages produce, put together here from their registers'
// meaning, against the definition in plain integers.
#include "sim/compile/nvdla/register_layer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace npuscope {
namespace {

std::int64_t floor_shift(std::int64_t value, unsigned shift) { return value >> shift; }

std::int64_t clipped(std::int64_t value, const NumberRange& range) {
    return std::clamp(value, static_cast<std::int64_t>(range.low),
                      static_cast<std::int64_t>(range.high));
}

/// (x - offset) * scale >> shift, ties away from zero, as int8.
std::int64_t converted(std::int64_t value, const Conversion& conversion) {
    const std::int64_t moved = (value - conversion.offset) * conversion.scale;
    const std::int64_t half = conversion.shift == 0 ? 0 : std::int64_t{1} << (conversion.shift - 1);
    const std::int64_t rounded =
        moved >= 0 ? (moved + half) >> conversion.shift : -((-moved + half) >> conversion.shift);
    return std::clamp<std::int64_t>(rounded, -128, 127);
}

class Sequences {
 public:
    explicit Sequences(unsigned seed) : random_(seed) {}

    std::int64_t between(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }
    NumberRange range() {
        static const std::vector<NumberRange> usual{{-128, 127}, {0, 255}, {0, 127}, {0, 15},
                                                    {-8, 7},     {0, 3},   {-2, 1},  {-100, 155}};
        if (between(0, 3) != 0) {
            return usual[static_cast<std::size_t>(between(0, 7))];
        }
        const std::int64_t low = between(-200, 0);
        return {static_cast<double>(low), static_cast<double>(between(0, low + 255))};
    }
    IntegerSequence sequence() {
        IntegerSequence made;
        const std::int64_t kernels = between(1, 4);
        const std::int64_t inner = between(1, 20);
        const std::int64_t biases = std::int64_t{1} << between(4, 22);
        const std::int64_t scales = between(0, 2) == 0 ? 255 : 1;
        for (std::int64_t i = 0; i < kernels * inner; ++i) {
            made.weights.push_back(static_cast<std::int8_t>(between(-128, 127)));
        }
        for (std::int64_t k = 0; k < kernels; ++k) {
            made.bias.push_back(between(-biases, biases));
            made.scale.push_back(scales == 1 ? 1 : between(0, scales));
        }
        made.shift = static_cast<unsigned>(between(0, 14));
        made.input = range();
        if (between(0, 2) == 0) {
            made.residual = range();
        }
        made.result = range();
        return made;
    }

 private:
    std::mt19937 random_;
};

std::int64_t within_32_bits(std::int64_t value) {
    EXPECT_GE(value, -(std::int64_t{1} << 31U));
    EXPECT_LT(value, std::int64_t{1} << 31U);
    return value;
}

/// A stored result from stored values, stage by stage.
std::int64_t staged_result(const Layer& staged, std::size_t k, std::int64_t sum,
                           std::int64_t residual) {
    const LayerNumbers& numbers = *staged.numbers;
    std::int64_t value =
        within_32_bits(within_32_bits(sum) +
                       std::int64_t{numbers.bias[k]} * (std::int64_t{1} << numbers.bias_shift));
    if (!numbers.rest.empty()) {
        value = within_32_bits(value + numbers.rest[k]);
    }
    value = within_32_bits(value * numbers.factor[k]);
    if (numbers.least) {
        EXPECT_TRUE(numbers.rest.empty() && !numbers.joins_unclipped);
        value = std::max(value, std::int64_t{*numbers.least} << numbers.least_shift);
    }
    value += residual * (std::int64_t{1} << numbers.residual_shift);
    value = within_32_bits(value);
    return converted(
        staged.relu || numbers.relu_after_join ? std::max<std::int64_t>(value, 0) : value,
        numbers.convertor);
}

TEST(IntegerSequence, StagesGiveItExactly) {
    int staged_ones = 0;
    int with_rest = 0;
    int with_least = 0;
    int refused = 0;
    for (unsigned seed = 0; seed < 3000; ++seed) {
        Sequences random(seed);
        const IntegerSequence made = random.sequence();
        Layer staged;
        if (stage_sequence(made, staged)) {
            ++refused;
            continue;
        }
        ++staged_ones;
        with_rest += staged.numbers->rest.empty() ? 0 : 1;
        with_least += staged.numbers->least ? 1 : 0;
        const std::size_t inner = made.weights.size() / made.bias.size();
        const std::int64_t zero_in = stored_zero(made.input);
        const auto low = static_cast<std::int64_t>(made.input.low);
        const auto high = static_cast<std::int64_t>(made.input.high);
        for (std::size_t k = 0; k < made.bias.size(); ++k) {
            for (int repeat = 0; repeat < 6; ++repeat) {
                std::int64_t sum = 0;
                std::int64_t stored_sum = 0;
                for (std::size_t i = k * inner; i < (k + 1) * inner; ++i) {
                    const std::int64_t value =
                        repeat < 2 ? (made.weights[i] > 0) == (repeat == 0) ? high : low
                                   : random.between(low, high);
                    EXPECT_TRUE(value - zero_in >= -128 && value - zero_in <= 127);
                    sum += value * made.weights[i];
                    stored_sum += (value - zero_in) * made.weights[i];
                }
                const std::int64_t residual =
                    made.residual ? random.between(static_cast<std::int64_t>(made.residual->low),
                                                   static_cast<std::int64_t>(made.residual->high))
                                  : 0;
                const std::int64_t wanted = clipped(
                    floor_shift((sum + made.bias[k]) * made.scale[k], made.shift) + residual,
                    made.result);
                const std::int64_t stored =
                    staged_result(staged, k, stored_sum,
                                  made.residual ? residual - stored_zero(*made.residual) : 0);
                ASSERT_EQ(stored + stored_zero(made.result), wanted) << seed;
            }
        }
    }
    EXPECT_GT(staged_ones, 2000);
    EXPECT_GT(with_rest, 100);
    EXPECT_GT(with_least, 100);
    EXPECT_GT(refused, 100);
}

TEST(IntegerSequence, PaddingIsZeroAsStored) {
    IntegerSequence sequence{{1}, {0}, {1}, 0, {0, 255}, {}, {0, 255}};
    const auto padding_of = [](const IntegerSequence& staged) {
        Layer layer;
        EXPECT_FALSE(stage_sequence(staged, layer));
        return layer.numbers->padding;
    };
    EXPECT_EQ(padding_of(sequence), -128);
    sequence.input = {-8, 7};
    EXPECT_EQ(padding_of(sequence), 120);
}

TEST(IntegerSequence, SumsOfTwoMapsAreExact) {
    Sequences random(7);
    for (int i = 0; i < 500; ++i) {
        const NumberRange a = random.range();
        const NumberRange b = random.range();
        const NumberRange result = random.range();
        const Layer staged = stage_sum(a, b, result);
        for (const NumberRange& corner : {NumberRange{a.low, b.low}, NumberRange{a.high, b.high},
                                          NumberRange{a.low, b.high}, NumberRange{a.high, b.low}}) {
            const auto x = static_cast<std::int64_t>(corner.low);
            const auto y = static_cast<std::int64_t>(corner.high);
            std::int64_t value = x - stored_zero(a) + y - stored_zero(b) + staged.numbers->constant;
            value = staged.relu ? std::max<std::int64_t>(value, 0) : value;
            EXPECT_EQ(converted(value, staged.numbers->convertor) + stored_zero(result),
                      clipped(x + y, result));
        }
    }
}

}  // namespace
}  // namespace npuscope
