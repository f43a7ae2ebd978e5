// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "sim/model/graph_part.h"
#include "sim/model/node_order.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

constexpr std::size_t most_nodes = std::size_t{1} << 20U;  // of all calls of functions together
constexpr std::size_t deepest_call = 64;

}  // namespace

void require_model(const Graph& graph, bool good, const std::string& sentence,
                   const std::string& remedy) {
    if (!good) {
        throw ConfigError(Place{graph.file, 0, 0}, sentence, remedy);
    }
}

void OnnxNodeReader::read_nodes(const onnx::ModelProto& model) {
    functions_ =
        within_model(graph_, "its functions", [&] { return OnnxFunctions(model, graph_.opset); });
    take_names(model.graph());
    read_nodes(model.graph().node(), scopes_.emplace_back(), 0);
    read_branches();
}

void OnnxNodeReader::take_names(const onnx::GraphProto& graph) {
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

void OnnxNodeReader::read_nodes(const OnnxNodes& nodes, const OnnxScope& scope, std::size_t depth) {
    for (const auto& proto : nodes) {
        GraphNode node;
        node.name = proto.name().empty() ? std::string() : scope.prefix + proto.name();
        node.op = proto.op_type();
        for (const std::string& input : proto.input()) {
            node.inputs.push_back(scope.name_of(input));
        }
        for (const std::string& output : proto.output()) {
            node.outputs.push_back(scope.name_of(output));
        }
        const std::string part = fmt::format("node {}", node_text(node));
        require(++read_ <= most_nodes, fmt::format("it has more than {} nodes", most_nodes),
                "use a smaller model");
        const bool named = std::ranges::any_of(
            node.outputs, [](const std::string& output) { return !output.empty(); });
        require(!node.op.empty() && named, part + " has no operator or no output",
                "export the model again");
        if (const onnx::FunctionProto* function = functions_.called(proto)) {
            read_call(proto, node, *function, scope, depth + 1);
        } else if (node.op == "If" && proto.domain().empty()) {
            keep_branches(proto, std::move(node), scope);
        } else {
            read_operator(proto, std::move(node), scope);
        }
    }
}

void OnnxNodeReader::read_operator(const onnx::NodeProto& proto, GraphNode node,
                                   const OnnxScope& scope) {
    const std::string part = fmt::format("node {}", node_text(node));
    if (!proto.domain().empty() && proto.domain() != "ai.onnx") {
        require(domains_.contains(proto.domain()) || scope.domains.contains(proto.domain()),
                fmt::format("{}: the model does not import the operator domain '{}'", part,
                            proto.domain()),
                "export the model again");
        // whose quantisers differ from ONNX's own only in types
        const bool same = proto.domain() == "com.microsoft" &&
                          (node.op == "QuantizeLinear" || node.op == "DequantizeLinear");
        node.op = same ? node.op : proto.domain() + '.' + node.op;
    }
    while (node.outputs.back().empty()) {
        node.outputs.pop_back();
    }
    if (node.outputs.front().empty()) {  // omitted: types are looked up by the first output
        const auto named = std::ranges::find_if_not(node.outputs, &std::string::empty);
        node.outputs.front() = *named + std::string(omitted_output);
    }
    within_model(graph_, part, [&] { read_attributes(proto, node, scope); });
    for (const auto& [name, attribute] : node.attributes) {
        if (const auto* value = std::get_if<GraphValue>(&attribute)) {
            hold(*value);
        }
    }
    graph_.nodes.push_back(std::move(node));
}

void OnnxNodeReader::read_call(const onnx::NodeProto& proto, const GraphNode& node,
                               const onnx::FunctionProto& function, const OnnxScope& scope,
                               std::size_t depth) {
    const std::string part = fmt::format("node {}", node_text(node));
    require(depth <= deepest_call,
            fmt::format("functions such as '{}' call each other more than {} deep", function.name(),
                        deepest_call),
            "a function must not call itself, directly or not");
    const auto inputs = static_cast<std::size_t>(function.input_size());
    const auto outputs = static_cast<std::size_t>(function.output_size());
    require(node.inputs.size() <= inputs && node.outputs.size() <= outputs,
            fmt::format("{} has {} inputs and {} outputs, its function {} and {}", part,
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

void OnnxNodeReader::read_body(const OnnxNodes& nodes, const std::vector<std::string>& results,
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
    read_nodes(nodes, scope, depth);
    for (GraphNode& copy : copies) {
        copy.inputs.front() = scope.name_of(copy.inputs.front());
        graph_.nodes.push_back(std::move(copy));
    }
}

void OnnxNodeReader::keep_branches(const onnx::NodeProto& proto, GraphNode node,
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

void OnnxNodeReader::read_branches() {
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

void OnnxNodeReader::read_branch(const OpenBranches& branches, bool taken,
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
    read_constants(branch, scope);
    std::vector<std::string> results;
    for (const auto& output : branch.output()) {
        results.push_back(output.name());
    }
    read_body(branch.node(), results, outputs, scope, 0);
}

void OnnxNodeReader::read_both(const OpenBranches& branches, const TensorType& condition) {
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

void OnnxNodeReader::check_selections() const {
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
                fmt::format("the branches of the If for '{}' give {} {} and {} {}, and its "
                            "condition is computed at run time",
                            node.outputs[0], enum_name(yes.element), sizes_text(yes.sizes),
                            enum_name(no.element), sizes_text(no.sizes)),
                "export the model with fixed sizes, or without the If");
    }
}

void OnnxNodeReader::read_attributes(const onnx::NodeProto& proto, GraphNode& node,
                                     const OnnxScope& scope) {
    for (const auto& [name, attribute] : attributes_of(proto, scope)) {
        if (graph_.by_shape && !is_plain(attribute)) {
            node.attributes[unread_attribute] = name;
        } else {
            node.attributes.emplace(name, attribute_of(attribute));
        }
    }
}

bool OnnxNodeReader::is_plain(const onnx::AttributeProto& attribute) {
    constexpr std::array kinds{
        onnx::AttributeProto_AttributeType_INT,    onnx::AttributeProto_AttributeType_FLOAT,
        onnx::AttributeProto_AttributeType_STRING, onnx::AttributeProto_AttributeType_INTS,
        onnx::AttributeProto_AttributeType_FLOATS, onnx::AttributeProto_AttributeType_TENSOR,
        onnx::AttributeProto_AttributeType_STRINGS};
    return std::ranges::find(kinds, attribute.type()) != kinds.end();
}

Attribute OnnxNodeReader::attribute_of(const onnx::AttributeProto& attribute) {
    switch (attribute.type()) {
        case onnx::AttributeProto_AttributeType_INT:
            return attribute.i();
        case onnx::AttributeProto_AttributeType_FLOAT:
            return static_cast<double>(attribute.f());
        case onnx::AttributeProto_AttributeType_STRING:
            return attribute.s();
        case onnx::AttributeProto_AttributeType_INTS:
            return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
        case onnx::AttributeProto_AttributeType_FLOATS:
            return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
        case onnx::AttributeProto_AttributeType_STRINGS:
            return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
        case onnx::AttributeProto_AttributeType_TENSOR:
            return tensors_.value_of(attribute.t());
        case onnx::AttributeProto_AttributeType_GRAPH:
            throw ConfigError(
                fmt::format("its attribute '{}' is a graph, which only an If may have here",
                            attribute.name()),
                "export the model without loops");
        default:
            throw ConfigError(
                fmt::format("attribute '{}' has an unsupported type", attribute.name()),
                "export the model without sparse constants, sequences and optional values");
    }
}

void OnnxNodeReader::read_constants(const onnx::GraphProto& graph, const OnnxScope& scope) {
    for (const auto& tensor : graph.initializer()) {
        const std::string part = fmt::format("initialiser '{}'", tensor.name());
        GraphValue value = within_model(graph_, part, [&] { return tensors_.value_of(tensor); });
        hold(value);
        require(!tensor.name().empty(), "an initialiser has no name", "export the model again");
        const std::string name = scope.name_of(tensor.name());
        require(graph_.constants.emplace(name, std::move(value)).second, part + " is defined twice",
                "give every tensor a name of its own");
    }
}

void OnnxNodeReader::hold(const GraphValue& value) {
    held_ += value.numbers.size();
    require(held_ <= most_held_elements,
            fmt::format("its constants have more than {} elements", most_held_elements),
            "use a smaller model");
}

}  // namespace npuscope
