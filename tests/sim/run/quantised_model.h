// SPDX-License-Identifier: Apache-2.0
// Quantised models built in code, with scales and zero points of any kind from a seed.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "sim/model/graph.h"
#include "tests/support/model_builder.h"

namespace npuscope::test {

inline constexpr int int8_code = onnx::TensorProto_DataType_INT8;
inline constexpr int uint8_code = onnx::TensorProto_DataType_UINT8;

/// DequantizeLinear -> operator -> QuantizeLinear, as quantisers write it.
class QuantisedModel {
 public:
    QuantisedModel(unsigned seed, bool is_signed)
        : random_(seed), code_(is_signed ? int8_code : uint8_code), is_signed_(is_signed) {}

    ModelBuilder builder;

    /// From now on: scales are powers of two, and zero points even.
    void take_powers_of_two() { powers_of_two_ = true; }
    std::string input(const std::string& name, std::int64_t channels, std::int64_t side) {
        return input(name, {1, channels, side, side});
    }
    std::string input(const std::string& name, const Sizes& sizes) {
        builder.input(name, sizes, code_);
        quantiser(name);
        return name;
    }
    /// Its scale has this ratio to another tensor's.
    std::string scaled_input(const std::string& name, const Sizes& sizes, const std::string& other,
                             float ratio) {
        builder.input(name, sizes, code_);
        scales_[name] = scales_.at(other) * ratio;
        zeros_[name] = whole(is_signed_ ? -128 : 0, is_signed_ ? 127 : 255);
        write_quantiser(name);
        return name;
    }
    /// Scale and zero point of a tensor.
    void quantiser(const std::string& tensor) {
        scales_[tensor] = powers_of_two_ ? power_of_two(-6, -4) : std::exp(real(-5, -2));
        zeros_[tensor] = powers_of_two_ ? 2 * whole(is_signed_ ? -64 : 0, is_signed_ ? 63 : 127)
                                        : whole(is_signed_ ? -128 : 0, is_signed_ ? 127 : 255);
        write_quantiser(tensor);
    }
    std::string dequantised(const std::string& tensor) {
        const std::string name = tensor + "_real" + std::to_string(++count_);
        builder.node("DequantizeLinear", name, {tensor, tensor + "_s", tensor + "_z"});
        return builder.last();
    }
    std::string quantised(const std::string& name) {
        const std::string real = builder.last();
        quantiser(name);
        builder.node("QuantizeLinear", name + "_q", {real, name + "_s", name + "_z"}, name);
        return name;
    }
    std::string conv(const std::string& name, const std::string& from, std::int64_t channels,
                     std::int64_t kernels, std::int64_t size, std::int64_t groups = 1,
                     std::int64_t dilation = 1) {
        weighted("Conv", name, from, {kernels, channels / groups, size, size}, 0);
        builder.integer("group", groups).ints("dilations", {dilation, dilation});
        const std::int64_t pad = size / 2 * dilation;
        builder.ints("pads", {pad, pad, pad, pad});
        return quantised(name);
    }
    /// With a Clip from 0 to `high`, and a zero point that makes 0 the lowest code.
    std::string limited_conv(const std::string& name, const std::string& from, const Sizes& weights,
                             float high) {
        weighted("Conv", name, from, weights, 0);
        builder.floats(name + "_low", {}, {0}).floats(name + "_high", {}, {high});
        builder.node("Clip", name + "_clip", {builder.last(), name + "_low", name + "_high"});
        const std::string real = builder.last();
        scales_[name] = std::ldexp(1.0F, is_signed_ ? -5 : -6);
        zeros_[name] = 0;
        write_quantiser(name);
        builder.node("QuantizeLinear", name + "_q", {real, name + "_s", name + "_z"}, name);
        return name;
    }
    /// In one direction.
    std::string line_conv(const std::string& name, const std::string& from, const Sizes& weights) {
        weighted("Conv", name, from, weights, 0);
        builder.ints("strides", {2}).ints("pads", {1, 2});
        return quantised(name);
    }
    /// In three.
    std::string volume_conv(const std::string& name, const std::string& from,
                            const Sizes& weights) {
        weighted("Conv", name, from, weights, 0);
        builder.ints("pads", {1, 0, 1, 1, 0, 1});
        return quantised(name);
    }
    std::string transposed_line_conv(const std::string& name, const std::string& from,
                                     const Sizes& weights) {
        weighted("ConvTranspose", name, from, weights, 1);
        builder.ints("strides", {3}).ints("pads", {1, 2}).ints("output_padding", {1});
        return quantised(name);
    }
    /// Each kernel reads the channels of its group.
    std::string transposed_groups(const std::string& name, const std::string& from,
                                  const Sizes& weights, std::int64_t groups) {
        weighted("ConvTranspose", name, from, weights, 1, groups);
        builder.integer("group", groups).ints("strides", {2, 2}).ints("pads", {1, 1, 1, 1});
        return quantised(name);
    }
    std::string transposed_conv(const std::string& name, const std::string& from,
                                const Sizes& weights, std::int64_t stride, std::int64_t pad,
                                std::int64_t more) {
        weighted("ConvTranspose", name, from, weights, 1);
        builder.ints("strides", {stride, stride}).ints("pads", {pad, pad, pad, pad});
        builder.ints("output_padding", {more, more});
        return quantised(name);
    }
    /// Of rows, without a bias.
    std::string product(const std::string& name, const std::string& from, const Sizes& weights) {
        weighted("MatMul", name, from, weights, 1);
        return quantised(name);
    }
    /// Of a constant matrix and the map; a scale for each row of the matrix.
    std::string left_product(const std::string& name, const Sizes& weights,
                             const std::string& from) {
        const std::vector<float> numbers = test::some_numbers(count_elements(weights), -127, 127,
                                                              static_cast<unsigned>(random_()));
        std::vector<float> scales;
        for (std::int64_t row = 0; row < weights[0]; ++row) {
            scales.push_back(std::exp(real(-6, -5)));
        }
        builder.int8s(name + "_w", weights, {numbers.begin(), numbers.end()}, int8_code);
        builder.floats(name + "_ws", {weights[0]}, scales);
        const std::string map = dequantised(from);
        builder.node("DequantizeLinear", name + "_wd", {name + "_w", name + "_ws"});
        builder.integer("axis", 0);
        builder.node("MatMul", name + "_product", {builder.last(), map});
        return quantised(name);
    }
    std::string sum(const std::string& name, const std::string& a, const std::string& b) {
        const std::string first = dequantised(a);
        const std::string second = dequantised(b);
        builder.node("Add", name + "_add", {first, second});
        return quantised(name);
    }
    /// The result's scale has this ratio to that of `b`.
    std::string coarse_sum(const std::string& name, const std::string& a, const std::string& b,
                           float ratio) {
        const std::string first = dequantised(a);
        builder.node("Add", name + "_add", {first, dequantised(b)});
        const std::string real = builder.last();
        scales_[name] = scales_.at(b) * ratio;
        zeros_[name] = is_signed_ ? -128 : 0;
        write_quantiser(name);
        builder.node("QuantizeLinear", name + "_q", {real, name + "_s", name + "_z"}, name);
        return name;
    }
    /// Of one operator without attributes.
    std::string function(const std::string& name, const std::string& op, const std::string& from) {
        builder.node(op, name + "_function", {dequantised(from)});
        return quantised(name);
    }
    /// With a slope for each channel, of which one is 0 and one is negative.
    std::string prelu(const std::string& name, const std::string& from, std::int64_t channels) {
        std::vector<float> slopes{0, -0.1F};
        while (std::ssize(slopes) < channels) {
            slopes.push_back(real(0.001F, 1.5F));
        }
        builder.floats(name + "_slopes", {channels, 1, 1}, slopes);
        builder.node("PRelu", name + "_prelu", {dequantised(from), name + "_slopes"});
        return quantised(name);
    }
    /// A sigmoid as quantisers store it, from 0 to almost 1.
    std::string gate(const std::string& name, const std::string& from) {
        builder.node("Sigmoid", name + "_function", {dequantised(from)});
        const std::string real = builder.last();
        scales_[name] = std::ldexp(1.0F, -8);
        zeros_[name] = is_signed_ ? -128 : 0;
        write_quantiser(name);
        builder.node("QuantizeLinear", name + "_q", {real, name + "_s", name + "_z"}, name);
        return name;
    }
    std::string scaled(const std::string& name, const std::string& map, const std::string& gate) {
        const std::string first = dequantised(map);
        const std::string second = dequantised(gate);
        builder.node("Mul", name + "_mul", {first, second});
        return quantised(name);
    }
    /// Channels from one to another of a map, and its rows but the first and the last one.
    std::string part(const std::string& name, const std::string& map, std::int64_t begin,
                     std::int64_t end) {
        builder.int64s(name + "_starts", {begin, 1, 0}).int64s(name + "_ends", {end, -1, 100});
        builder.int64s(name + "_axes", {1, 2, -1});
        builder.node("Slice", name + "_slice",
                     {dequantised(map), name + "_starts", name + "_ends", name + "_axes"});
        const std::string real = builder.last();
        builder.node("QuantizeLinear", name + "_q", {real, map + "_s", map + "_z"}, name);
        return name;
    }
    std::string joined(const std::string& name, const std::vector<std::string>& maps) {
        std::vector<std::string> real;
        for (const std::string& map : maps) {
            real.push_back(dequantised(map));
        }
        builder.node("Concat", name + "_concat", real).integer("axis", 1);
        return quantised(name);
    }
    /// Its result keeps the scale of what it reads.
    std::string max_pool(const std::string& name, const std::string& from, std::int64_t size,
                         std::int64_t stride, std::int64_t pad) {
        builder.node("MaxPool", name + "_pool", {dequantised(from)});
        builder.ints("kernel_shape", {size, size}).ints("strides", {stride, stride});
        builder.ints("pads", {pad, pad, pad, pad});
        const std::string real = builder.last();
        scales_[name] = scales_.at(from);
        zeros_[name] = zeros_.at(from);
        write_quantiser(name);
        builder.node("QuantizeLinear", name + "_q", {real, name + "_s", name + "_z"}, name);
        return name;
    }
    std::string mean(const std::string& name, const std::string& from) {
        builder.node("GlobalAveragePool", name + "_pool", {dequantised(from)});
        return quantised(name);
    }

