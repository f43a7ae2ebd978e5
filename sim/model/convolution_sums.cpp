// SPDX-License-Identifier: Apache-2.0
#include "sim/model/convolution_sums.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/model/operand_reading.h"

namespace npuscope::host {
namespace {

std::size_t unsigned_of(std::int64_t value) { return static_cast<std::size_t>(value); }

/// Outputs 0 <= o < axis.out whose tap `r` lies inside the input: first and one past the last.
struct TapRange {
    std::int64_t first;
    std::int64_t end;
    std::int64_t offset;  ///< of the input below output 0
};
TapRange range_of_tap(const WindowAxis& axis, std::int64_t tap) {
    const std::int64_t offset = tap * axis.dilation - axis.pad_begin;
    const std::int64_t first = offset >= 0 ? 0 : (-offset + axis.stride - 1) / axis.stride;
    const std::int64_t last = axis.in - 1 - offset;  // largest o * stride
    const std::int64_t end = last < 0 ? 0 : std::min(axis.out, last / axis.stride + 1);
    return {first, std::max(first, end), offset};
}

/// Adds one plane of data times one tap's weight to one plane of sums, for all taps.
class PlaneConvolver {
 public:
    explicit PlaneConvolver(const Window& window)
        : height_(window.height()), width_(window.width()) {}

    std::size_t in_plane() const { return unsigned_of(height_.in * width_.in); }
    std::size_t out_plane() const { return unsigned_of(height_.out * width_.out); }
    std::size_t taps() const { return unsigned_of(height_.kernel * width_.kernel); }

    void add(const double* data, double data_zero, const double* weights, double weight_zero,
             double* sums) const {
        for (std::int64_t r = 0; r < height_.kernel; ++r) {
            for (std::int64_t s = 0; s < width_.kernel; ++s) {
                const double weight = weights[r * width_.kernel + s] - weight_zero;
                if (weight != 0) {
                    add_tap({range_of_tap(height_, r), range_of_tap(width_, s)}, data, data_zero,
                            weight, sums);
                }
            }
        }
    }

 private:
    struct Tap {
        TapRange y;
        TapRange x;
    };
    void add_tap(const Tap& tap, const double* data, double data_zero, double weight,
                 double* sums) const {
        for (std::int64_t y = tap.y.first; y < tap.y.end; ++y) {
            const double* row = data + (y * height_.stride + tap.y.offset) * width_.in;
            double* out = sums + y * width_.out;
            for (std::int64_t x = tap.x.first; x < tap.x.end; ++x) {
                out[x] += (row[x * width_.stride + tap.x.offset] - data_zero) * weight;
            }
        }
    }

    WindowAxis height_;
    WindowAxis width_;
};

}  // namespace

Window checked_window(const GraphNode& node, const Sizes& data, const Sizes& weights) {
    require(weights.size() == data.size() && weights.size() >= 3,
            fmt::format("weights of {} do not fit an input of {}", sizes_text(weights),
                        sizes_text(data)),
            "inputs are NC.., weights KC..");
    const std::int64_t groups = node.integer("group", 1);
    require(groups >= 1, fmt::format("{} groups", groups), "attribute 'group' is 1 or more");
    require(data[1] % groups == 0 && data[1] / groups == weights[1],
            fmt::format("weights of {} take {} channels per group; its input has {} in {} groups",
                        sizes_text(weights), weights[1], data[1], groups),
            "both must agree");
    require(weights[0] >= 1 && weights[0] % groups == 0,
            fmt::format("{} kernels in {} groups", weights[0], groups),
            "every group has as many kernels");
    return conv_window(node, data, Sizes(weights.begin() + 2, weights.end()));
}

Sizes conv_sizes(const GraphNode& node, const Sizes& data, const Sizes& weights) {
    const Window window = checked_window(node, data, weights);
    Sizes sizes{data[0], weights[0]};
    for (const WindowAxis& axis : window.axes) {
        sizes.push_back(axis.out);
    }
    return sizes;
}

std::vector<double> conv_sums(const GraphNode& node, const GraphValue& data,
                              const GraphValue& weights, const std::vector<double>& bias,
                              const ZeroPoints& zero) {
    const Sizes& in = data.type.sizes;
    const Window window = checked_window(node, in, weights.type.sizes);
    require(window.is_plane(), "the host has no convolution in three directions", "use one or two");
    const PlaneConvolver plane(window);
    const std::size_t kernels = unsigned_of(weights.type.sizes[0]);
    const std::size_t channels = unsigned_of(weights.type.sizes[1]);  // of a group
    const std::size_t per_group = kernels / unsigned_of(node.integer("group", 1));
    const std::size_t all_channels = unsigned_of(in[1]);
    std::vector<double> sums(unsigned_of(in[0]) * kernels * plane.out_plane(), 0.0);
    for (std::size_t n = 0; n < unsigned_of(in[0]); ++n) {
        for (std::size_t k = 0; k < kernels; ++k) {
            double* out = sums.data() + (n * kernels + k) * plane.out_plane();
            std::fill_n(out, plane.out_plane(), bias.empty() ? 0.0 : bias[k]);
            const double weight_zero = zero.weight[zero.weight.size() == 1 ? 0 : k];
            for (std::size_t c = 0; c < channels; ++c) {
                const std::size_t channel = k / per_group * channels + c;
                plane.add(data.numbers.data() + (n * all_channels + channel) * plane.in_plane(),
                          zero.data, weights.numbers.data() + (k * channels + c) * plane.taps(),
                          weight_zero, out);
            }
        }
    }
    return sums;
}

}  // namespace npuscope::host
