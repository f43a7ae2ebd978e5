// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp_math.h"

#include <algorithm>
#include <limits>
#include <span>

#include "models/arith/fixed_point.h"
#include "models/base/check.h"
#include "models/pdp/pooling_axis.h"

namespace npuscope {
namespace {

// Wire widths. source: NV_NVDLA_PDP_CORE_cal1d.v, NV_NVDLA_PDP_CORE_cal2d.v
constexpr unsigned kLineBits = 11;
constexpr unsigned kWindowBits = 14;
constexpr unsigned kWidthProductBits = 31;
constexpr unsigned kHeightProductBits = 28;
constexpr unsigned kWidthQuotientBits = 11;
constexpr unsigned kOutputBits = 8;

constexpr std::int32_t wire(std::int32_t value, unsigned bits) {
    const unsigned unused = 32U - bits;
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << unused) >>
           static_cast<int>(unused);
}

/// product / 65536, rounded half away from zero, on a wire of `bits` bits. A positive quotient
/// loses its upper bits before the half is added: so 127.5 becomes -128.
constexpr std::int32_t divide_65536(std::int32_t product, unsigned bits) {
    const std::int32_t half = (product >> 15) & 1;
    const std::int32_t floor = product >> 16;
    const std::int32_t positive = (floor & ((1 << (bits - 1U)) - 1)) + half;
    const std::int32_t negative = floor + ((product & 0x7fff) != 0 ? half : 0);
    return wire(product < 0 ? negative : positive, bits);
}

constexpr std::int32_t multiply(std::int32_t value, std::uint32_t factor, unsigned bits) {
    const std::uint32_t product = static_cast<std::uint32_t>(value) * factor;
    return wire(static_cast<std::int32_t>(product), bits);
}

/// One element width, and the sums that it needs.
struct Bytes8 {
    using Element = std::int8_t;
    using Wide = std::int16_t;
    static constexpr unsigned line_bits = kLineBits;
    static constexpr unsigned window_bits = kWindowBits;
    static Element average(std::int32_t sum, const PdpPooling& pooling) {
        return pdp_average(sum, pooling.recip_width, pooling.recip_height);
    }
};
struct Words16 {
    using Element = std::int16_t;
    using Wide = std::int32_t;
    static constexpr unsigned line_bits = 32;
    static constexpr unsigned window_bits = 32;
    static Element average(std::int32_t sum, const PdpPooling& pooling) {
        return pdp_average_int16(sum, pooling.recip_width, pooling.recip_height);
    }
};

template <class Wide>
struct Sum {
    static constexpr bool kAverage = true;
    static constexpr Wide kNeutral = 0;
    static Wide apply(Wide a, Wide b) { return static_cast<Wide>(a + b); }
};
template <class Wide>
struct Max {
    static constexpr bool kAverage = false;
    static constexpr Wide kNeutral = std::numeric_limits<Wide>::min();
    static Wide apply(Wide a, Wide b) { return a > b ? a : b; }
};
template <class Wide>
struct Min {
    static constexpr bool kAverage = false;
    static constexpr Wide kNeutral = std::numeric_limits<Wide>::max();
    static Wide apply(Wide a, Wide b) { return a < b ? a : b; }
};

/// accumulated[i] = accumulated[i] (+) taps[i * step]
template <class Operation, class Wide, class In>
void fold(std::span<Wide> accumulated, const In* taps, std::size_t step) {
    if (step == 1) {
        for (std::size_t i = 0; i < accumulated.size(); ++i) {
            accumulated[i] = Operation::apply(accumulated[i], static_cast<Wide>(taps[i]));
        }
        return;
    }
    for (std::size_t i = 0; i < accumulated.size(); ++i) {
        accumulated[i] = Operation::apply(accumulated[i], static_cast<Wide>(taps[i * step]));
    }
}

/// Pools cubes of one shape, one channel plane after the other.
template <class Number, class Operation>
class PlanePooler {
 public:
    using Element = typename Number::Element;
    using Wide = typename Number::Wide;

    PlanePooler(const PdpPooling& pooling, const Shape& input)
        : pooling_(pooling),
          input_(input),
          rows_(rows_axis(pooling, input.height)),
          lines_(std::size_t{input.height} * pooling.output.width),
          window_(pooling.output.width),
          line_pad_(pooling.output.width) {
        for (const PdpPart& part : pooling.parts) {
            const PoolingAxis columns = columns_axis(pooling_, part);
            for (std::uint32_t i = 0; i < part.out_width; ++i) {
                line_pad_[part.out_begin + i] = static_cast<Wide>(
                    wire(pooling.pad_value[columns.missing(i)], Number::line_bits));
            }
        }
    }

    void pool(const Element* in, Element* out) {
        for (std::uint32_t y = 0; y < input_.height; ++y) {
            pool_line(in + std::size_t{y} * input_.width, line(y));
        }
        for (std::uint32_t y = 0; y < pooling_.output.height; ++y) {
            fold_lines(y);
            finish(y, out + std::size_t{y} * pooling_.output.width);
        }
    }

 private:
    std::span<Wide> line(std::uint32_t y) {
        return std::span(lines_).subspan(std::size_t{y} * pooling_.output.width,
                                         pooling_.output.width);
    }

