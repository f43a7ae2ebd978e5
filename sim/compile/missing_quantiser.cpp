// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/missing_quantiser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sim/model/candidate.h"
#include "sim/model/operators.h"

namespace npuscope {
namespace {

constexpr const char* quantise_again =
    "quantise the model again: --calibration DIR, or `npuscope quantise`";
constexpr const char* static_scales =
    "use static quantisation, whose scales are constants: `npuscope quantise` of the float model";

bool is_clipping(const GraphNode& node) { return node.op == "Relu" || node.op == "Clip"; }

bool is_product(const GraphNode& node) { return node.op == "MatMul" || node.op == "Gemm"; }

bool is_layer(const GraphNode& node) {
    return is_product(node) || node.op == "Conv" || node.op == "ConvTranspose";
}

/// `an Add`, `a Conv`.
std::string one(const std::string& op) {
    return fmt::format(
        "{} {}", std::string_view("AEIOU").find(op.front()) != std::string_view::npos ? "an" : "a",
        op);
}

}  // namespace

MissingQuantiser::MissingQuantiser(const GraphView& model) : model_(model) {
    const std::vector<GraphNode>& nodes = model.graph().nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::set<std::string> inputs(nodes[i].inputs.begin(), nodes[i].inputs.end());
        for (const std::string& input : inputs) {
            readers_[input].push_back(i);
        }
    }
}

const std::vector<std::size_t>& MissingQuantiser::readers(const std::string& tensor) const {
    static const std::vector<std::size_t> none;
    const auto found = readers_.find(tensor);
    return found == readers_.end() ? none : found->second;
}

bool MissingQuantiser::is_output(const std::string& tensor) const {
    const std::vector<std::string>& outputs = model_.graph().outputs;
    return std::ranges::find(outputs, tensor) != outputs.end();
}

std::optional<std::size_t> MissingQuantiser::single_reader(const std::string& tensor) const {
    const std::vector<std::size_t>& all = readers(tensor);
    return all.size() == 1 && !is_output(tensor) ? std::optional(all.front()) : std::nullopt;
}

Diagnostic MissingQuantiser::reason(std::size_t index, const char* rule, std::string sentence,
                                    std::string remedy) const {
    return {.id = rule,
            .sentence = std::move(sentence),
            .remedy = std::move(remedy),
            .operation = node_name(model_.node(index))};
}

TensorSource MissingQuantiser::source_of(const std::string& tensor) const {
    const Graph& graph = model_.graph();
    if (graph.is_constant(tensor)) {
        return TensorSource::Constant;
    }
    const auto type = graph.types.find(tensor);
    if (type != graph.types.end() && !is_float(type->second.element)) {
        return TensorSource::Quantised;
    }
    const auto producer = model_.producer(tensor);
    if (!producer || model_.node(*producer).op != "DequantizeLinear") {
        return TensorSource::Float;
    }
    return graph.is_constant(model_.node(*producer).inputs.front()) ? TensorSource::Constant
                                                                    : TensorSource::Quantised;
}

bool MissingQuantiser::is_quantised_later(std::size_t index) const {
    constexpr int most = 16;
    std::optional<std::size_t> at = index;
    for (int i = 0; i < most && at && !model_.node(*at).outputs.empty(); ++i) {
        const std::vector<std::size_t>& next = readers(model_.node(*at).outputs.front());
        if (std::ranges::any_of(next, [&](std::size_t reader) {
                return model_.node(reader).op == "QuantizeLinear";
            })) {
            return true;
        }
        at = next.size() == 1 ? std::optional(next.front()) : std::nullopt;
    }
    return false;
}

