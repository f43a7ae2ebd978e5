// SPDX-License-Identifier: Apache-2.0
#include "models/arith/convolve.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "models/arith/convolve_simd.h"
#include "models/arith/fixed_point.h"
#include "models/base/check.h"
#include "models/base/quantity.h"

namespace npuscope {
namespace {

template <class T>
constexpr std::int16_t widened(T number) {
    return number;
}

/// Positions of one phase row that come from the input, and the input column of the first.
struct RowSpan {
    std::size_t first;
    std::size_t last;
    std::size_t column;
};

RowSpan span_inside(const RasterPlan& plan, std::uint32_t phase_x, std::uint32_t width) {
    const Convolution& geometry = plan.geometry();
    const std::size_t stride = geometry.stride_x;
    const std::size_t pad = geometry.pad_left;
    const std::size_t first = pad > phase_x ? divide_up(pad - phase_x, stride) : 0;
    const std::size_t end = pad + width > phase_x ? divide_up(pad + width - phase_x, stride) : 0;
    const std::size_t last = std::min(end, plan.pitch());
    return {std::min(first, last), last, first * stride + phase_x - pad};
}

/// One row of one phase of one channel; `to` holds every second element.
template <class T>
void copy_phase_row(const T* row, const RowSpan& span, std::size_t stride, std::int16_t* to) {
    if (span.first == span.last) {
        return;
    }
    const T* from = row + span.column;
    for (std::size_t x = span.first; x < span.last; ++x, from += stride) {
        to[2 * x] = widened(*from);
    }
}

template <class T>
void copy_channel(const RasterPlan& plan, const Tensor<T>& data, std::uint32_t channel,
                  std::int16_t* to) {
    const Convolution& geometry = plan.geometry();
    for (const RasterPlan::Phase& phase : plan.phases()) {
        const RowSpan span = span_inside(plan, phase.x, data.shape.width);
        for (std::size_t q = 0; q < plan.phase_rows(); ++q) {
            const std::size_t padded_row = q * geometry.stride_y + phase.y;
            if (padded_row < geometry.pad_top ||
                padded_row - geometry.pad_top >= data.shape.height) {
                continue;
            }
            const auto y = static_cast<std::uint32_t>(padded_row - geometry.pad_top);
            copy_phase_row(&data.values[data.index(channel, y, 0)], span, geometry.stride_x,
                           to + 2 * (phase.offset + q * plan.pitch()));
        }
    }
}

/// Columns of one kernel row that lie inside the input, for one output position.
template <class T>
void gather_row(const Tensor<T>& data, std::size_t row_start, std::int64_t x,
                const Convolution& geometry, std::uint32_t columns, std::int16_t* to) {
    for (std::uint32_t s = 0; s < columns; ++s) {
        const std::int64_t column = x + std::int64_t{s} * geometry.dilation_x;
        if (column >= 0 && column < data.shape.width) {
            to[s] = widened(data.values[row_start + static_cast<std::size_t>(column)]);
        }
    }
}

}  // namespace

RasterPlan::RasterPlan(const KernelShape& kernels, const Convolution& geometry)
    : geometry_(geometry),
      pitch_(geometry.out_width +
             std::size_t{kernels.columns - 1} * geometry.dilation_x / geometry.stride_x),
      phase_rows_(geometry.out_height +
                  std::size_t{kernels.rows - 1} * geometry.dilation_y / geometry.stride_y),
      phase_size_(round_up(phase_rows_ * pitch_ + position_slack, 16)),
      positions_(std::size_t{geometry.out_height - 1} * pitch_ + geometry.out_width),
      channel_size_(0) {
    for (std::uint32_t r = 0; r < kernels.rows; ++r) {
        for (std::uint32_t s = 0; s < kernels.columns; ++s) {
            const std::uint32_t y = r * geometry.dilation_y;
            const std::uint32_t x = s * geometry.dilation_x;
            const std::size_t phase = offset_of_phase(y % geometry.stride_y, x % geometry.stride_x);
            tap_offsets_.push_back(phase + y / geometry.stride_y * pitch_ + x / geometry.stride_x);
        }
    }
    channel_size_ = phases_.size() * phase_size_;
    // An odd number of cache lines from channel to channel keeps them out of each other's way.
    channel_size_ += channel_size_ / 16 % 2 == 0 ? std::size_t{16} : std::size_t{0};
}

std::size_t RasterPlan::offset_of_phase(std::uint32_t y, std::uint32_t x) {
    for (const Phase& phase : phases_) {
        if (phase.y == y && phase.x == x) {
            return phase.offset;
        }
    }
    phases_.push_back({y, x, phases_.size() * phase_size_});
    return phases_.back().offset;
}

bool RasterPlan::worthwhile() const {
    const std::size_t outputs = std::size_t{geometry_.out_height} * geometry_.out_width;
    return outputs >= 16 && positions_ <= 3 * outputs;
}

template <class T>
std::vector<std::int16_t> arrange_pairs(const RasterPlan& plan, const Tensor<T>& data) {
    const std::size_t pairs = divide_up(data.shape.channels, 2);
    const auto pad = static_cast<std::int16_t>(plan.geometry().pad_value);
    std::vector<std::int16_t> values(pairs * plan.channel_size() * 2, pad);
    for (std::uint32_t c = 0; c < data.shape.channels; ++c) {
        copy_channel(plan, data, c, values.data() + c / 2 * plan.channel_size() * 2 + c % 2);
    }
    return values;
}

template <class T>
Columns gather_columns(const Tensor<T>& data, const KernelShape& kernels,
                       const Convolution& geometry) {
    const std::size_t length = std::size_t{kernels.channels} * kernels.rows * kernels.columns;
    const std::size_t pitch = round_up(length, position_slack);
    const std::size_t outputs = std::size_t{geometry.out_height} * geometry.out_width;
    Columns columns{length, pitch, std::vector<std::int16_t>(outputs * pitch, 0)};
    for (std::size_t position = 0; position < outputs; ++position) {
        std::int16_t* to = columns.values.data() + position * pitch;
        std::fill_n(to, length, static_cast<std::int16_t>(geometry.pad_value));
        const auto y =
            static_cast<std::int64_t>(position / geometry.out_width) * geometry.stride_y -
            geometry.pad_top;
        const auto x =
            static_cast<std::int64_t>(position % geometry.out_width) * geometry.stride_x -
            geometry.pad_left;
        for (std::size_t cr = 0; cr < std::size_t{kernels.channels} * kernels.rows; ++cr) {
            const std::int64_t row =
                y + static_cast<std::int64_t>(cr % kernels.rows) * geometry.dilation_y;
            if (row >= 0 && row < data.shape.height) {
                const auto channel = static_cast<std::uint32_t>(cr / kernels.rows);
                gather_row(data, data.index(channel, static_cast<std::uint32_t>(row), 0), x,
                           geometry, kernels.columns, to + cr * kernels.columns);
            }
        }
    }
    return columns;
}

template std::vector<std::int16_t> arrange_pairs(const RasterPlan&, const Tensor<std::int8_t>&);
template std::vector<std::int16_t> arrange_pairs(const RasterPlan&, const Tensor<std::int16_t>&);
template Columns gather_columns(const Tensor<std::int8_t>&, const KernelShape&, const Convolution&);
template Columns gather_columns(const Tensor<std::int16_t>&, const KernelShape&,
                                const Convolution&);

namespace {

template <class T>
void require_fit(const Tensor<T>& data, const KernelShape& kernels, const Convolution& geometry) {
    NPU_CHECK(data.shape.channels == kernels.channels, "data and kernels differ in channels");
    NPU_CHECK(geometry.pad_value >= std::numeric_limits<T>::min() &&
                  geometry.pad_value <= std::numeric_limits<T>::max(),
              "the padding value does not fit the data's type");
    NPU_CHECK(geometry.stride_x > 0 && geometry.stride_y > 0 && geometry.dilation_x > 0 &&
                  geometry.dilation_y > 0,
              "strides and dilations count from one");
}

Shape output_shape(const KernelShape& kernels, const Convolution& geometry) {
    return {kernels.kernels, geometry.out_height, geometry.out_width};
}

/// Where an output's window starts in the data, and the data with its padding around it.
template <class T>
class PaddedData {
 public:
    PaddedData(const Tensor<T>& data, const Convolution& geometry)
        : data_(data), geometry_(geometry) {}

