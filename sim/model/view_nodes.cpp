// SPDX-License-Identifier: Apache-2.0
#include "sim/model/view_nodes.h"

#include <set>

namespace npuscope {
namespace {

bool cast_keeps_numbers(const Graph& graph, const std::map<std::string, NumberFacts>& facts,
                        const GraphNode& node) {
    const ElementType type = graph.types.at(node.outputs.front()).element;
    const auto known = facts.find(node.inputs.front());
    if (known == facts.end() || !known->second.whole || known->second.assumed) {
        return is_float(type) && known != facts.end() && known->second.whole;
    }
    const NumberRange range = range_of(type);
    return known->second.range.low >= range.low && known->second.range.high <= range.high;
}

}  // namespace

bool moves_nothing(const Graph& graph, const std::map<std::string, NumberFacts>& facts,
                   const GraphNode& node) {
    static const std::set<std::string> ops{"Reshape",   "Flatten",  "Squeeze",
                                           "Unsqueeze", "Identity", "Dropout"};
    return ops.contains(node.op) || (node.op == "Cast" && cast_keeps_numbers(graph, facts, node));
}

}  // namespace npuscope
