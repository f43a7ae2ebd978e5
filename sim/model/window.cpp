// SPDX-License-Identifier: Apache-2.0
#include "sim/model/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/quantity.h"
#include "sim/config/text_table.h"
#include "sim/model/operator_parts.h"

namespace npuscope {
namespace {

constexpr std::int64_t largest = std::int64_t{1} << 20U;  // of kernel, stride, padding, dilation

using host::require;

std::vector<WindowAxis> read_axes(const GraphNode& node, const Sizes& input, const Sizes& kernel) {
    require(input.size() >= 3 && input.size() <= 5,
            fmt::format("its input {} has {} spatial dimensions", sizes_text(input),
                        static_cast<std::int64_t>(input.size()) - 2),
            "one to three are supported: inputs are NCW, NCHW or NCDHW");
    const std::size_t count = input.size() - 2;
    require(kernel.size() == count,
            fmt::format("a kernel of {} does not fit an input of {}", sizes_text(kernel),
                        sizes_text(input)),
            "both must have the same number of spatial dimensions");
    if (node.has("kernel_shape")) {
        require(per_axis(node, "kernel_shape", count, 1) == kernel,
                fmt::format("attribute 'kernel_shape' is not that of its weights, {}",
                            sizes_text(kernel)),
                "leave the attribute out");
    }
    const auto strides = per_axis(node, "strides", count, 1);
    const auto dilations = per_axis(node, "dilations", count, 1);
    const auto pads = per_axis(node, "pads", 2 * count, 0);
    std::vector<WindowAxis> axes(count);
    for (std::size_t i = 0; i < count; ++i) {
        require(kernel[i] >= 1 && kernel[i] <= largest,
                fmt::format("{} is not a valid kernel size", kernel[i]), "sizes must be 1 or more");
        axes[i] = {input[i + 2], 1, kernel[i], strides[i], dilations[i], pads[i], pads[i + count]};
    }
    return axes;
}

enum class AutoPad { None, Valid, Upper, Lower };

AutoPad auto_pad(const GraphNode& node) {
    const std::string text = node.text("auto_pad", "NOTSET");
    if (text == "NOTSET" || text.empty()) {
        return AutoPad::None;
    }
    if (text == "VALID") {
        return AutoPad::Valid;
    }
    require(text == "SAME_UPPER" || text == "SAME_LOWER",
            fmt::format("attribute 'auto_pad' is '{}'", text),
            "NOTSET, VALID, SAME_UPPER or SAME_LOWER");
    return text == "SAME_UPPER" ? AutoPad::Upper : AutoPad::Lower;
}

/// Splits a padding in half; the odd element goes to the end (upper) or the beginning (lower).
void share_padding(WindowAxis& axis, std::int64_t total, bool upper) {
    total = std::max<std::int64_t>(total, 0);
    axis.pad_begin = upper ? total / 2 : total - total / 2;
    axis.pad_end = total - axis.pad_begin;
}

void resolve(WindowAxis& axis, AutoPad pad, bool round_up) {
    if (pad == AutoPad::Valid) {
        axis.pad_begin = axis.pad_end = 0;
    } else if (pad != AutoPad::None) {
        const std::int64_t out = (axis.in + axis.stride - 1) / axis.stride;
        share_padding(axis, (out - 1) * axis.stride + axis.span() - axis.in, pad == AutoPad::Upper);
    }
    const std::int64_t room = axis.in + axis.pad_begin + axis.pad_end - axis.span();
    require(room >= 0,
            fmt::format("a kernel that spans {} exceeds its padded input of {}", axis.span(),
                        axis.in + axis.pad_begin + axis.pad_end),
            "take a smaller kernel or more padding");
    axis.out = room / axis.stride + 1;
    if (round_up && room % axis.stride != 0 && axis.out * axis.stride < axis.in + axis.pad_begin) {
        ++axis.out;  // a last window that begins inside the input or before it
    }
}

/// Whether a window of the pool has no element of the input: dilation may step over all of them.
bool has_empty_window(const WindowAxis& axis) {
    for (std::int64_t i = 0; axis.dilation > axis.in && i < axis.out; ++i) {
        const std::int64_t first = i * axis.stride - axis.pad_begin;
        const std::int64_t skipped =
            first < 0 ? (-first + axis.dilation - 1) / axis.dilation : std::int64_t{0};
        if (skipped >= axis.kernel || first + skipped * axis.dilation >= axis.in) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::vector<std::int64_t> per_axis(const GraphNode& node, const std::string& attribute,
                                   std::size_t axes, std::int64_t fallback) {
    const std::int64_t least = attribute == "pads" || attribute == "output_padding" ? 0 : 1;
    std::vector<std::int64_t> values = node.integers(attribute);
    if (!node.has(attribute)) {
        values.assign(axes, fallback);
    }
    require(values.size() == axes,
            fmt::format("attribute '{}' has {} instead of {}", attribute,
                        counted(values.size(), "value"), axes),
            "give one per spatial dimension (two for paddings)");
    for (const std::int64_t value : values) {
        require(value >= least && value <= largest,
                fmt::format("{} is not a valid value of attribute '{}'", value, attribute),
                fmt::format("values must be {} to {}", least, largest));
    }
    return values;
}

Window conv_window(const GraphNode& node, const Sizes& input, const Sizes& kernel) {
    Window window{read_axes(node, input, kernel)};
    for (WindowAxis& axis : window.axes) {
        resolve(axis, auto_pad(node), false);
    }
    return window;
}

Window pool_window(const GraphNode& node, const Sizes& input) {
    const std::vector<std::int64_t> kernel = node.integers("kernel_shape");
    require(!kernel.empty(), "attribute 'kernel_shape' is missing", "add the attribute");
    Window window{read_axes(node, input, kernel)};
    for (WindowAxis& axis : window.axes) {
        resolve(axis, auto_pad(node), node.integer("ceil_mode", 0) != 0);
        require(std::max(axis.pad_begin, axis.pad_end) < axis.span(),
                "a window of the pool lies entirely in the padding",
                "padding must be smaller than the kernel");
        require(!has_empty_window(axis), "a window of the pool has no element of the input",
                "take a smaller dilation or less padding");
    }
    return window;
}

Window transposed_window(const GraphNode& node, const Sizes& input, const Sizes& kernel) {
    Window window{read_axes(node, input, kernel)};
    const std::size_t count = window.axes.size();
    const auto extra = per_axis(node, "output_padding", count, 0);
    const std::vector<std::int64_t> wanted = node.integers("output_shape");
    require(wanted.empty() || wanted.size() == count, "attribute 'output_shape' has a wrong length",
            "give one size per spatial dimension");
    const AutoPad pad = auto_pad(node);
    for (std::size_t i = 0; i < count; ++i) {
        WindowAxis& axis = window.axes[i];
        require(extra[i] < std::max(axis.stride, axis.dilation),
                fmt::format("output_padding {} is not below stride or dilation", extra[i]),
                "choose a smaller one");
        // output_shape may exceed what is covered: the rest holds the bias
        const std::int64_t full = (axis.in - 1) * axis.stride + extra[i] + axis.span();
        if (pad == AutoPad::Valid) {
            axis.pad_begin = axis.pad_end = 0;
        } else if (pad != AutoPad::None || !wanted.empty()) {
            const std::int64_t out = wanted.empty() ? axis.in * axis.stride : wanted[i];
            require(out >= 1 && out <= largest,
                    fmt::format("{} is not a valid size of an output", out),
                    fmt::format("sizes must be 1 to {}", largest));
            share_padding(axis, full - out, pad == AutoPad::Upper);
            axis.pad_end = full - axis.pad_begin - out;
        }
        axis.out = full - axis.pad_begin - axis.pad_end;
        require(axis.out >= 1 && axis.out <= largest,
                fmt::format("its output has {} rows or columns", axis.out),
                "take less padding, or a smaller output_padding");
    }
    return window;
}

}  // namespace npuscope