    std::int64_t at(std::uint32_t c, std::int64_t y, std::int64_t x) const {
        if (y < 0 || x < 0 || y >= data_.shape.height || x >= data_.shape.width) {
            return geometry_.pad_value;
        }
        return data_.at(c, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x));
    }
    std::int64_t row(std::uint32_t y, std::uint32_t r) const {
        return std::int64_t{y} * geometry_.stride_y + std::int64_t{r} * geometry_.dilation_y -
               geometry_.pad_top;
    }
    std::int64_t column(std::uint32_t x, std::uint32_t s) const {
        return std::int64_t{x} * geometry_.stride_x + std::int64_t{s} * geometry_.dilation_x -
               geometry_.pad_left;
    }

 private:
    const Tensor<T>& data_;
    const Convolution& geometry_;
};

struct OutputPoint {
    std::uint32_t k;
    std::uint32_t y;
    std::uint32_t x;
};

template <class Visit>
void for_each_output(const Shape& shape, Visit visit) {
    for (std::uint32_t k = 0; k < shape.channels; ++k) {
        for (std::uint32_t y = 0; y < shape.height; ++y) {
            for (std::uint32_t x = 0; x < shape.width; ++x) {
                visit(OutputPoint{k, y, x});
            }
        }
    }
}

/// Sum of the products of one output over some elements of its kernel.
template <class T>
std::int64_t element_sum(const PaddedData<T>& data, const Kernels<T>& kernels, OutputPoint point,
                         std::span<const MacElement> elements) {
    std::int64_t sum = 0;
    for (const MacElement& element : elements) {
        sum += data.at(element.channel, data.row(point.y, element.row),
                       data.column(point.x, element.column)) *
               kernels.at(point.k, element.channel, element.row, element.column);
    }
    return sum;
}

/// Only the channels [first, first + count) of the kernels.
template <class T>
Kernels<T> channel_part(const Kernels<T>& kernels, std::uint32_t first, std::uint32_t count) {
    const KernelShape& shape = kernels.shape;
    Kernels<T> part({shape.kernels, count, shape.rows, shape.columns});
    const std::size_t taps = std::size_t{shape.rows} * shape.columns;
    for (std::uint32_t k = 0; k < shape.kernels; ++k) {
        std::copy_n(
            kernels.values.begin() + static_cast<std::ptrdiff_t>(kernels.index(k, first, 0, 0)),
            count * taps,
            part.values.begin() + static_cast<std::ptrdiff_t>(part.index(k, 0, 0, 0)));
    }
    return part;
}

template <class T>
Tensor<T> channel_part(const Tensor<T>& data, std::uint32_t first, std::uint32_t count) {
    Tensor<T> part({count, data.shape.height, data.shape.width});
    std::copy_n(data.values.begin() + static_cast<std::ptrdiff_t>(data.index(first, 0, 0)),
                part.values.size(), part.values.begin());
    return part;
}

/// Sums that fit 32 bits, by the faster of the two methods.
template <class T>
Tensor<std::int32_t> convolve_narrow(const Tensor<T>& data, const Kernels<T>& kernels,
                                     const Convolution& geometry, ArrangedData& arranged) {
    Tensor<std::int32_t> sums(output_shape(kernels.shape, geometry));
    const RasterPlan plan(kernels.shape, geometry);
    if (plan.worthwhile()) {
        if (arranged.pairs.empty()) {
            arranged.pairs = arrange_pairs(plan, data);
        }
        convolve_raster(plan, arranged.pairs, kernels, sums);
    } else {
        if (!arranged.columns) {
            arranged.columns =
                std::make_shared<const Columns>(gather_columns(data, kernels.shape, geometry));
        }
        convolve_columns(*arranged.columns, kernels, sums);
    }
    return sums;
}

void add_scaled(const Tensor<std::int32_t>& part, std::int64_t factor, Tensor<std::int64_t>& sums) {
    for (std::size_t i = 0; i < part.values.size(); ++i) {
        sums.values[i] += part.values[i] * factor;
    }
}

/// Weights as high * 256 + low, each from -128 to 128: their products with 16-bit data fit 24 bits.
struct SplitKernels {
    Kernels<std::int16_t> high;
    Kernels<std::int16_t> low;
};

SplitKernels split(const Kernels<std::int16_t>& kernels) {
    SplitKernels parts{Kernels<std::int16_t>(kernels.shape), Kernels<std::int16_t>(kernels.shape)};
    for (std::size_t i = 0; i < kernels.values.size(); ++i) {
        const int value = kernels.values[i];
        const int high = (value + 128) >> 8;
        parts.high.values[i] = static_cast<std::int16_t>(high);
        parts.low.values[i] = static_cast<std::int16_t>(value - high * 256);
    }
    return parts;
}

template <class T>
std::int64_t sum_of_magnitudes(std::span<const T> numbers) {
    constexpr std::size_t at_once = 4096;  // 16 bits each: their sum fits 32 bits
    std::int64_t sum = 0;
    for (; !numbers.empty(); numbers = numbers.subspan(std::min(at_once, numbers.size()))) {
        std::uint32_t part = 0;
        for (const T number : numbers.first(std::min(at_once, numbers.size()))) {
            part += static_cast<std::uint32_t>(std::abs(int{number}));
        }
        sum += part;
    }
    return sum;
}

/// How many 23-bit products fit into 32 bits.
constexpr std::uint32_t most_split_products = (1U << 9U) - 1;

}  // namespace

