// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/base/error.h"
#include "sim/model/graph_part.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

constexpr std::size_t deepest_call = 64;

}  // namespace

void require_model(const Graph& graph, bool good, const std::string& sentence,
                   const std::string& remedy) {
    if (!good) {
        throw ConfigError(Place{graph.file, 0, 0}, sentence, remedy);
    }
}

OnnxParts::OnnxParts(Graph& graph, const onnx::ModelProto& model, OnnxPartReading reading)
    : graph_(graph), reading_(std::move(reading)) {
    functions_ =
        within_model(graph_, "its functions", [&] { return OnnxFunctions(model, graph_.opset); });
    take_names(model.graph());
}

bool OnnxParts::take(const onnx::NodeProto& proto, const GraphNode& node, const OnnxScope& scope,
                     std::size_t depth) {
    if (const onnx::FunctionProto* function = functions_.called(proto)) {
        read_call(proto, node, *function, scope, depth + 1);
        return true;
    }
    const bool branches = node.op == "If" && proto.domain().empty();
    if (branches) {
        keep_branches(proto, node, scope);
    }
    return branches;
}

void OnnxParts::take_names(const onnx::GraphProto& graph) {
    for (const auto& [name, value] : graph_.constants) {
        names_.add(name);
    }
    for (const auto& [name, type] : graph_.types) {
        names_.add(name);
    }
    for (const std::string& result : results_of(graph.node())) {
        names_.add(result);
    }
}

void OnnxParts::read_call(const onnx::NodeProto& proto, const GraphNode& node,
                          const onnx::FunctionProto& function, const OnnxScope& scope,
                          std::size_t depth) {
    const std::string part = fmt::format("node {}", node_text(node));
    require(depth <= deepest_call,
            fmt::format("calls of functions such as '{}' are nested more than {} deep",
                        function.name(), deepest_call),
            "a function must not call itself, directly or indirectly");
    const auto inputs = static_cast<std::size_t>(function.input_size());
    const auto outputs = static_cast<std::size_t>(function.output_size());
    require(node.inputs.size() <= inputs && node.outputs.size() <= outputs,
            fmt::format("{} has {} inputs and {} outputs, but its function has {} and {}", part,
                        node.inputs.size(), node.outputs.size(), inputs, outputs),
            "export the model again");
    OnnxScope& body = scopes_.emplace_back();
    body.prefix = node_name(node) + '/';
    body.attributes = within_model(
        graph_, part, [&] { return call_attributes(function, attributes_of(proto, scope)); });
    for (const onnx::OperatorSetIdProto& import : function.opset_import()) {
        body.domains.insert(import.domain());
    }
    for (std::size_t i = 0; i < inputs; ++i) {
        body.names[function.input(static_cast<int>(i))] = node.input(i);
    }
    const std::vector<std::string> results(function.output().begin(), function.output().end());
    read_body(function.node(), results, node.outputs, body, depth);
}

void OnnxParts::read_body(const OnnxNodes& nodes, const std::vector<std::string>& results,
                          const std::vector<std::string>& outputs, OnnxScope& scope,
                          std::size_t depth) {
    const std::set<std::string> made = results_of(nodes);
    std::vector<GraphNode> copies;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const bool named =
            made.contains(results[i]) &&
            (outputs[i].empty() || scope.names.try_emplace(results[i], outputs[i]).second);
        if (!named && !outputs[i].empty()) {
            copies.push_back({"Identity", {}, {results[i]}, {outputs[i]}, {}});
        }
    }
    name_results(nodes, scope, names_);
    reading_.nodes(nodes, scope, depth);
    for (GraphNode& copy : copies) {
        copy.inputs.front() = scope.name_of(copy.inputs.front());
        graph_.nodes.push_back(std::move(copy));
    }
}

void OnnxParts::keep_branches(const onnx::NodeProto& proto, GraphNode node,
                              const OnnxScope& scope) {
    OpenBranches branches{.scope = &scope};
    for (const auto& attribute : proto.attribute()) {
        if (attribute.has_g()) {
            (attribute.name() == "then_branch" ? branches.yes : branches.no) = &attribute.g();
        }
    }
    const std::string part = fmt::format("node {}", node_text(node));
    require(node.inputs.size() == 1 && !node.inputs[0].empty(),
            part + " must have a condition and no other input", "export the model again");
    for (const onnx::GraphProto* branch : {branches.yes, branches.no}) {
        require(branch != nullptr &&
                    branch->output_size() == static_cast<int>(node.outputs.size()) &&
                    branch->sparse_initializer_size() == 0,
                part +
                    " must have two branches with as many results as outputs, and no sparse "
                    "initialisers",
                "export the model again");
    }
    branches.node = std::move(node);
    open_.push_back(std::move(branches));
}

