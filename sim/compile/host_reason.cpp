// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/host_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/model/candidate.h"
#include "sim/model/operator_parts.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"
#include "sim/model/sequence_reader.h"

namespace npuscope {
namespace {

constexpr const char* scales_differ = "its inputs and its result differ in scale or zero point";
constexpr const char* give_one_scale =
    "it passes values on: give the quantisers before and after it one scale and zero point";

template <std::size_t Count>
bool is_one_of(const std::string& op, const std::array<std::string_view, Count>& ops) {
    return std::ranges::find(ops, op) != ops.end();
}

bool is_product(const std::string& op) {
    constexpr std::array<std::string_view, 4> ops{"Conv", "ConvTranspose", "Gemm", "MatMul"};
    return is_one_of(op, ops);
}

/// A mean or a sum over axes that the node names.
bool reduces(const std::string& op) { return op == "ReduceMean" || op == "ReduceSum"; }

bool is_on_integers(const std::string& op) {
    return op == "ConvInteger" || op == "MatMulInteger" || op.starts_with("npuscope.");
}

bool is_quantised_operator(const std::string& op) {
    return op.find("QLinear") != std::string::npos || op == "com.microsoft.QGemm";
}

bool is_quantiser(const std::string& op) {
    return op == "QuantizeLinear" || op == "DequantizeLinear" || op == "DynamicQuantizeLinear";
}

bool is_whole(const GraphValue& value) {
    return std::ranges::all_of(value.numbers,
                               [](double number) { return number == std::trunc(number); });
}

bool is_rounding(const RawStep& step) {
    return step.kind == StepKind::Floor || step.kind == StepKind::Round ||
           step.kind == StepKind::Ceil;
}

/// Whether a layer's operator is followed by a rounding, as in integer sequences.
bool is_rounded_after(const GraphView& model, const GraphNode& node) {
    constexpr std::array<std::string_view, 4> pools{"AveragePool", "GlobalAveragePool", "ReduceSum",
                                                    "ReduceMean"};
    if (!is_product(node.op) && !is_one_of(node.op, pools)) {
        return false;
    }
    const std::size_t rank = model.sizes(node.outputs.front()).size();
    const bool rows = node.op == "MatMul" || node.op == "Gemm";
    return std::ranges::any_of(
        read_steps(model, node.outputs.front(), rows && rank > 0 ? rank - 1 : 1), is_rounding);
}

/// Weights of all products are stored integers; there is at least one.
bool has_whole_weights(const GraphView& model) {
    std::size_t products = 0;
    for (const GraphNode& node : model.graph().nodes) {
        const GraphValue* weights =
            is_product(node.op) ? model.graph().constant(node.inputs[1]) : nullptr;
        if (weights != nullptr && !is_whole(*weights)) {
            return false;
        }
        products += weights != nullptr ? 1U : 0U;
    }
    return products > 0;
}

}  // namespace

HostReasons::HostReasons(const GraphView& model, const Target& target)
    : model_(model), target_(target), quantisers_(model) {
    const std::vector<GraphNode>& nodes = model.graph().nodes;
    is_quantised_ = std::ranges::any_of(nodes, [](const GraphNode& node) {
        return is_quantiser(node.op) || is_on_integers(node.op) || is_quantised_operator(node.op);
    });
    is_integer_ =
        !is_quantised_ &&
        (std::ranges::any_of(
             nodes, [&](const GraphNode& node) { return is_rounded_after(model, node); }) ||
         has_whole_weights(model));
}

bool HostReasons::holds_integers(const std::string& tensor) const {
    const ValueRange* known = model_.range(tensor);
    return known != nullptr && known->whole;
}

bool HostReasons::has_integer_form(const NodeGroup& group) const {
    const GraphNode& node = model_.node(group.anchor);
    const std::string& input = node.inputs.front();
    if (is_integer_ || is_on_integers(node.op)) {
        return true;
    }
    const bool maps = !group.layer || node.op == "MaxPool";
    if (maps || !is_quantised_) {
        return maps && holds_integers(input);
    }
    const GraphValue* weights =
        is_product(node.op) ? model_.graph().constant(node.inputs[1]) : nullptr;
    const bool exact = !node.has(not_exact_attribute) && holds_integers(input);
    return exact && ((weights != nullptr && is_whole(*weights)) || is_rounded_after(model_, node));
}

bool HostReasons::reduces_plane(std::size_t index) const {
    const GraphNode& node = model_.node(index);
    return model_.sizes(node.inputs[0]).size() == 4 &&
           host::reduced_axes(model_.graph(), node) == Sizes{2, 3};
}

bool HostReasons::is_layer(const NodeGroup& group) const {
    return !reduces(model_.node(group.anchor).op) || has_integer_form(group) ||
           reduces_plane(group.anchor);
}

Diagnostic HostReasons::float_reason(std::size_t index) const {
    const auto type = model_.graph().types.find(model_.node(index).outputs.front());
    const ElementType element =
        type == model_.graph().types.end() ? ElementType::Float32 : type->second.element;
    return quantisers_.reason(
        index, not_quantised,
        fmt::format("it is {}, and the model is not quantised", enum_name(element)),
        "quantise the model: --calibration DIR, or `npuscope quantise` (docs/float_models.md); "
        "`npuscope run --values off` gives the time without quantising");
}

/// A product with float weights between float maps.
bool HostReasons::is_left_in_float(std::size_t index) const {
    const GraphNode& node = model_.node(index);
    return is_product(node.op) && model_.graph().is_constant(node.inputs[1]) &&
           quantisers_.source_of(node.inputs[0]) == TensorSource::Float &&
           quantisers_.of_result(index).has_value();
}

std::optional<Diagnostic> HostReasons::of_form(std::size_t index) const {
    const GraphNode& node = model_.node(index);
    const bool product = is_product(node.op);
    if (auto computed = of_computed_weights(index)) {
        return computed;
    }
    if (!is_quantised_) {
        return float_reason(index);
    }
    if (is_left_in_float(index)) {
        return quantisers_.reason(
            index, not_quantised,
            "it is left in float: none of its input, weights and result is quantised",
            "quantise this layer as well, unless it is float for accuracy");
    }
    for (const std::string& input : node.inputs) {
        const bool map = !input.empty() && quantisers_.source_of(input) != TensorSource::Constant &&
                         (!product || input == node.inputs[0]);
        if (auto missing = map ? quantisers_.of_input(index, input) : std::nullopt) {
            return missing;
        }
    }
    if (auto missing = product ? quantisers_.of_weights(index, node.inputs[1]) : std::nullopt) {
        return missing;
    }
    return quantisers_.of_result(index);
}

std::optional<Diagnostic> HostReasons::of_computed_weights(std::size_t index) const {
    const GraphNode& node = model_.node(index);
    return is_product(node.op) ? quantisers_.of_computed_weights(index, node.inputs[1])
                               : std::nullopt;
}

std::optional<Diagnostic> HostReasons::of_pool(std::size_t index) const {
    const GraphNode& node = model_.node(index);
    if (node.op == "MaxPool") {
        return has_one_scale(index)
                   ? quantisers_.reason(index, quantised_exact_rule,
                                        "it is followed by an activation before the QuantizeLinear",
                                        "move the activation before the MaxPool")
                   : quantisers_.reason(index, quantised_exact_rule, scales_differ, give_one_scale);
    }
    const bool padded = has_padding(node) && node.integer("count_include_pad", 0) == 0;
    if (padded || node.integer("ceil_mode", 0) != 0) {
        return quantisers_.reason(
            index, quantised_exact_rule, "it averages fewer elements at the border than elsewhere",
            "set ceil_mode to 0, and count_include_pad to 1 where the window is padded");
    }
    return std::nullopt;
}

std::optional<Diagnostic> HostReasons::of_operator(std::size_t index) const {
    const GraphNode& node = model_.node(index);
    if (reduces(node.op)) {
        return quantisers_.reason(
            index, quantised_exact_rule,
            fmt::format("a {} of quantised maps is not computed by the NPU", node.op),
            "for an average over height and width, use GlobalAveragePool; for a sum, multiply its "
            "result by height x width");
    }
    const bool dilated = std::ranges::any_of(node.integers("dilations"),
                                             [](std::int64_t dilation) { return dilation != 1; });
    if (node.op == "ConvTranspose" && dilated) {
        return quantisers_.reason(index, quantised_exact_rule,
                                  "its kernel is dilated; transposed convolutions are computed "
                                  "only without dilation",
                                  "set dilations to 1");
    }
    const bool scaled = node.number("alpha", 1) != 1 || node.number("beta", 1) != 1;
    if (node.op == "Gemm" && (scaled || node.integer("transA", 0) != 0)) {
        return quantisers_.reason(
            index, quantised_exact_rule,
            scaled ? "it scales the product or the bias (alpha, beta)" : "its input is transposed",
            scaled ? "fold the factors into weights and bias before quantising, as `npuscope "
                     "quantise` does"
                   : "insert a Transpose before it instead of transA");
    }
    if (node.op == "MatMul" || node.op == "Gemm") {
        const Sizes& weights = model_.sizes(node.inputs[1]);
        return weights.size() == 2
                   ? std::nullopt
                   : std::optional(quantisers_.reason(
                         index, quantised_exact_rule,
                         fmt::format("its weights are {}, not one matrix", sizes_text(weights)),
                         "export one MatMul per matrix, or two-dimensional weights"));
    }
    constexpr std::array<std::string_view, 3> pools{"MaxPool", "AveragePool", "GlobalAveragePool"};
    return is_one_of(node.op, pools) ? of_pool(index) : std::nullopt;
}

std::optional<Diagnostic> HostReasons::of_group(const NodeGroup& group) const {
    const GraphNode& node = model_.node(group.anchor);
    if (is_on_integers(node.op)) {
        return quantisers_.of_input(group.anchor, node.inputs.front());
    }
    const bool wide_floats = !group.layer && is_half(node.inputs.front());
    if (has_integer_form(group) || wide_floats) {
        return of_computed_weights(group.anchor);
    }
    const bool reduced = is_quantised_ && reduces(node.op);  // whose quantisers do not matter
    if (!is_quantised_operator(node.op) && !reduced) {
        if (auto missing = of_form(group.anchor)) {
            return missing;
        }
    }
    if (!group.layer) {
        return is_wide_map(node.inputs.front()) ? std::nullopt
                                                : std::optional(of_maps(group.anchor));
    }
    if (auto unlike = of_operator(group.anchor)) {
        return unlike;
    }
    return quantisers_.reason(
        group.anchor, quantised_exact_rule,
        node.text(not_exact_attribute, "its scales or sizes have no integer form"),
        "remove this obstacle and quantise the model again, or leave the layer to the host");
}

bool HostReasons::is_half(const std::string& tensor) const {
    const auto type = model_.graph().types.find(tensor);
    return type != model_.graph().types.end() && type->second.element == ElementType::Float16;
}

/// Dequantised from 16 bits.
bool HostReasons::is_wide_map(const std::string& tensor) const {
    const auto from = dequantised(model_, tensor);
    return from && is_wide(model_.graph().types.at(from->tensor).element);
}

/// Whether all inputs and the result of a node have one scale and zero point.
bool HostReasons::has_one_scale(std::size_t index) const {
    const GraphNode& node = model_.node(index);
    const auto end = requantised(model_, node.outputs.front());
    return end && std::ranges::all_of(node.inputs, [&](const std::string& input) {
               const auto from = dequantised(model_, input);
               return from && from->scales == std::vector{end->scale} &&
                      from->zeros == std::vector{end->zero};
           });
}

/// An operator that the NPU computes between quantisers, and that has them.
Diagnostic HostReasons::of_maps(std::size_t index) const {
    const GraphNode& node = model_.node(index);
    const auto is_constant = [&](const std::string& input) {
        return quantisers_.source_of(input) == TensorSource::Constant;
    };
    if (node.op == "Concat" && !has_one_scale(index)) {
        return quantisers_.reason(index, quantised_exact_rule, scales_differ, give_one_scale);
    }
    const bool two = node.inputs.size() == 2 && node.op != "Concat" && node.op != "PRelu";
    if (two && std::ranges::any_of(node.inputs, is_constant)) {
        return quantisers_.reason(index, quantised_exact_rule,
                                  "one of its operands is a constant with several values",
                                  "if they are per channel, fold them into the layer before it");
    }
    if (two && model_.sizes(node.inputs[0]) != model_.sizes(node.inputs[1])) {
        return quantisers_.reason(index, quantised_exact_rule,
                                  fmt::format("its operands have different sizes: {} and {}",
                                              sizes_text(model_.sizes(node.inputs[0])),
                                              sizes_text(model_.sizes(node.inputs[1]))),
                                  "give both operands the sizes of the result");
    }
    return quantisers_.reason(index, quantised_exact_rule,
                              "no integer form of it with these scales and sizes is exact enough",
                              "leave it to the host, or quantise the model with other scales");
}

Diagnostic HostReasons::of_node(std::size_t index) const {
    const GraphNode& node = model_.node(index);
    if (is_quantiser(node.op)) {
        return quantisers_.reason(
            index, "", "the host converts between floats and integers",
            "no conversion is needed where the model's inputs and outputs are integers");
    }
    if (auto computed = of_computed_weights(index)) {
        return *computed;
    }
    constexpr std::string_view prefix = "com.microsoft.QLinear";
    if (node.op.starts_with(prefix) && target_.computes(node.op.substr(prefix.size()))) {
        return of_maps(index);
    }
    if (!target_.computes_integers() || !target_.computes(node.op)) {
        const bool clips = node.op == "Relu" || node.op == "Clip";
        return quantisers_.reason(index, "",
                                  clips ? "the NPU computes it only as part of the layer before it"
                                        : "no NPU layer computes it; it runs on the host",
                                  "");
    }
    auto missing = is_integer_ ? std::nullopt : of_form(index);
    return missing ? *missing : of_maps(index);
}

void take_reasons(const HostReasons& reasons, std::vector<Refusal>& refusals) {
    std::erase_if(refusals,
                  [&](const Refusal& refusal) { return !reasons.is_layer(refusal.group); });
    for (Refusal& refusal : refusals) {
        if (auto reason = reasons.of_group(refusal.group)) {
            refusal.problems = {*std::move(reason)};
            refusal.configuration.clear();
        }
    }
}

}  // namespace npuscope
