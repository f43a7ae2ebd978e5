// SPDX-License-Identifier: Apache-2.0
// Splits max pools with windows beyond the registers of a pooling unit into consecutive ones. The
// maximum of maxima is the overall maximum, so the result is exact:
//
//    stride 1:         windows of a, then of b, span a + b - 1 positions
//    stride s = a t:   windows of a with stride a, then of b with stride t, span a b positions
#include <algorithm>

#include "sim/model/graph_edit.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/window.h"

namespace npuscope {
namespace {

constexpr std::int64_t largest_window = 8;  // source: NVDLA_PDP.rdl, KERNEL_WIDTH_8

/// Windows along one axis in a stage.
struct Stage {
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t pad_begin = 0;
    std::int64_t pad_end = 0;
};

/// Splits off a stage; the remaining window stays in `rest`.
Stage next_stage(WindowAxis& rest) {
    Stage stage;
    // its stride is then free, as long as no second window fits
    const bool one_window =
        rest.out == 1 && rest.pad_begin + rest.pad_end == 0 && rest.in < 2 * rest.kernel;
    const std::int64_t stride = one_window ? rest.kernel : rest.stride;
    for (std::int64_t part = largest_window; part > 1 && rest.pad_begin + rest.pad_end == 0;
         --part) {
        if (rest.kernel % part == 0 && stride % part == 0 && rest.in % part == 0) {
            stage.kernel = stage.stride = part;
            rest.kernel /= part;
            rest.stride = stride / part;
            rest.in /= part;
            return stage;
        }
    }
    stage.kernel = std::min(rest.kernel, largest_window);
    stage.pad_begin = std::min(rest.pad_begin, stage.kernel - 1);
    stage.pad_end = std::min(rest.pad_end, stage.kernel - 1);
    rest.in += stage.pad_begin + stage.pad_end - stage.kernel + 1;
    rest.pad_begin -= stage.pad_begin;
    rest.pad_end -= stage.pad_end;
    rest.kernel -= stage.kernel - 1;
    return stage;
}

Stage last_stage(const WindowAxis& rest) {
    return {rest.kernel, rest.stride, rest.pad_begin, rest.pad_end};
}

bool fits(const WindowAxis& axis) { return axis.kernel <= largest_window; }

GraphNode pool_of(const GraphNode& whole, std::size_t number, const Stage& y, const Stage& x) {
    const std::string name =
        node_name(whole) + (number == 0 ? "" : "/stage_" + std::to_string(number));
    return {"MaxPool",
            name,
            {},
            {name + "_stage"},
            {{"kernel_shape", Sizes{y.kernel, x.kernel}},
             {"strides", Sizes{y.stride, x.stride}},
             {"pads", Sizes{y.pad_begin, x.pad_begin, y.pad_end, x.pad_end}}}};
}

/// A window that does nothing.
constexpr Stage no_stage{};

std::vector<GraphNode> stages_of(const GraphNode& node, const Window& window) {
    WindowAxis height = window.height();
    WindowAxis width = window.width();
    std::vector<GraphNode> stages;
    const auto add = [&](const Stage& y, const Stage& x) {
        GraphNode stage = pool_of(node, stages.size(), y, x);
        stage.inputs = {stages.empty() ? node.inputs.front() : stages.back().outputs.front()};
        stages.push_back(std::move(stage));
    };
    while (!fits(height) || !fits(width)) {
        add(fits(height) ? no_stage : next_stage(height),
            fits(width) ? no_stage : next_stage(width));
    }
    add(last_stage(height), last_stage(width));
    stages.back().outputs = node.outputs;
    return stages;
}

/// Empty if it stays unchanged.
std::vector<GraphNode> staged(const Graph& graph, const GraphNode& node) {
    if (node.op != "MaxPool" && node.op != "GlobalMaxPool") {
        return {};
    }
    const Sizes& in = graph.types.at(node.inputs.empty() ? std::string() : node.inputs[0]).sizes;
    if (in.size() != 4 || node.outputs.size() != 1) {
        return {};
    }
    Window window;
    if (node.op == "GlobalMaxPool") {
        window.axes = {WindowAxis{in[2], 1, in[2]}, WindowAxis{in[3], 1, in[3]}};
    } else {
        window = pool_window(node, in);
    }
    const WindowAxis height = window.height();
    const WindowAxis width = window.width();
    const bool plain = node.integer("ceil_mode", 0) == 0 && height.dilation == 1 &&
                       width.dilation == 1 && height.pad_begin >= 0 && width.pad_begin >= 0;
    const bool wide = !fits(height) || !fits(width) || node.op == "GlobalMaxPool";
    return plain && wide && !is_float(graph.types.at(node.inputs[0]).element)
               ? stages_of(node, window)
               : std::vector<GraphNode>();
}

}  // namespace

void stage_max_pools(Graph& graph) { replace_each(graph, staged); }

}  // namespace npuscope