void OnnxParts::read_branches() {
    while (!open_.empty()) {
        std::set<std::string> unread;
        for (const OpenBranches& each : open_) {
            unread.insert(each.node.outputs.begin(), each.node.outputs.end());
        }
        const auto next = std::ranges::find_if(open_, [&](const OpenBranches& each) {
            return !depends_on(graph_, each.node.inputs[0], unread);
        });
        if (next == open_.end()) {
            refuse_node(graph_, open_.front().node, "its condition depends on its own result",
                        "remove the cycle");
        }
        const OpenBranches branches = std::move(*next);
        open_.erase(next);
        const std::string& condition = branches.node.inputs[0];
        const Graph part = prepared_part(graph_, {condition});
        const GraphValue* known = part.constant(condition);
        const bool sized = part.types.contains(condition);
        require(!sized || count_elements(part.types.at(condition).sizes) == 1,
                fmt::format("the condition of node {} is not one value", node_text(branches.node)),
                "export the model again");
        if (known != nullptr) {
            read_branch(branches, known->numbers[0] != 0, branches.node.outputs);
        } else if (graph_.by_shape) {
            graph_.nodes.push_back(branches.node);
            graph_.nodes.back().attributes[unread_attribute] = std::string("then_branch");
        } else {
            read_both(branches, part.types.at(condition));
        }
    }
    check_selections();
}

void OnnxParts::read_branch(const OpenBranches& branches, bool taken,
                            const std::vector<std::string>& outputs) {
    const onnx::GraphProto& branch = taken ? *branches.yes : *branches.no;
    OnnxScope& scope = scopes_.emplace_back();
    scope.outer = branches.scope;
    scope.prefix = node_name(branches.node) + (taken ? "/then/" : "/else/");
    scope.attributes = branches.scope->attributes;
    scope.domains = branches.scope->domains;
    for (const auto& tensor : branch.initializer()) {
        scope.names[tensor.name()] = names_.make(scope.prefix + tensor.name());
    }
    reading_.constants(branch, scope);
    std::vector<std::string> results;
    for (const auto& output : branch.output()) {
        results.push_back(output.name());
    }
    read_body(branch.node(), results, outputs, scope, 0);
}

void OnnxParts::read_both(const OpenBranches& branches, const TensorType& condition) {
    const GraphNode& node = branches.node;
    std::string selecting = node.inputs[0];
    if (!condition.sizes.empty()) {
        const std::string sizes = names_.make(node_name(node) + "/sizes");
        graph_.constants[sizes] = {{ElementType::Int64, {0}}, {}};
        selecting = names_.make(node_name(node) + "/condition");
        graph_.nodes.push_back({"Reshape", {}, {node.inputs[0], sizes}, {selecting}, {}});
    }
    std::vector<std::string> yes;
    std::vector<std::string> no;
    for (const std::string& output : node.outputs) {
        yes.push_back(output.empty() ? output : names_.make(output + "/then"));
        no.push_back(output.empty() ? output : names_.make(output + "/else"));
        if (!output.empty()) {
            selections_.push_back(
                {"Where", node.name, {selecting, yes.back(), no.back()}, {output}, {}});
            graph_.nodes.push_back(selections_.back());
        }
    }
    read_branch(branches, true, yes);
    read_branch(branches, false, no);
}

void OnnxParts::check_selections() const {
    std::vector<std::string> results;
    for (const GraphNode& node : selections_) {
        results.insert(results.end(), {node.inputs[1], node.inputs[2]});
    }
    if (results.empty()) {
        return;
    }
    const Graph part = prepared_part(graph_, results);
    for (const GraphNode& node : selections_) {
        const TensorType& yes = part.types.at(node.inputs[1]);
        const TensorType& no = part.types.at(node.inputs[2]);
        require(yes == no,
                fmt::format("the branches of the If that computes '{}' give {} {} and {} {}, "
                            "but the condition is computed at run time",
                            node.outputs[0], enum_name(yes.element), sizes_text(yes.sizes),
                            enum_name(no.element), sizes_text(no.sizes)),
                "export the model with fixed sizes, or without the If");
    }
}

}  // namespace npuscope
