// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/node_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/check.h"
#include "sim/compile/tinpu/restriction_check.h"
#include "sim/config/text_table.h"

namespace npuscope {
namespace {

constexpr std::size_t no_limit = 10'000;  // names of nodes are wanted whole

}  // namespace

std::string node_table(const Graph& graph, const std::vector<NodeRow>& rows) {
    NPU_CHECK(rows.size() == graph.nodes.size(), "every node has a row");
    const bool layers =
        std::ranges::any_of(rows, [](const NodeRow& row) { return !row.layer.empty(); });
    std::vector<TextTable::Column> columns{{"#", Align::Right},
                                           {"node", Align::Left},
                                           {"operator", Align::Left},
                                           {"pattern", Align::Left},
                                           {"runs on", Align::Left}};
    if (layers) {
        columns.push_back({"layer", Align::Left});
    }
    columns.push_back({"why", Align::Left});
    TextTable table(std::move(columns), no_limit);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const NodeRow& row = rows[i];
        std::vector<std::string> cells{std::to_string(i), node_name(graph.nodes[i]),
                                       graph.nodes[i].op, row.pattern, row.runs_on};
        if (layers) {
            cells.push_back(row.layer);
        }
        cells.push_back(row.why);
        table.add_row(std::move(cells));
    }
    return table.text();
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

}  // namespace npuscope