std::optional<Diagnostic> MissingQuantiser::of_input(std::size_t index,
                                                     const std::string& tensor) const {
    const auto producer = model_.producer(tensor);
    if (source_of(tensor) != TensorSource::Float) {
        const GraphNode* from = producer ? &model_.node(*producer) : nullptr;
        const bool dequantised = from != nullptr && from->op == "DequantizeLinear";
        const bool dynamic =
            from != nullptr && (from->op == "DynamicQuantizeLinear" ||
                                (dequantised && !model_.graph().is_constant(from->inputs[1])));
        if (dynamic) {
            return reason(
                index, not_quantised,
                "the scale of its input is computed at run time (dynamic quantisation)",
                "use static quantisation, whose scales are constants, for example `npuscope "
                "quantise` of the float model");
        }
        if (dequantised && model_.graph().constant(from->inputs[1])->numbers.size() > 1 &&
            !model_.graph().is_constant(from->inputs[0])) {
            return reason(index, not_quantised, "its input has one scale per channel",
                          "quantise feature maps with one scale each; weights may have one for "
                          "each kernel");
        }
        return std::nullopt;
    }
    if (!producer) {
        return reason(
            index, not_quantised,
            "its input is not quantised: it reads the model's float input directly",
            fmt::format("insert a QuantizeLinear and a DequantizeLinear after the model's "
                        "input, or {}",
                        quantise_again));
    }
    const std::string& op = model_.node(*producer).op;
    return reason(index, not_quantised,
                  fmt::format("its input is not quantised: the {} before it outputs floats", op),
                  fmt::format("insert a QuantizeLinear and a DequantizeLinear after the {}, or {}",
                              op, quantise_again));
}

bool MissingQuantiser::depends_on_inputs(const std::string& tensor) const {
    std::set<std::string> seen;
    std::vector<std::string> open{tensor};
    while (!open.empty()) {
        const std::string at = open.back();
        open.pop_back();
        if (at.empty() || model_.graph().is_constant(at) || !seen.insert(at).second) {
            continue;
        }
        const auto producer = model_.producer(at);
        if (!producer) {
            return true;
        }
        const std::vector<std::string>& inputs = model_.node(*producer).inputs;
        open.insert(open.end(), inputs.begin(), inputs.end());
    }
    return false;
}

std::optional<Diagnostic> MissingQuantiser::of_computed_weights(std::size_t index,
                                                                const std::string& tensor) const {
    if (!depends_on_inputs(tensor)) {
        return std::nullopt;
    }
    const bool matrices = is_product(model_.node(index));
    if (matrices && source_of(model_.node(index).inputs[0]) == TensorSource::Constant) {
        return reason(index, weight_constant_rule,
                      "its first operand is constant, but the NPU's weights are the second operand",
                      "swap the operands, and transpose both of them and the result");
    }
    return reason(index, weight_constant_rule,
                  matrices ? "it multiplies two activations with each other, but the NPU's weights "
                             "are constants"
                           : "its weights are computed at run time, but the NPU's are constants",
                  matrices ? "no change to the model avoids this: the host computes such products"
                           : "store the weights in the model");
}

std::optional<Diagnostic> MissingQuantiser::of_weights(std::size_t index,
                                                       const std::string& tensor) const {
    if (auto computed = of_computed_weights(index, tensor)) {
        return computed;
    }
    const auto producer = model_.producer(tensor);
    if (producer && model_.node(*producer).op == "DequantizeLinear") {
        return std::nullopt;
    }
    if (producer) {
        const std::string& op = model_.node(*producer).op;
        return reason(index, not_quantised,
                      fmt::format("its weights do not come directly from a DequantizeLinear: "
                                  "{} is in between",
                                  one(op)),
                      fmt::format("apply the {} to the stored weights", op));
    }
    const GraphValue* value = model_.graph().constant(tensor);
    if (value == nullptr || !is_float(value->type.element)) {
        return std::nullopt;
    }
    return reason(index, not_quantised,
                  "its weights are not quantised: they are floats without a DequantizeLinear",
                  fmt::format("quantise the weights as well: {}", quantise_again));
}

std::optional<Diagnostic> MissingQuantiser::of_quantiser(std::size_t index,
                                                         const GraphNode& quantiser) const {
    const GraphValue* scale = model_.graph().constant(quantiser.input(1));
    const bool zero_given = !quantiser.input(2).empty();
    if (scale == nullptr || (zero_given && !model_.graph().is_constant(quantiser.input(2)))) {
        return reason(index, not_quantised,
                      "the scale of its result is computed at run time (dynamic quantisation)",
                      static_scales);
    }
    if (scale->numbers.size() != 1) {
        return reason(index, not_quantised, "its result has one scale per channel",
                      "quantise feature maps with one scale each; weights may have one for each "
                      "kernel");
    }
    if (!(scale->numbers.front() > 0)) {
        return reason(index, not_quantised, "the scale of its result is not above 0",
                      fmt::format("correct the scale: {}", quantise_again));
    }
    return std::nullopt;
}

