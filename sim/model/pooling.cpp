// SPDX-License-Identifier: Apache-2.0
// Maxima, means and norms over windows and over entire planes; MaxUnpool, and Col2Im, which adds
// up the blocks of a map.
// source: ONNX operator definitions, opset 7 to 24
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/model/operator_parts.h"
#include "sim/model/window.h"

namespace npuscope::host {
namespace {

/// Input elements of one window: the positions in the volume of those inside the input, and the
/// number of those in the padded input.
struct Taps {
    std::vector<std::int64_t> inside;
    std::int64_t padded = 0;
};

/// A spatial position: slice, row and column.
using Place = std::array<std::int64_t, 3>;

/// Taps of a window along one axis, whose first element is at `first`.
struct AxisTaps {
    AxisTaps(const WindowAxis& axis, std::int64_t first) {
        const auto before = [&](std::int64_t place) {
            const std::int64_t taps = (place - first + axis.dilation - 1) / axis.dilation;
            return std::clamp<std::int64_t>(place > first ? taps : 0, 0, axis.kernel);
        };
        begin = before(0);
        end = before(axis.in);
        padded = before(axis.in + axis.pad_end);
    }

    std::int64_t begin;   ///< the first tap inside the input
    std::int64_t end;     ///< after the last one
    std::int64_t padded;  ///< taps in the padded input
};

/// Taps of the window whose first element is at `first`.
Taps taps_of(const Window& window, const Place& first) {
    const WindowAxis depth = window.depth();
    const WindowAxis height = window.height();
    const WindowAxis width = window.width();
    const AxisTaps slices(depth, first[0]);
    const AxisTaps rows(height, first[1]);
    const AxisTaps columns(width, first[2]);
    Taps taps;
    taps.padded = slices.padded * rows.padded * columns.padded;
    for (std::int64_t i = slices.begin; i < slices.end; ++i) {
        const std::int64_t slice = first[0] + i * depth.dilation;
        for (std::int64_t j = rows.begin; j < rows.end; ++j) {
            const std::int64_t row = slice * height.in + first[1] + j * height.dilation;
            for (std::int64_t k = columns.begin; k < columns.end; ++k) {
                taps.inside.push_back(row * width.in + first[2] + k * width.dilation);
            }
        }
    }
    return taps;
}

Types pool_types(const Operands& operands) {
    const Sizes& in = operands.sizes(0);
    Sizes out{in.begin(), in.begin() + std::min<std::ptrdiff_t>(2, std::ssize(in))};
    for (const WindowAxis& axis : pool_window(operands.node, in).axes) {
        out.push_back(axis.out);
    }
    return {{operands.element(0), out}};
}

/// Calls `reduce(volume, taps, result)` for every result: the input's volume of its channel, and
/// the index of the result.
template <class Reduce>
void each_window(const Operands& operands, Reduce reduce) {
    const GraphValue& input = operands.at(0);
    const Window window = pool_window(operands.node, input.type.sizes);
    const auto results = static_cast<std::int64_t>(
        count_elements(pool_types(operands).front().sizes, most_made_elements));
    std::vector<std::uint64_t> work{unsigned_of(results)};
    for (const WindowAxis& axis : window.axes) {
        work.push_back(unsigned_of(std::min(axis.kernel, axis.in)));
    }
    require_work(work);
    const auto first = [](const WindowAxis& axis, std::int64_t out) {
        return out * axis.stride - axis.pad_begin;
    };
    for (std::int64_t i = 0; i < results; ++i) {
        const double* volume = input.numbers.data() + i / window.out_volume() * window.in_volume();
        const std::int64_t at = i % window.out_volume();
        const Place place{first(window.depth(), at / window.out_area()),
                          first(window.height(), at % window.out_area() / window.width().out),
                          first(window.width(), at % window.width().out)};
        reduce(volume, taps_of(window, place), unsigned_of(i));
    }
}

// results: the maxima, and their positions in the whole input
Types max_pool_types(const Operands& operands) {
    const Types types = pool_types(operands);
    return {types.front(), {ElementType::Int64, types.front().sizes}};
}

/// A position of a volume counted with the first spatial dimension fastest.
std::int64_t by_columns(const Window& window, std::int64_t at) {
    const std::int64_t slice = at / window.in_area();
    const std::int64_t row = at % window.in_area() / window.width().in;
    const std::int64_t column = at % window.width().in;
    return slice + window.depth().in * (row + window.height().in * column);
}

Values max_pool(const Operands& operands) {
    const Types types = max_pool_types(operands);
    const std::int64_t order = operands.node.integer("storage_order", 0);
    require(order == 0 || order == 1, fmt::format("storage_order is {}", order),
            "it must be 0 or 1");
    const Window window = pool_window(operands.node, operands.sizes(0));
    Values results{zeros(types[0]), zeros(types[1])};
    each_window(operands, [&](const double* volume, const Taps& taps, std::size_t i) {
        const auto best = std::ranges::max_element(
            taps.inside,
            [volume](std::int64_t a, std::int64_t b) { return volume[a] < volume[b]; });
        results[0].numbers[i] = volume[*best];
        const auto begin = static_cast<std::int64_t>(i) / window.out_volume() * window.in_volume();
        results[1].numbers[i] =
            static_cast<double>(begin + (order == 0 ? *best : by_columns(window, *best)));
    });
    return results;
}

Values average_pool(const Operands& operands) {
    const bool count_padding = operands.node.integer("count_include_pad", 0) != 0;
    GraphValue result = zeros(pool_types(operands).front());
    each_window(operands, [&](const double* volume, const Taps& taps, std::size_t i) {
        double sum = 0;
        for (const std::int64_t at : taps.inside) {
            sum += volume[at];
        }
        const std::int64_t count = count_padding ? taps.padded : std::ssize(taps.inside);
        result.numbers[i] = count == 0 ? 0.0 : sum / static_cast<double>(count);
    });
    return {std::move(result)};
}

/// The exponent of a norm.
double exponent_of(const GraphNode& node) {
    const std::int64_t p = node.integer("p", 2);
    require(p >= 1, fmt::format("p is {}", p), "it must be 1 or more");
    return static_cast<double>(p);
}

Values norm_pool(const Operands& operands) {
    const double p = exponent_of(operands.node);
    GraphValue result = zeros(pool_types(operands).front());
    each_window(operands, [&](const double* volume, const Taps& taps, std::size_t i) {
        double sum = 0;
        for (const std::int64_t at : taps.inside) {
            sum += std::pow(std::abs(volume[at]), p);
        }
        result.numbers[i] = std::pow(sum, 1 / p);
    });
    return {std::move(result)};
}

template <class Reduce>
Values global_pool(const Operands& operands, Reduce reduce) {
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    require(in.size() >= 3, fmt::format("its input {} has no plane", sizes_text(in)),
            "inputs must be NC..");
    Sizes out(in.size(), 1);
    out[0] = in[0];
    out[1] = in[1];
    const std::size_t plane = steps_of(in)[1];
    return {fill({input.type.element, out}, [&](std::size_t i) {
        const auto begin = input.numbers.begin() + static_cast<std::ptrdiff_t>(i * plane);
        return reduce(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(plane)));
    })};
}

Values global_max_pool(const Operands& operands) {
    return global_pool(operands, [](const std::vector<double>& values) {
        return values.empty() ? -std::numeric_limits<double>::infinity()
                              : *std::ranges::max_element(values);
    });
}

Values global_average_pool(const Operands& operands) {
    return global_pool(operands, [](const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0) /
               static_cast<double>(values.size());
    });
}

