// SPDX-License-Identifier: Apache-2.0
#include "models/layout/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "models/base/check.h"
#include "models/base/error.h"

namespace npuscope {

namespace {

constexpr std::uint64_t largest_tensor = std::uint64_t{1} << 48;

/// Largest offset that steps of a part reach, in bytes (high/low: scalars).
std::int64_t last_offset(const Layout& layout, const LayoutPart& part) {
    std::int64_t last = part.base;
    for (const LayoutStep& step : part.steps) {
        if (step.pitch <= 0) {
            continue;  // reversed: its base stands at the far end
        }
        const std::uint64_t top = (part.box[step.axis].last - 1) / step.divide;
        const bool wraps =
            step.modulo != 0 &&
            (part.box[step.axis].first / step.divide) / step.modulo != top / step.modulo;
        const std::uint64_t value =
            step.modulo == 0 ? top : (wraps ? step.modulo - 1 : top % step.modulo);
        last += static_cast<std::int64_t>(value) * step.pitch;
    }
    NPU_CHECK(last >= 0, "no element lies in front of its surface: " + layout.sentence);
    return last;
}

}  // namespace

std::uint64_t LogicalShape::elements() const {
    std::uint64_t product = 1;
    for (const AxisExtent& axis : axes) {
        product *= axis.extent;
    }
    return product;
}

std::size_t LogicalShape::find(char axis) const {
    return static_cast<std::size_t>(std::ranges::find(axes, axis, &AxisExtent::axis) -
                                    axes.begin());
}

std::uint64_t LogicalShape::extent(char axis) const {
    const std::size_t found = find(axis);
    return found == axes.size() ? 1 : axes[found].extent;
}

void require_sane(const LogicalShape& shape) {
    std::uint64_t product = 1;
    for (const AxisExtent& axis : shape.axes) {
        if (axis.extent == 0) {
            throw ConfigError(
                fmt::format("axis {} of shape {} is empty", axis.axis, to_string(shape)),
                "every axis has at least one element");
        }
        if (axis.extent >= largest_tensor / product) {
            throw ConfigError(fmt::format("shape {} has 2^48 elements or more", to_string(shape)));
        }
        product *= axis.extent;
    }
}

LogicalShape parse_shape(std::string_view text, std::string_view letters) {
    LogicalShape shape;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    for (const char letter : letters) {
        std::uint64_t extent = 0;
        const auto result = std::from_chars(at, end, extent);
        const bool last = shape.axes.size() + 1 == letters.size();
        const bool ends = result.ptr == end;
        if (result.ec != std::errc() || ends != last || (!ends && *result.ptr != 'x')) {
            throw ConfigError(fmt::format("shape '{}' does not give the {} extents {}", text,
                                          letters.size(), letters),
                              "numbers joined by x, e.g. 1x3x224x224");
        }
        shape.axes.push_back({letter, extent});
        at = result.ptr + (ends ? 0 : 1);
    }
    require_sane(shape);
    return shape;
}

std::string to_string(const LogicalShape& shape) {
    std::string text;
    for (const AxisExtent& axis : shape.axes) {
        text += fmt::format("{}{}{}", text.empty() ? "" : " ", axis.axis, axis.extent);
    }
    return text;
}

bool LayoutPart::holds(std::span<const std::uint64_t> index) const {
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
        if (index[axis] < box[axis].first || index[axis] >= box[axis].last) {
            return false;
        }
    }
    return true;
}

std::int64_t LayoutPart::offset(std::span<const std::uint64_t> index) const {
    std::int64_t sum = base;
    for (const LayoutStep& step : steps) {
        const std::uint64_t quotient = index[step.axis] / step.divide;
        const std::uint64_t value = step.modulo == 0 ? quotient : quotient % step.modulo;
        sum += static_cast<std::int64_t>(value) * step.pitch;
    }
    return sum;
}

const LayoutPart& Layout::part_of(std::span<const std::uint64_t> index) const {
    NPU_CHECK(index.size() == shape.axes.size(), "an index has one number for each axis");
    for (const LayoutPart& part : parts) {
        if (part.holds(index)) {
            return part;
        }
    }
    fail_check("part holds index", "every element lies in a part of " + sentence, __FILE__,
               __LINE__);
}

std::uint64_t Layout::address(std::span<const std::uint64_t> index) const {
    const auto offset = static_cast<std::uint64_t>(part_of(index).offset(index));
    // source: Kneron page "Convert ONNX & NPU Data", high/low index
    return code == ElementCode::HighLow ? offset / 16 * 32 + offset % 16 : offset;
}

Layout plain_layout(const LogicalShape& shape, std::uint32_t element, std::string_view order) {
    LayoutSentence sentence;
    for (const AxisExtent& axis : shape.axes) {
        sentence.push_back({.axis = axis.axis});
    }
    if (!order.empty()) {
        sentence.clear();
        for (const char axis : order) {
            sentence.push_back({.axis = axis});
        }
    }
    return bind(sentence, shape, {.name = "plain", .element = element});
}

bool advance(std::vector<std::uint64_t>& index, const LogicalShape& shape) {
    for (std::size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < shape.axes[axis].extent) {
            return true;
        }
        index[axis] = 0;
    }
    return false;
}

void finish_layout(Layout& layout) {
    const bool split = layout.code == ElementCode::HighLow;
    const std::uint64_t unit = split ? 1 : layout.element;
    std::uint64_t end = 0;
    for (const LayoutPart& part : layout.parts) {
        const std::uint64_t bytes = part.field.width == 0 ? unit : 4;
        end = std::max(end, static_cast<std::uint64_t>(last_offset(layout, part)) + bytes);
    }
    layout.used = split ? (end + 15) / 16 * 32 : end;
    NPU_CHECK(layout.used <= layout.bytes, "a surface covers its elements: " + layout.sentence);
}

}  // namespace npuscope
