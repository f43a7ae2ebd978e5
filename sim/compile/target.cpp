// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/target.h"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope {

std::size_t NodeGroup::last_node() const { return *std::ranges::max_element(nodes); }

NodeGroup pattern_group(Candidate candidate) {
    NodeGroup group;
    group.pattern = std::string(enum_name(candidate.pattern));
    group.anchor = candidate.anchor;
    group.nodes = candidate.nodes;
    group.output = candidate.output;
    group.cube = candidate.out;
    group.reads.push_back({candidate.input, candidate.in, candidate.anchor});
    if (!candidate.norm.residual.empty()) {
        group.reads.push_back(
            {candidate.norm.residual, candidate.out, candidate.norm.residual_node});
    }
    group.layer = std::move(candidate);
    return group;
}

std::string Target::configuration(const NodeGroup& group) const {
    return fmt::format("input {}, output {}{}", hwc_text(group.reads.front().cube),
                       hwc_text(group.cube),
                       group.layer ? fmt::format(", {}", window_text(*group.layer)) : "");
}

std::string hwc_text(const Sizes& cube) {
    return fmt::format("[H,W,C] = [{},{},{}]", cube[2], cube[3], cube[1]);
}

std::string window_text(const Candidate& candidate) {
    const WindowAxis height = candidate.window.height();
    const WindowAxis width = candidate.window.width();
    return fmt::format("kernel {}x{}, strides {}x{}, padding {}, dilation {}x{}, groups {}",
                       height.kernel, width.kernel, height.stride, width.stride,
                       padding_text(candidate.window), height.dilation, width.dilation,
                       candidate.groups);
}

std::string padding_text(const Window& window) {
    const WindowAxis height = window.height();
    const WindowAxis width = window.width();
    return fmt::format("t{} l{} b{} r{}", height.pad_begin, width.pad_begin, height.pad_end,
                       width.pad_end);
}

}  // namespace npuscope
