// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "sim/model/graph_edit.h"
#include "sim/model/quantiser_places.h"

namespace npuscope {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

struct Limits {
    double low = -infinite;
    double high = infinite;
    std::string data;  ///< tensor that is limited
};

class JoinedLimits : GraphRewrite {
 public:
    using GraphRewrite::GraphRewrite;

    void run() {
        std::set<std::size_t> dropped;
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            const GraphNode& node = view_.node(i);
            const auto reader = node.outputs.size() == 1 ? view_.only_reader(node.outputs[0])
                                                         : std::optional<std::size_t>();
            if (reader && view_.node(*reader).op == "QuantizeLinear") {
                join(i, dropped);
            }
        }
        replace_nodes(graph_, {}, dropped);
    }

 private:
    std::optional<double> number(const GraphNode& node, std::size_t input, const char* attribute,
                                 double none) const {
        if (node.input(input).empty()) {
            return node.number(attribute, none);
        }
        const GraphValue* value = before_.constant(node.input(input));
        return value != nullptr && value->numbers.size() == 1
                   ? std::optional(value->numbers.front())
                   : std::nullopt;
    }

    /// The single operand of a Min or Max that is not a number.
    std::optional<Limits> extremum(const GraphNode& node) const {
        Limits limits;
        double& limit = node.op == "Min" ? limits.high : limits.low;
        for (const std::string& input : node.inputs) {
            const GraphValue* value = before_.constant(input);
            if (value != nullptr && value->numbers.size() == 1) {
                const double one = value->numbers.front();
                limit = node.op == "Min" ? std::min(limit, one) : std::max(limit, one);
            } else if (value == nullptr && limits.data.empty()) {
                limits.data = input;
            } else {
                return std::nullopt;
            }
        }
        const bool same = !limits.data.empty() &&
                          before_.types.at(limits.data) == before_.types.at(node.outputs[0]);
        return same ? std::optional(limits) : std::nullopt;
    }

    std::optional<Limits> limits_of(const GraphNode& node) const {
        if (node.op == "Min" || node.op == "Max") {
            return extremum(node);
        }
        if (node.op == "Relu") {
            return Limits{0, infinite, node.inputs[0]};
        }
        if (node.op != "Clip") {
            return std::nullopt;
        }
        const auto low = number(node, 1, "min", -infinite);
        const auto high = number(node, 2, "max", infinite);
        return low && high && *low <= *high ? std::optional(Limits{*low, *high, node.inputs[0]})
                                            : std::nullopt;
    }

    /// `last`: the node before a quantiser.
    void join(std::size_t last, std::set<std::size_t>& dropped) {
        auto limits = limits_of(view_.node(last));
        bool several = false;
        while (limits && view_.only_reader(limits->data)) {
            const auto producer = view_.producer(limits->data);
            const auto before = producer ? limits_of(view_.node(*producer)) : std::nullopt;
            if (!before) {
                break;
            }
            limits = Limits{std::clamp(before->low, limits->low, limits->high),
                            std::clamp(before->high, limits->low, limits->high), before->data};
            dropped.insert(*producer);
            several = true;
        }
        const std::string& op = view_.node(last).op;
        if (limits && (several || op == "Min" || op == "Max")) {
            graph_.nodes[last] = clip(view_.node(last), *limits);
        }
    }

    GraphNode clip(const GraphNode& last, const Limits& limits) {
        GraphNode node{"Clip", last.name, {limits.data}, last.outputs, {}};
        if (limits.low == 0 && limits.high == infinite) {
            node.op = "Relu";
            return node;
        }
        constexpr std::uint32_t with_operands = 11;  // the first opset with limits as operands
        const ElementType element = before_.types.at(limits.data).element;
        const auto set = [&](const char* attribute, double limit) {
            if (before_.opset < with_operands) {
                if (std::isfinite(limit)) {
                    node.attributes[attribute] = limit;
                }
                return;
            }
            node.inputs.push_back(
                std::isfinite(limit)
                    ? add_number(graph_, node_name(last) + '_' + attribute, element, limit)
                    : std::string());
        };
        set("min", limits.low);
        set("max", limits.high);
        return node;
    }
};

}  // namespace

void join_limits(Graph& graph) { JoinedLimits(graph).run(); }

}  // namespace npuscope
