// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "models/arith/convolve_simd.h"
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
std::vector<std::int16_t> arrange_weights(const Kernels<T>& kernels) {
    const KernelShape& shape = kernels.shape;
    const std::size_t taps = std::size_t{shape.rows} * shape.columns;
    const std::size_t pairs = divide_up(shape.channels, 2);
    const std::size_t blocks = divide_up(shape.kernels, kernel_block);
    std::vector<std::int16_t> values(blocks * pairs * taps * kernel_block * 2, 0);
    const T* from = kernels.values.data();
    for (std::size_t k = 0; k < shape.kernels; ++k) {
        for (std::size_t c = 0; c < shape.channels; ++c) {
            const std::size_t first = (k / kernel_block * pairs + c / 2) * taps;
            for (std::size_t tap = 0; tap < taps; ++tap) {
                values[((first + tap) * kernel_block + k % kernel_block) * 2 + c % 2] =
                    widened(*from++);
            }
        }
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
template std::vector<std::int16_t> arrange_weights(const Kernels<std::int8_t>&);
template std::vector<std::int16_t> arrange_weights(const Kernels<std::int16_t>&);
template Columns gather_columns(const Tensor<std::int8_t>&, const KernelShape&, const Convolution&);
template Columns gather_columns(const Tensor<std::int16_t>&, const KernelShape&,
                                const Convolution&);

}  // namespace npuscope
