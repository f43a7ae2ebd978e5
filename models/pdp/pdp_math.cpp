// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp_math.h"

#include <algorithm>
#include <span>

#include "models/base/check.h"
#include "models/base/quantity.h"

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

/// product / 65536 half away from zero, on a wire of `bits` bits. A positive quotient loses its
/// upper bits before the half is added: so 127.5 becomes -128.
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

/// `extent` input positions, of which output position `i` sees [i * stride - pad, + kernel).
struct Axis {
    std::uint32_t extent = 0;
    std::uint32_t outputs = 0;
    std::uint32_t kernel = 1;
    std::uint32_t stride = 1;
    std::uint32_t pad = 0;

    /// Input position of tap `k` of output `i`; outside [0, extent) it is padding.
    std::int64_t position(std::uint32_t i, std::uint32_t k) const {
        return static_cast<std::int64_t>(i) * stride + k - pad;
    }
    /// Outputs [first, last) whose tap `k` is real.
    std::uint32_t first(std::uint32_t k) const {
        return k >= pad ? 0U : static_cast<std::uint32_t>(divide_up(pad - k, stride));
    }
    std::uint32_t last(std::uint32_t k) const {
        const std::uint32_t beyond = extent + pad;
        return k >= beyond
                   ? 0U
                   : std::min<std::uint32_t>(
                         outputs, static_cast<std::uint32_t>(divide_up(beyond - k, stride)));
    }
    std::uint32_t missing(std::uint32_t i) const {
        std::uint32_t real = 0;
        for (std::uint32_t k = 0; k < kernel; ++k) {
            real += i >= first(k) && i < last(k) ? 1U : 0U;
        }
        NPU_CHECK(real > 0, "a pooling window lies in the padding altogether");
        return kernel - real;
    }
};

struct Sum {
    static constexpr bool kAverage = true;
    static constexpr std::int16_t kNeutral = 0;
    static std::int16_t apply(std::int16_t a, std::int16_t b) {
        return static_cast<std::int16_t>(a + b);
    }
};
struct Max {
    static constexpr bool kAverage = false;
    static constexpr std::int16_t kNeutral = INT16_MIN;
    static std::int16_t apply(std::int16_t a, std::int16_t b) { return a > b ? a : b; }
};
struct Min {
    static constexpr bool kAverage = false;
    static constexpr std::int16_t kNeutral = INT16_MAX;
    static std::int16_t apply(std::int16_t a, std::int16_t b) { return a < b ? a : b; }
};

/// accumulated[i] = accumulated[i] (+) taps[i * step]
template <class Operation, class In>
void fold(std::span<std::int16_t> accumulated, const In* taps, std::size_t step) {
    if (step == 1) {
        for (std::size_t i = 0; i < accumulated.size(); ++i) {
            accumulated[i] = Operation::apply(accumulated[i], static_cast<std::int16_t>(taps[i]));
        }
        return;
    }
    for (std::size_t i = 0; i < accumulated.size(); ++i) {
        accumulated[i] =
            Operation::apply(accumulated[i], static_cast<std::int16_t>(taps[i * step]));
    }
}

/// Pools one channel plane after the other of cubes of one shape.
template <class Operation>
class PlanePooler {
 public:
    PlanePooler(const PdpPooling& pooling, const Shape& input)
        : pooling_(pooling),
          input_(input),
          rows_{input.height, pooling.output.height, pooling.kernel_height, pooling.stride_y,
                pooling.pad_top},
          lines_(std::size_t{input.height} * pooling.output.width),
          window_(pooling.output.width),
          line_pad_(pooling.output.width) {
        for (const PdpPart& part : pooling.parts) {
            const Axis columns = axis_of(part);
            for (std::uint32_t i = 0; i < part.out_width; ++i) {
                line_pad_[part.out_begin + i] = static_cast<std::int16_t>(
                    wire(pooling.pad_value[columns.missing(i)], kLineBits));
            }
        }
    }

    void pool(const std::int8_t* in, std::int8_t* out) {
        for (std::uint32_t y = 0; y < input_.height; ++y) {
            pool_line(in + std::size_t{y} * input_.width, line(y));
        }
        for (std::uint32_t y = 0; y < pooling_.output.height; ++y) {
            fold_lines(y);
            finish(y, out + std::size_t{y} * pooling_.output.width);
        }
    }

