// SPDX-License-Identifier: Apache-2.0
// Small float models as exporters write them, and inputs for them.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/model/graph.h"
#include "tests/support/model_builder.h"

namespace npuscope::test {

/// Fractions between -1 and 1 times `most`, the same for the same seed.
inline std::vector<float> some_fractions(std::size_t count, float most, unsigned seed) {
    std::vector<float> numbers = some_numbers(count, -1000, 1000, seed);
    for (float& number : numbers) {
        number *= most / 1000;
    }
    return numbers;
}

/// Appends a convolution 3x3 of `channels` channels with bias, and a Relu.
inline void append_conv(ModelBuilder& builder, const std::string& name, std::int64_t channels,
                        std::int64_t kernels, unsigned seed) {
    const auto count = static_cast<std::size_t>(channels * kernels * 9);
    const std::string input = builder.last();
    builder.floats(name + "_w", {kernels, channels, 3, 3}, some_fractions(count, 0.3F, seed));
    builder.floats(name + "_b", {kernels},
                   some_fractions(static_cast<std::size_t>(kernels), 0.2F, seed + 1));
    builder.node("Conv", name, {input, name + "_w", name + "_b"}).ints("pads", {1, 1, 1, 1});
    builder.node("Relu", name + "_relu", {builder.last()});
}

/// x [1 3 8 8] -> Conv, Relu -> Conv, Relu -> Add of both -> MaxPool -> Flatten -> Gemm -> y [1 5].
inline ModelBuilder float_model(std::int64_t opset = 13) {
    ModelBuilder builder(opset);
    builder.input("x", {1, 3, 8, 8});
    append_conv(builder, "a", 3, 4, 1);
    const std::string first = builder.last();
    append_conv(builder, "b", 4, 4, 3);
    builder.node("Add", "sum", {first, builder.last()});
    builder.node("MaxPool", "pool", {builder.last()})
        .ints("kernel_shape", {2, 2})
        .ints("strides", {2, 2});
    builder.node("Flatten", "flat", {builder.last()});
    builder.floats("fc_w", {64, 5}, some_fractions(320, 0.2F, 7));
    builder.floats("fc_b", {5}, some_fractions(5, 0.2F, 8));
    builder.node("Gemm", "fc", {builder.last(), "fc_w", "fc_b"}, "y").output("y");
    return builder;
}

/// Floats between -2 and 2.
inline GraphValue float_input(const Sizes& sizes, unsigned seed) {
    GraphValue value = zeros({ElementType::Float32, sizes});
    const std::vector<float> numbers = some_fractions(value.numbers.size(), 2, seed);
    value.numbers.assign(numbers.begin(), numbers.end());
    return value;
}

}  // namespace npuscope::test