    float real(float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(random_);
    }
    float power_of_two(int low, int high) { return std::ldexp(1.0F, whole(low, high)); }
    int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

 private:
    void write_quantiser(const std::string& tensor) {
        builder.floats(tensor + "_s", {}, {scales_.at(tensor)});
        builder.int8s(tensor + "_z", {}, {zeros_.at(tensor)}, code_);
    }
    /// Weights with a scale per kernel, biases that are multiples of what they are added to.
    void weighted(const std::string& op, const std::string& name, const std::string& from,
                  const Sizes& sizes, std::size_t axis, std::int64_t groups = 1) {
        const int most = powers_of_two_ ? 20 : 127;  // biases of stored inputs then have 16 bits
        const int most_bias = powers_of_two_ ? 6000 : 60000;
        const std::vector<float> numbers = test::some_numbers(count_elements(sizes), -most, most,
                                                              static_cast<unsigned>(random_()));
        const std::int64_t kernels = sizes[axis];
        std::vector<float> scales;
        std::vector<float> bias;
        for (std::int64_t k = 0; k < kernels * groups; ++k) {
            if (k < kernels) {  // a scale for each kernel of a group
                scales.push_back(powers_of_two_ ? power_of_two(-11, -9) : std::exp(real(-6, -5)));
            }
            bias.push_back(static_cast<float>(whole(-most_bias, most_bias)) * scales_[from] *
                           scales[static_cast<std::size_t>(k % kernels)]);
        }
        builder.int8s(name + "_w", sizes, {numbers.begin(), numbers.end()}, int8_code);
        builder.floats(name + "_ws", {kernels}, scales)
            .floats(name + "_b", {kernels * groups}, bias);
        builder.int8s(name + "_wz", {kernels},
                      std::vector<int>(static_cast<std::size_t>(kernels), 0), int8_code);
        std::vector<std::string> operands{dequantised(from)};
        builder.node("DequantizeLinear", name + "_wd", {name + "_w", name + "_ws", name + "_wz"});
        builder.integer("axis", static_cast<std::int64_t>(axis));
        operands.push_back(builder.last());
        if (op != "MatMul") {
            operands.push_back(name + "_b");
        }
        builder.node(op, name + "_product", operands);
    }

    std::mt19937 random_;
    int code_;
    bool is_signed_;
    bool powers_of_two_ = false;
    int count_ = 0;
    std::map<std::string, float> scales_;
    std::map<std::string, int> zeros_;
};

}  // namespace npuscope::test