template <class T>
Tensor<std::int64_t> convolve_plain(const Tensor<T>& data, const Kernels<T>& kernels,
                                    const Convolution& geometry) {
    require_fit(data, kernels.shape, geometry);
    const PaddedData<T> padded(data, geometry);
    const MacBlocks blocks(kernels.shape, {});
    Tensor<std::int64_t> sums(output_shape(kernels.shape, geometry));
    for_each_output(sums.shape, [&](OutputPoint point) {
        sums.at(point.k, point.y, point.x) = element_sum(padded, kernels, point, blocks.elements());
    });
    return sums;
}

Tensor<std::int32_t> convolve(const Tensor<std::int8_t>& data, const Kernels<std::int8_t>& kernels,
                              const Convolution& geometry, ArrangedData* arranged) {
    require_fit(data, kernels.shape, geometry);
    NPU_CHECK(sums_fit_32_bits(kernels.shape), "sums of this many products need 64 bits");
    ArrangedData once;
    return convolve_narrow(data, kernels, geometry, arranged == nullptr ? once : *arranged);
}

Tensor<std::int64_t> convolve_wide(const Tensor<std::int8_t>& data,
                                   const Kernels<std::int8_t>& kernels,
                                   const Convolution& geometry) {
    require_fit(data, kernels.shape, geometry);
    const KernelShape& shape = kernels.shape;
    const std::uint32_t step = ((1U << 17U) - 1) / (shape.rows * shape.columns);
    NPU_CHECK(step > 0, "a kernel has fewer than 2^17 taps");
    Tensor<std::int64_t> sums(output_shape(shape, geometry));
    for (std::uint32_t c = 0; c < shape.channels; c += step) {
        const std::uint32_t count = std::min(step, shape.channels - c);
        const auto part = channel_part(data, c, count);
        add_scaled(convolve(part, channel_part(kernels, c, count), geometry), 1, sums);
    }
    return sums;
}