Values global_norm_pool(const Operands& operands) {
    const double p = exponent_of(operands.node);
    return global_pool(operands, [p](const std::vector<double>& values) {
        double sum = 0;
        for (const double value : values) {
            sum += std::pow(std::abs(value), p);
        }
        return std::pow(sum, 1 / p);
    });
}

/// The sizes of the map that a pool with the node's attributes reduced to the operand's.
Sizes unpooled_sizes(const Operands& operands) {
    const GraphNode& node = operands.node;
    const Sizes& in = operands.sizes(0);
    const std::vector<std::int64_t> kernel = node.integers("kernel_shape");
    require(in.size() >= 3 && kernel.size() == in.size() - 2,
            fmt::format("a kernel of {} does not fit an input of {}", sizes_text(kernel),
                        sizes_text(in)),
            "give one size per spatial dimension");
    const auto strides = per_axis(node, "strides", kernel.size(), 1);
    const auto pads = per_axis(node, "pads", 2 * kernel.size(), 0);
    Sizes out = in;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
        require(kernel[i] >= 1 && kernel[i] <= most_elements, "a kernel size is out of range",
                fmt::format("sizes must be 1 to {}", most_elements));
        out[i + 2] = (in[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[i + kernel.size()];
    }
    count_elements(out, most_made_elements);
    return out;
}

// operands: maxima, their positions, sizes of the result
Types unpool_types(const Operands& operands) {
    const Sizes pooled = unpooled_sizes(operands);
    require(operands.sizes(1) == operands.sizes(0), "its indices do not have its input's sizes",
            "give one index per element");
    const Sizes out = operands.has(2) ? integers_of(operands.at(2)) : pooled;
    require(out.size() == pooled.size(), "its output_shape has a wrong length",
            fmt::format("give {} sizes", pooled.size()));
    return {{operands.element(0), out}};
}

/// Positions count through the pool's map, also where the result is larger.
Values max_unpool(const Operands& operands) {
    GraphValue result = zeros(unpool_types(operands).front());
    const Sizes& out = result.type.sizes;
    const Sizes pooled = unpooled_sizes(operands);
    const auto elements = static_cast<std::int64_t>(count_elements(pooled));
    const std::vector<std::size_t> from = steps_of(pooled);
    const std::vector<std::size_t> to = steps_of(out);
    for (std::size_t i = 0; i < operands.at(0).numbers.size(); ++i) {
        const std::int64_t index = to_integer(operands.at(1).numbers[i]);
        require(index >= 0 && index < elements, fmt::format("index {} does not exist", index),
                fmt::format("indices are 0 to {}", elements - 1));
        std::size_t place = 0;
        for (std::size_t axis = 0; axis < out.size(); ++axis) {
            const std::size_t at = unsigned_of(index) / from[axis] % unsigned_of(pooled[axis]);
            require(at < unsigned_of(out[axis]),
                    fmt::format("index {} lies outside its output of {}", index, sizes_text(out)),
                    "take a larger output_shape");
            place += at * to[axis];
        }
        result.numbers[place] = operands.at(0).numbers[i];
    }
    return {std::move(result)};
}

/// The window that blocks were cut from a map with. `operands`: blocks N C*block L, sizes of the
/// map, sizes of a block.
Window block_window(const Operands& operands) {
    const Sizes map = integers_of(operands.at(1));
    const Sizes block = integers_of(operands.at(2));
    require(!map.empty() && map.size() <= 3 && block.size() == map.size(),
            fmt::format("blocks of {} numbers in a map of {}", block.size(), map.size()),
            "give one to three sizes for both");
    const auto strides = per_axis(operands.node, "strides", map.size(), 1);
    const auto dilations = per_axis(operands.node, "dilations", map.size(), 1);
    const auto pads = per_axis(operands.node, "pads", 2 * map.size(), 0);
    Window window;
    for (std::size_t i = 0; i < map.size(); ++i) {
        require(
            map[i] >= 1 && map[i] <= most_elements && block[i] >= 1 && block[i] <= most_elements,
            "a size is out of range", fmt::format("sizes must be 1 to {}", most_elements));
        WindowAxis axis{
            map[i], 1, block[i], strides[i], dilations[i], pads[i], pads[i + map.size()]};
        const std::int64_t room = axis.in + axis.pad_begin + axis.pad_end - axis.span();
        require(room >= 0, "a block exceeds its padded map", "take smaller blocks");
        axis.out = room / axis.stride + 1;
        window.axes.push_back(axis);
    }
    return window;
}

Types unblocked_types(const Operands& operands) {
    const Window window = block_window(operands);
    const Sizes& in = operands.sizes(0);
    count_elements(integers_of(operands.at(1)), most_made_elements);
    count_elements(integers_of(operands.at(2)), most_made_elements);
    const std::size_t blocks =
        count_elements({window.depth().out, window.height().out, window.width().out});
    require(in.size() == 3 && in[1] % window.kernel_volume() == 0 && unsigned_of(in[2]) == blocks,
            fmt::format("its input is {}", sizes_text(in)),
            "it must be the batch, channels times the elements of a block, and blocks");
    Sizes out{in[0], in[1] / window.kernel_volume()};
    for (const WindowAxis& axis : window.axes) {
        out.push_back(axis.in);
    }
    return {{operands.element(0), out}};
}

Values add_blocks(const Operands& operands) {
    const Window window = block_window(operands);
    GraphValue result = zeros(unblocked_types(operands).front());
    const std::array axes{window.depth(), window.height(), window.width()};
    const auto& numbers = operands.at(0).numbers;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        std::int64_t block = at % window.out_volume();
        std::int64_t tap = at / window.out_volume() % window.kernel_volume();
        std::int64_t place = 0;
        std::int64_t step = 1;
        bool inside = true;
        for (std::size_t k = axes.size(); k-- > 0;) {
            const WindowAxis& axis = axes[k];
            const std::int64_t own =
                block % axis.out * axis.stride + tap % axis.kernel * axis.dilation - axis.pad_begin;
            inside = inside && own >= 0 && own < axis.in;
            place += own * step;
            step *= axis.in;
            block /= axis.out;
            tap /= axis.kernel;
        }
        const std::int64_t channel = at / window.out_volume() / window.kernel_volume();
        if (inside) {
            result.numbers[unsigned_of(channel * window.in_volume() + place)] += numbers[i];
        }
    }
    return {std::move(result)};
}

}  // namespace

std::span<const OperatorRow> pooling_operators() {
    static constexpr std::array rows{
        row("MaxPool", {1, 1}, max_pool) | same_types | inferring(max_pool_types) | moves |
            attributes("auto_pad ceil_mode dilations kernel_shape pads storage_order strides"),
        row("AveragePool", {1, 1}, average_pool) | float_types | inferring(pool_types) |
            attributes("auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"),
        row("LpPool", {1, 1}, norm_pool) | float_types | inferring(pool_types) |
            attributes("auto_pad ceil_mode dilations kernel_shape p pads strides"),
        row("GlobalMaxPool", {1, 1}, global_max_pool) | float_types | first_range,
        row("GlobalAveragePool", {1, 1}, global_average_pool) | float_types,
        row("GlobalLpPool", {1, 1}, global_norm_pool) | float_types | attributes("p"),
        row("MaxUnpool", {2, 3}, max_unpool) | inferring(unpool_types) |
            attributes("kernel_shape pads strides") | sized_by(2),
        row("Col2Im", {3, 3}, add_blocks) | inferring(unblocked_types) |
            attributes("dilations pads strides") | sized_by(1, 2)};
    return rows;
}

}  // namespace npuscope::host
