// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "models/arith/float16.h"
#include "models/pdp/pdp_math.h"
#include "models/pdp/pooling_axis.h"

namespace npuscope {
namespace {

/// What one method does to values of type Value.
struct FloatSum {
    using Value = float;
    static float read(std::int16_t bits) { return widen_to_fp17(static_cast<Fp16>(bits)); }
    static float in_line(float sum, float value) { return float_add<Fp17Rules>(sum, value); }
    static float of_lines(float sum, float line) { return float_add<Fp17Rules>(line, sum); }
};

/// Widening keeps the order, and infinities above all numbers, if they stay what they are.
float ordered(std::int16_t bits) {
    const auto value = static_cast<Fp16>(bits);
    return is_inf(value) ? widen(static_cast<Fp16>(value - 1U)) * 2.0F : widen(value);
}

template <float (*choose)(float, float)>
struct FloatChoice {
    using Value = std::int16_t;
    static std::int16_t read(std::int16_t bits) { return bits; }
    static std::int16_t pick(std::int16_t first, std::int16_t second) {
        if (is_nan(static_cast<Fp16>(first)) || is_nan(static_cast<Fp16>(second))) {
            return is_nan(static_cast<Fp16>(first)) ? first : second;
        }
        const float chosen = choose(ordered(first), ordered(second));
        const bool is_first =
            std::bit_cast<std::uint32_t>(chosen) == std::bit_cast<std::uint32_t>(ordered(first));
        return is_first ? first : second;
    }
    static std::int16_t in_line(std::int16_t chosen, std::int16_t value) {
        return pick(chosen, value);
    }
    static std::int16_t of_lines(std::int16_t chosen, std::int16_t line) {
        return pick(line, chosen);
    }
};

/// Pools cubes of one shape, one channel plane after the other.
template <class Operation>
class FloatPooler {
 public:
    using Value = typename Operation::Value;

    FloatPooler(const PdpPooling& pooling, const Shape& input)
        : pooling_(pooling),
          input_(input),
          rows_(rows_axis(pooling, input.height)),
          lines_(std::size_t{input.height} * pooling.output.width),
          pads_(pooling.pad_value.size()) {
        std::ranges::transform(pooling.pad_value, pads_.begin(), [](std::int32_t code) {
            return fp17_of_code(static_cast<std::uint32_t>(code));
        });
    }

    void pool(const std::int16_t* in, std::int16_t* out) {
        for (std::uint32_t y = 0; y < input_.height; ++y) {
            for (const PdpPart& part : pooling_.parts) {
                pool_line(part, in + std::size_t{y} * input_.width + part.in_begin,
                          line(y) + part.out_begin);
            }
        }
        for (std::uint32_t y = 0; y < pooling_.output.height; ++y) {
            for (std::uint32_t x = 0; x < pooling_.output.width; ++x) {
                *out++ = finish(fold_lines(y, x));
            }
        }
    }

 private:
    static constexpr bool kAverage = std::is_same_v<Value, float>;

    Value* line(std::uint32_t y) { return lines_.data() + std::size_t{y} * pooling_.output.width; }

    void pool_line(const PdpPart& part, const std::int16_t* in, Value* out) {
        const PoolingAxis columns = columns_axis(pooling_, part);
        for (std::uint32_t x = 0; x < part.out_width; ++x) {
            const std::int64_t begin = std::max<std::int64_t>(columns.position(x, 0), 0);
            const std::int64_t end =
                std::min<std::int64_t>(columns.position(x, columns.kernel), part.in_width);
            Value folded = element(in[begin]);
            for (std::int64_t i = begin + 1; i < end; ++i) {
                folded = Operation::in_line(folded, element(in[i]));
            }
            if constexpr (kAverage) {
                folded = float_add<Fp17Rules>(folded, pads_[columns.missing(x)]);
            }
            out[x] = folded;
        }
    }

    Value element(std::int16_t bits) const {
        const bool flush = pooling_.nan_to_zero && is_nan(static_cast<Fp16>(bits));
        return Operation::read(flush ? std::int16_t{0} : bits);
    }

    Value fold_lines(std::uint32_t y, std::uint32_t x) {
        const std::int64_t begin = std::max<std::int64_t>(rows_.position(y, 0), 0);
        const std::int64_t end =
            std::min<std::int64_t>(rows_.position(y, rows_.kernel), rows_.extent);
        Value folded = line(static_cast<std::uint32_t>(begin))[x];
        for (std::int64_t i = begin + 1; i < end; ++i) {
            folded = Operation::of_lines(folded, line(static_cast<std::uint32_t>(i))[x]);
        }
        if constexpr (kAverage) {
            const float pad = float_mul<Fp17Rules>(pads_[rows_.missing(y)],
                                                   static_cast<float>(pooling_.kernel_width));
            folded = float_add<Fp17Rules>(folded, pad);
        }
        return folded;
    }

    std::int16_t finish(Value folded) const {
        if constexpr (kAverage) {
            const float by_width = float_mul<Fp17Rules>(folded, fp17_of_code(pooling_.recip_width));
            return static_cast<std::int16_t>(narrow_from_fp17(
                float_mul<Fp17Rules>(by_width, fp17_of_code(pooling_.recip_height))));
        } else {
            return folded;
        }
    }

    const PdpPooling& pooling_;
    Shape input_;
    PoolingAxis rows_;
    std::vector<Value> lines_;  // one pooled line per input line
    std::vector<float> pads_;   // what n missing elements add
};

template <class Operation>
Tensor<std::int16_t> pool_planes(const PdpPooling& pooling, const Tensor<std::int16_t>& input) {
    Tensor<std::int16_t> output(
        Shape{input.shape.channels, pooling.output.height, pooling.output.width});
    FloatPooler<Operation> pooler(pooling, input.shape);
    const std::size_t in_plane = std::size_t{input.shape.height} * input.shape.width;
    const std::size_t out_plane = std::size_t{output.shape.height} * output.shape.width;
    for (std::size_t c = 0; c < input.shape.channels; ++c) {
        pooler.pool(input.values.data() + c * in_plane, output.values.data() + c * out_plane);
    }
    return output;
}

}  // namespace

float fp17_of_code(std::uint32_t code) {
    const std::uint32_t sign = (code & Fp17Format::sign_bit) << 15U;
    const std::uint32_t exponent = (code & Fp17Format::exponent_mask) >> 10U;
    const std::uint32_t mantissa = code & Fp17Format::mantissa_mask;
    if (exponent == 0U && mantissa == 0U) {
        return std::bit_cast<float>(sign);
    }
    if (is_nan_bits<Fp17Format>(code)) {
        return std::bit_cast<float>(sign | Fp32Format::exponent_mask | mantissa);
    }
    return std::bit_cast<float>(sign | ((exponent + 96U) << 23U) | (mantissa << 13U));
}

Tensor<std::int16_t> pool_floats(const PdpPooling& pooling, const Tensor<std::int16_t>& input) {
    switch (pooling.method) {
        case PoolingMethod::Average:
            return pool_planes<FloatSum>(pooling, input);
        case PoolingMethod::Max:
            return pool_planes<FloatChoice<float_max>>(pooling, input);
        case PoolingMethod::Min:
            return pool_planes<FloatChoice<float_min>>(pooling, input);
    }
    NPU_CHECK(false, "unknown pooling method");
    return {};
}

}  // namespace npuscope