Tensor<std::int64_t> convolve_wide(const Tensor<std::int16_t>& data,
                                   const Kernels<std::int16_t>& kernels,
                                   const Convolution& geometry) {
    require_fit(data, kernels.shape, geometry);
    const KernelShape& shape = kernels.shape;
    const std::uint32_t step = most_split_products / (shape.rows * shape.columns);
    if (step == 0) {  // a kernel with more taps than 32 bits can sum
        return convolve_plain(data, kernels, geometry);
    }
    const SplitKernels parts = split(kernels);
    Tensor<std::int64_t> sums(output_shape(shape, geometry));
    for (std::uint32_t c = 0; c < shape.channels; c += step) {
        const std::uint32_t count = std::min(step, shape.channels - c);
        const Tensor<std::int16_t> part = channel_part(data, c, count);
        ArrangedData arranged;
        const auto part_sums = [&](const Kernels<std::int16_t>& bytes) {
            return convolve_narrow(part, channel_part(bytes, c, count), geometry, arranged);
        };
        add_scaled(part_sums(parts.high), 256, sums);
        add_scaled(part_sums(parts.low), 1, sums);
    }
    return sums;
}

template <class T>
std::int64_t partial_sum_bound(const Kernels<T>& kernels) {
    const KernelShape& shape = kernels.shape;
    const std::size_t size = std::size_t{shape.channels} * shape.rows * shape.columns;
    std::int64_t largest = 0;
    for (std::size_t k = 0; k < shape.kernels; ++k) {
        largest =
            std::max(largest, sum_of_magnitudes(std::span(kernels.values).subspan(k * size, size)));
    }
    return largest * -std::int64_t{std::numeric_limits<T>::min()};
}

template <class T>
Tensor<std::int64_t> convolve_saturating(const Tensor<T>& data, const Kernels<T>& kernels,
                                         const Convolution& geometry,
                                         const Accumulator& accumulator) {
    require_fit(data, kernels.shape, geometry);
    const PaddedData<T> padded(data, geometry);
    const MacBlocks blocks(kernels.shape, accumulator.order);
    Tensor<std::int64_t> sums(output_shape(kernels.shape, geometry));
    for_each_output(sums.shape, [&](OutputPoint point) {
        std::int64_t sum = 0;
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            sum = saturate(sum + element_sum(padded, kernels, point, blocks.block(b)),
                           accumulator.bits);
        }
        sums.at(point.k, point.y, point.x) = sum;
    });
    return sums;
}

template Tensor<std::int64_t> convolve_plain(const Tensor<std::int8_t>&,
                                             const Kernels<std::int8_t>&, const Convolution&);
template Tensor<std::int64_t> convolve_plain(const Tensor<std::int16_t>&,
                                             const Kernels<std::int16_t>&, const Convolution&);
template std::int64_t partial_sum_bound(const Kernels<std::int8_t>&);
template std::int64_t partial_sum_bound(const Kernels<std::int16_t>&);
template Tensor<std::int64_t> convolve_saturating(const Tensor<std::int8_t>&,
                                                  const Kernels<std::int8_t>&, const Convolution&,
                                                  const Accumulator&);
template Tensor<std::int64_t> convolve_saturating(const Tensor<std::int16_t>&,
                                                  const Kernels<std::int16_t>&, const Convolution&,
                                                  const Accumulator&);

}  // namespace npuscope
