// SPDX-License-Identifier: Apache-2.0
#include "models/layout/stride_descriptor.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"

namespace npuscope {

namespace {

constexpr std::uint64_t group_channels = 16;  // source: Kneron page, outer channel group format
constexpr std::uint64_t largest_stride = std::uint64_t{1} << 44;

void require_strides(const StrideDescriptor& descriptor) {
    require_sane(descriptor.shape);
    const std::size_t axes = descriptor.shape.axes.size();
    if (descriptor.stride_npu.size() != axes) {
        throw ConfigError(fmt::format(
            "{} stride{} for the {} axes of {}", descriptor.stride_npu.size(),
            descriptor.stride_npu.size() == 1 ? "" : "s", axes, to_string(descriptor.shape)));
    }
    for (std::size_t axis = 0; axis < axes; ++axis) {
        const std::uint64_t stride = descriptor.stride_npu[axis];
        const AxisExtent& extent = descriptor.shape.axes[axis];
        if (stride > largest_stride || (stride == 0 && extent.extent > 1)) {
            throw ConfigError(fmt::format("axis {} of {} elements has stride {}", extent.axis,
                                          extent.extent, stride),
                              fmt::format("strides must be 1 to {}", largest_stride));
        }
    }
}

/// Bytes (high/low: scalars) of a step along an axis.
std::uint64_t pitch_of(const StrideDescriptor& descriptor, std::size_t axis) {
    const std::uint64_t unit = descriptor.code == ElementCode::HighLow ? 1 : descriptor.element;
    return descriptor.stride_npu[axis] * unit;
}

Layout bind_plain(const StrideDescriptor& descriptor) {
    LayoutSentence sentence;
    for (std::size_t axis = 0; axis < descriptor.shape.axes.size(); ++axis) {
        sentence.push_back(
            {.axis = descriptor.shape.axes[axis].axis, .pitch = pitch_of(descriptor, axis)});
    }
    return bind(sentence, descriptor.shape,
                {.name = descriptor.name, .element = descriptor.element, .code = descriptor.code});
}

Layout bind_groups(const StrideDescriptor& descriptor, std::size_t channel, std::uint64_t group) {
    const std::uint64_t unit = descriptor.code == ElementCode::HighLow ? 1 : descriptor.element;
    const char letter = descriptor.shape.axes[channel].axis;
    if (group == 0) {
        throw ConfigError("the channel-group stride is 0");
    }
    LayoutSentence sentence{{.axis = letter, .divide = group_channels, .pitch = group * unit}};
    for (std::size_t axis = 0; axis < descriptor.shape.axes.size(); ++axis) {
        if (axis != channel) {
            sentence.push_back(
                {.axis = descriptor.shape.axes[axis].axis, .pitch = pitch_of(descriptor, axis)});
        }
    }
    sentence.push_back({.axis = letter, .modulo = group_channels, .pitch = unit});
    return bind(sentence, descriptor.shape,
                {.name = descriptor.name, .element = descriptor.element, .code = descriptor.code});
}

}  // namespace

GroupStrides group_strides(const StrideDescriptor& descriptor) {
    require_strides(descriptor);
    const std::vector<AxisExtent>& axes = descriptor.shape.axes;
    GroupStrides found{axes.size(), 0, 0};
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        if (descriptor.stride_npu[axis] != 1) {
            continue;
        }
        if (found.channel_axis != axes.size() && axes[axis].extent > 1 &&
            axes[found.channel_axis].extent > 1) {
            throw ConfigError(fmt::format("axes {} and {} are both longer than 1 and have stride 1",
                                          axes[found.channel_axis].axis, axes[axis].axis));
        }
        if (found.channel_axis == axes.size() ||
            axes[axis].extent > axes[found.channel_axis].extent) {
            found.channel_axis = axis;
        }
    }
    if (found.channel_axis == axes.size()) {
        throw ConfigError("no axis has stride 1: there are no channel groups",
                          "layouts with outer channel groups must have stride 1 on the channels");
    }
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const std::uint64_t span = descriptor.stride_npu[axis] * axes[axis].extent;
        if (descriptor.stride_npu[axis] != 1) {
            found.reader = std::max(found.reader, span);
        }
        if (axis != found.channel_axis && axes[axis].extent > 1) {
            found.extent = std::max(found.extent, span);
        }
    }
    found.extent = std::max(found.extent, group_channels);
    return found;
}

DescriptorLayout bind_descriptor(const StrideDescriptor& descriptor, GroupRule rule) {
    require_strides(descriptor);
    if (!descriptor.outer_groups) {
        return {bind_plain(descriptor), ""};
    }
    const GroupStrides group = group_strides(descriptor);
    const bool many = descriptor.shape.axes[group.channel_axis].extent > group_channels;
    std::string ambiguity;
    if (many && group.reader != group.extent) {
        ambiguity = fmt::format(
            "ambiguous strides of {}: the vendor's rule gives a channel-group stride of {} "
            "elements, the axes longer than 1 give {}; {} is right if the batch stride covers all "
            "groups or unit axes have stride 1, {} if a single row is padded",
            descriptor.name, group.reader, group.extent, group.extent, group.reader);
    }
    const std::uint64_t chosen = rule == GroupRule::Reader ? group.reader : group.extent;
    try {
        const std::uint64_t harmless = std::max(chosen, group_channels);
        return {bind_groups(descriptor, group.channel_axis, many ? chosen : harmless), ambiguity};
    } catch (const ConfigError&) {
        if (rule == GroupRule::Extent || ambiguity.empty()) {
            throw;
        }
    }
    ambiguity += fmt::format("; a stride of {} would make elements overlap, so {} is used",
                             group.reader, group.extent);
    return {bind_groups(descriptor, group.channel_axis, group.extent), ambiguity};
}

std::vector<std::uint64_t> strides_of(const Layout& layout) {
    const std::uint64_t unit = layout.code == ElementCode::HighLow ? 1 : layout.element;
    std::vector<std::uint64_t> strides(layout.shape.axes.size(), 0);
    if (layout.parts.size() != 1) {
        return {};
    }
    for (const LayoutStep& step : layout.parts.front().steps) {
        if (step.pitch < 0) {
            return {};
        }
        if (step.divide == 1) {
            strides[step.axis] = static_cast<std::uint64_t>(step.pitch) / unit;
        }
    }
    return strides;
}

}  // namespace npuscope
