// SPDX-License-Identifier: Apache-2.0
// Pools over windows, and over all of a plane.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sim/model/operator_parts.h"
#include "sim/model/window.h"

namespace npuscope::host {
namespace {

/// Input elements of one window: those inside the input, and how many lie in the padded input.
struct Taps {
    std::vector<double> inside;
    std::int64_t padded = 0;
};

class WindowReader {
 public:
    explicit WindowReader(const Window& window)
        : height_(window.height()), width_(window.width()) {}

    template <class Reduce>
    void reduce(const double* plane, double* out, Reduce reduce) {
        for (std::int64_t y = 0; y < height_.out; ++y) {
            for (std::int64_t x = 0; x < width_.out; ++x) {
                gather(plane, y * height_.stride - height_.pad_begin,
                       x * width_.stride - width_.pad_begin);
                *out++ = reduce(taps_);
            }
        }
    }
    std::size_t in_plane() const { return static_cast<std::size_t>(height_.in * width_.in); }
    std::size_t out_plane() const { return static_cast<std::size_t>(height_.out * width_.out); }

 private:
    void gather(const double* plane, std::int64_t top, std::int64_t left) {
        taps_.inside.clear();
        taps_.padded = 0;
        for (std::int64_t r = 0; r < height_.kernel; ++r) {
            const std::int64_t row = top + r * height_.dilation;
            for (std::int64_t s = 0; s < width_.kernel; ++s) {
                const std::int64_t column = left + s * width_.dilation;
                if (row >= 0 && row < height_.in && column >= 0 && column < width_.in) {
                    taps_.inside.push_back(plane[row * width_.in + column]);
                }
                taps_.padded +=
                    row < height_.in + height_.pad_end && column < width_.in + width_.pad_end;
            }
        }
    }

    WindowAxis height_;
    WindowAxis width_;
    Taps taps_;
};

Types pool_types(const Operands& operands) {
    require(operands.node.outputs.size() == 1 || operands.node.outputs[1].empty(),
            "it gives indices as well", "only the values of a pool are supported");
    const Sizes& in = operands.sizes(0);
    Sizes out{in.begin(), in.begin() + std::min<std::ptrdiff_t>(2, std::ssize(in))};
    for (const WindowAxis& axis : pool_window(operands.node, in).axes) {
        out.push_back(axis.out);
    }
    return {{operands.element(0), out}};
}

template <class Reduce>
Values pool(const Operands& operands, Reduce reduce) {
    const GraphValue& input = operands.at(0);
    const Window window = pool_window(operands.node, input.type.sizes);
    require(window.is_plane(), "the host has no pool in three directions", "use one or two");
    WindowReader reader(window);
    GraphValue result = zeros(pool_types(operands).front());
    const std::size_t planes = result.numbers.size() / reader.out_plane();
    for (std::size_t i = 0; i < planes; ++i) {
        reader.reduce(input.numbers.data() + i * reader.in_plane(),
                      result.numbers.data() + i * reader.out_plane(), reduce);
    }
    return {std::move(result)};
}

template <class Reduce>
Values global_pool(const Operands& operands, Reduce reduce) {
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    require(in.size() >= 3, fmt::format("its input {} has no plane", sizes_text(in)),
            "inputs are NC..");
    Sizes out(in.size(), 1);
    out[0] = in[0];
    out[1] = in[1];
    const std::size_t plane = steps_of(in)[1];
    return {fill({input.type.element, out}, [&](std::size_t i) {
        const auto begin = input.numbers.begin() + static_cast<std::ptrdiff_t>(i * plane);
        return reduce(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(plane)));
    })};
}

double largest_of(const std::vector<double>& values) {
    return values.empty() ? -std::numeric_limits<double>::infinity()
                          : *std::max_element(values.begin(), values.end());
}

double sum_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) {
        sum += value;
    }
    return sum;
}

Values max_pool(const Operands& operands) {
    return pool(operands, [](const Taps& taps) { return largest_of(taps.inside); });
}

Values average_pool(const Operands& operands) {
    const bool count_padding = operands.node.integer("count_include_pad", 0) != 0;
    return pool(operands, [count_padding](const Taps& taps) {
        const std::int64_t count =
            count_padding ? taps.padded : static_cast<std::int64_t>(taps.inside.size());
        return count == 0 ? 0.0 : sum_of(taps.inside) / static_cast<double>(count);
    });
}

Values global_max_pool(const Operands& operands) { return global_pool(operands, largest_of); }

Values global_average_pool(const Operands& operands) {
    return global_pool(operands, [](const std::vector<double>& values) {
        return sum_of(values) / static_cast<double>(values.size());
    });
}

constexpr std::array rows{
    OperatorRow{
        .op = "MaxPool",
        .least = 1,
        .most = 1,
        .types = TypeRule::Same,
        .evaluate = max_pool,
        .infer = pool_types,
        .attributes = "auto_pad ceil_mode dilations kernel_shape pads storage_order strides",
        .range = range_of_first},
    OperatorRow{
        .op = "AveragePool",
        .least = 1,
        .most = 1,
        .types = TypeRule::Float,
        .evaluate = average_pool,
        .infer = pool_types,
        .attributes = "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    OperatorRow{.op = "GlobalMaxPool",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = global_max_pool,
                .range = range_of_first},
    OperatorRow{.op = "GlobalAveragePool",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = global_average_pool}};

}  // namespace

std::span<const OperatorRow> pooling_operators() { return rows; }

}  // namespace npuscope::host