    void pool_line(const Element* in, std::span<Wide> sums) {
        std::fill(sums.begin(), sums.end(), Operation::kNeutral);
        for (const PdpPart& part : pooling_.parts) {
            fold_columns(part, in + part.in_begin, sums.subspan(part.out_begin, part.out_width));
        }
        if constexpr (Operation::kAverage) {
            for (std::size_t x = 0; x < sums.size(); ++x) {
                sums[x] = static_cast<Wide>(wire(sums[x] + line_pad_[x], Number::line_bits));
            }
        }
    }

    void fold_columns(const PdpPart& part, const Element* in, std::span<Wide> sums) {
        const PoolingAxis columns = columns_axis(pooling_, part);
        for (std::uint32_t k = 0; k < columns.kernel; ++k) {
            const std::uint32_t first = columns.first(k);
            const std::uint32_t last = columns.last(k);
            if (first < last) {
                fold<Operation>(sums.subspan(first, last - first), in + columns.position(first, k),
                                columns.stride);
            }
        }
    }

    void fold_lines(std::uint32_t y) {
        std::fill(window_.begin(), window_.end(), Operation::kNeutral);
        for (std::uint32_t k = 0; k < rows_.kernel; ++k) {
            if (y >= rows_.first(k) && y < rows_.last(k)) {
                fold<Operation>(std::span<Wide>(window_),
                                line(static_cast<std::uint32_t>(rows_.position(y, k))).data(), 1);
            }
        }
    }

    void finish(std::uint32_t y, Element* out) {
        if constexpr (Operation::kAverage) {
            const auto kernel_width = static_cast<std::int32_t>(pooling_.kernel_width);
            const std::int32_t pad =
                wire(pooling_.pad_value[rows_.missing(y)] * kernel_width, Number::window_bits);
            for (std::size_t x = 0; x < window_.size(); ++x) {
                out[x] = Number::average(window_[x] + pad, pooling_);
            }
        } else {
            for (std::size_t x = 0; x < window_.size(); ++x) {
                out[x] = static_cast<Element>(window_[x]);
            }
        }
    }

    const PdpPooling& pooling_;
    Shape input_;
    PoolingAxis rows_;
    std::vector<Wide> lines_;     // one pooled line per input line
    std::vector<Wide> window_;    // one output line, lines folded
    std::vector<Wide> line_pad_;  // what missing columns add, per output column
};

template <class Number, class Operation>
Tensor<typename Number::Element> pool_planes(const PdpPooling& pooling,
                                             const Tensor<typename Number::Element>& input) {
    Tensor<typename Number::Element> output(
        Shape{input.shape.channels, pooling.output.height, pooling.output.width});
    PlanePooler<Number, Operation> pooler(pooling, input.shape);
    const std::size_t in_plane = std::size_t{input.shape.height} * input.shape.width;
    const std::size_t out_plane = std::size_t{output.shape.height} * output.shape.width;
    for (std::size_t c = 0; c < input.shape.channels; ++c) {
        pooler.pool(input.values.data() + c * in_plane, output.values.data() + c * out_plane);
    }
    return output;
}

template <class Number>
Tensor<typename Number::Element> pool_integers(const PdpPooling& pooling,
                                               const Tensor<typename Number::Element>& input) {
    using Wide = typename Number::Wide;
    NPU_CHECK(pooling.pad_value[0] == 0, "nothing missing adds nothing");
    switch (pooling.method) {
        case PoolingMethod::Average:
            return pool_planes<Number, Sum<Wide>>(pooling, input);
        case PoolingMethod::Max:
            return pool_planes<Number, Max<Wide>>(pooling, input);
        case PoolingMethod::Min:
            return pool_planes<Number, Min<Wide>>(pooling, input);
    }
    NPU_CHECK(false, "unknown pooling method");
    return {};
}

/// value / 65536, rounded half away from zero.
std::int64_t divide_65536_wide(std::int64_t value) { return shift_right_round(value, 16U); }

}  // namespace

std::int8_t pdp_average(std::int32_t sum, std::uint32_t recip_width, std::uint32_t recip_height) {
    const std::int32_t by_width =
        divide_65536(multiply(sum, recip_width, kWidthProductBits), kWidthQuotientBits);
    return static_cast<std::int8_t>(
        divide_65536(multiply(by_width, recip_height, kHeightProductBits), kOutputBits));
}

std::int16_t pdp_average_int16(std::int32_t sum, std::uint32_t recip_width,
                               std::uint32_t recip_height) {
    const std::int64_t by_width = divide_65536_wide(std::int64_t{sum} * recip_width);
    return static_cast<std::int16_t>(divide_65536_wide(by_width * recip_height));
}

Tensor<std::int8_t> compute_pdp(const PdpPooling& pooling, const Tensor<std::int8_t>& input) {
    return pool_integers<Bytes8>(pooling, input);
}

Tensor<std::int16_t> compute_pdp(const PdpPooling& pooling, const Tensor<std::int16_t>& input) {
    return pooling.precision == Precision::Fp16 ? pool_floats(pooling, input)
                                                : pool_integers<Words16>(pooling, input);
}

ElementTensor compute_pdp(const PdpPooling& pooling, const ElementTensor& input) {
    return std::visit(
        [&](const auto& values) { return ElementTensor(compute_pdp(pooling, values)); }, input);
}

}  // namespace npuscope