Diagnostic MissingQuantiser::of_several_readers(std::size_t index,
                                                const std::string& tensor) const {
    std::vector<std::string> ops;
    for (const std::size_t reader : readers(tensor)) {
        ops.push_back(model_.node(reader).op);
    }
    std::ranges::sort(ops);
    const bool all_quantise =
        std::ranges::all_of(ops, [](const std::string& op) { return op == "QuantizeLinear"; });
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    if (all_quantise && is_output(tensor)) {
        return reason(index, not_quantised, "its result is also an output of the model, as floats",
                      "derive the model's output from the quantised result");
    }
    if (all_quantise) {
        return reason(index, not_quantised, "several QuantizeLinear nodes read its result",
                      "use one QuantizeLinear after it for all readers");
    }
    return reason(
        index, not_quantised,
        fmt::format("its result is not quantised: {}{} read{} it as floats",
                    fmt::join(ops, " and "), is_output(tensor) ? " and the model's output" : "",
                    ops.size() > 1 || is_output(tensor) ? "" : "s"),
        fmt::format("use one QuantizeLinear after it for all readers, or {}", quantise_again));
}

/// Another operator reads the result.
Diagnostic MissingQuantiser::of_next(std::size_t index, std::size_t next) const {
    const GraphNode& reader = model_.node(next);
    const std::string& op = reader.op;
    const bool between = !is_layer(reader) && is_quantised_later(next);
    const std::string sentence =
        between ? fmt::format(
                      "its result is not quantised: {} is between it and the "
                      "QuantizeLinear",
                      one(op))
                : fmt::format("its result is not quantised: {} reads it as floats", one(op));
    if (is_layer(model_.node(index)) && op == "BatchNormalization") {
        return reason(index, not_quantised, sentence,
                      "fold the BatchNormalization into the weights before quantising, as "
                      "`npuscope quantise` does");
    }
    const bool by_constant = (op == "Add" || op == "Mul") &&
                             std::ranges::any_of(reader.inputs, [&](const std::string& input) {
                                 return source_of(input) == TensorSource::Constant;
                             });
    if (is_layer(model_.node(index)) && by_constant) {
        return reason(index, not_quantised, sentence,
                      fmt::format("fold the constant of the {} into the weights and bias before "
                                  "quantising, as `npuscope quantise` does",
                                  op));
    }
    return reason(index, not_quantised, sentence,
                  fmt::format("insert a QuantizeLinear and a DequantizeLinear before the {}, or {}",
                              op, quantise_again));
}

/// An Add of a constant after a product.
bool MissingQuantiser::adds_bias(std::size_t index, std::size_t next) const {
    const GraphNode& add = model_.node(next);
    const GraphNode& node = model_.node(index);
    return add.op == "Add" && is_product(node) &&
           source_of(add.inputs[add.inputs[0] == node.outputs[0] ? 1 : 0]) ==
               TensorSource::Constant;
}

std::optional<Diagnostic> MissingQuantiser::of_result(std::size_t index) const {
    std::string tensor = model_.node(index).outputs.front();
    const auto type = model_.graph().types.find(tensor);
    if (type != model_.graph().types.end() && !is_float(type->second.element)) {
        return std::nullopt;
    }
    bool clipped = false;
    while (true) {
        if (readers(tensor).empty()) {
            return reason(
                index, not_quantised,
                "its result is not quantised: it is an output of the model, as floats",
                fmt::format("insert a QuantizeLinear and a DequantizeLinear after it, or {}",
                            quantise_again));
        }
        const auto next = single_reader(tensor);
        if (!next) {
            return of_several_readers(index, tensor);
        }
        const GraphNode& node = model_.node(*next);
        if (node.op == "QuantizeLinear") {
            return of_quantiser(index, node);
        }
        const bool passes = (is_clipping(node) && !clipped) || adds_bias(index, *next);
        if (!passes || node.outputs.front() == tensor) {
            return of_next(index, *next);
        }
        clipped = clipped || is_clipping(node);
        tensor = node.outputs.front();
    }
}

}  // namespace npuscope