 private:
    Axis axis_of(const PdpPart& part) const {
        return {part.in_width, part.out_width, pooling_.kernel_width, pooling_.stride_x,
                part.pad_left};
    }
    std::span<std::int16_t> line(std::uint32_t y) {
        return std::span(lines_).subspan(std::size_t{y} * pooling_.output.width,
                                         pooling_.output.width);
    }

    void pool_line(const std::int8_t* in, std::span<std::int16_t> sums) {
        std::fill(sums.begin(), sums.end(), Operation::kNeutral);
        for (const PdpPart& part : pooling_.parts) {
            fold_columns(part, in + part.in_begin, sums.subspan(part.out_begin, part.out_width));
        }
        if constexpr (Operation::kAverage) {
            for (std::size_t x = 0; x < sums.size(); ++x) {
                sums[x] = static_cast<std::int16_t>(wire(sums[x] + line_pad_[x], kLineBits));
            }
        }
    }

    void fold_columns(const PdpPart& part, const std::int8_t* in, std::span<std::int16_t> sums) {
        const Axis columns = axis_of(part);
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
                fold<Operation>(std::span(window_),
                                line(static_cast<std::uint32_t>(rows_.position(y, k))).data(), 1);
            }
        }
    }

    void finish(std::uint32_t y, std::int8_t* out) {
        if constexpr (Operation::kAverage) {
            const auto kernel_width = static_cast<std::int32_t>(pooling_.kernel_width);
            const std::int32_t pad =
                wire(pooling_.pad_value[rows_.missing(y)] * kernel_width, kWindowBits);
            for (std::size_t x = 0; x < window_.size(); ++x) {
                out[x] = pdp_average(window_[x] + pad, pooling_.recip_width, pooling_.recip_height);
            }
        } else {
            for (std::size_t x = 0; x < window_.size(); ++x) {
                out[x] = static_cast<std::int8_t>(window_[x]);
            }
        }
    }

    const PdpPooling& pooling_;
    Shape input_;
    Axis rows_;
    std::vector<std::int16_t> lines_;     // one pooled line per input line
    std::vector<std::int16_t> window_;    // one output line, lines folded
    std::vector<std::int16_t> line_pad_;  // what missing columns add, per output column
};

template <class Operation>
void pool_planes(const PdpPooling& pooling, const Tensor<std::int8_t>& input,
                 Tensor<std::int8_t>& output) {
    PlanePooler<Operation> pooler(pooling, input.shape);
    const std::size_t in_plane = std::size_t{input.shape.height} * input.shape.width;
    const std::size_t out_plane = std::size_t{output.shape.height} * output.shape.width;
    for (std::size_t c = 0; c < input.shape.channels; ++c) {
        pooler.pool(input.values.data() + c * in_plane, output.values.data() + c * out_plane);
    }
}

}  // namespace

std::int8_t pdp_average(std::int32_t sum, std::uint32_t recip_width, std::uint32_t recip_height) {
    const std::int32_t by_width =
        divide_65536(multiply(sum, recip_width, kWidthProductBits), kWidthQuotientBits);
    return static_cast<std::int8_t>(
        divide_65536(multiply(by_width, recip_height, kHeightProductBits), kOutputBits));
}

Tensor<std::int8_t> compute_pdp(const PdpPooling& pooling, const Tensor<std::int8_t>& input) {
    NPU_CHECK(pooling.pad_value[0] == 0, "nothing missing adds nothing");
    Tensor<std::int8_t> output(
        Shape{input.shape.channels, pooling.output.height, pooling.output.width});
    switch (pooling.method) {
        case PoolingMethod::Average:
            pool_planes<Sum>(pooling, input, output);
            return output;
        case PoolingMethod::Max:
            pool_planes<Max>(pooling, input, output);
            return output;
        case PoolingMethod::Min:
            pool_planes<Min>(pooling, input, output);
            return output;
    }
    NPU_CHECK(false, "unknown pooling method");
    return output;
}

}  // namespace npuscope
