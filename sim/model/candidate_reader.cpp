// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/model/candidate.h"
#include "sim/model/candidate_builder.h"
#include "sim/model/quantised_layer.h"
#include "sim/model/step_reader.h"

namespace npuscope {
namespace {

bool all_zero(const GraphValue& value) {
    return std::all_of(value.numbers.begin(), value.numbers.end(),
                       [](double number) { return number == 0; });
}

/// Takes a zero point off the weights: one number, or one per output channel.
void subtract_zero(GraphValue& weights, const GraphValue& zero, WeightOrder order) {
    const auto kernels = static_cast<std::size_t>(
        order == WeightOrder::Conv ? weights.type.sizes.front() : weights.type.sizes.back());
    const std::size_t step =
        order == WeightOrder::Conv ? weights.numbers.size() / std::max<std::size_t>(kernels, 1) : 1;
    for (std::size_t i = 0; i < weights.numbers.size(); ++i) {
        weights.numbers[i] -= zero.numbers[zero.numbers.size() == 1 ? 0 : i / step % kernels];
    }
}

void transpose(GraphValue& matrix) {
    const auto rows = static_cast<std::size_t>(matrix.type.sizes[0]);
    const auto columns = static_cast<std::size_t>(matrix.type.sizes[1]);
    std::vector<double> turned(matrix.numbers.size());
    for (std::size_t i = 0; i < turned.size(); ++i) {
        turned[i] = matrix.numbers[i % rows * columns + i / rows];
    }
    matrix.numbers = std::move(turned);
    std::swap(matrix.type.sizes[0], matrix.type.sizes[1]);
}

void check_zero_points(const GraphView& view, Candidate& candidate, GraphValue& weights,
                       WeightOrder order) {
    const GraphNode& node = view.node(candidate.anchor);
    if (node.op != "ConvInteger" && node.op != "MatMulInteger") {
        return;
    }
    const GraphValue* data_zero = view.graph().constant(node.input(2));
    if (!node.input(2).empty() && (data_zero == nullptr || !all_zero(*data_zero))) {
        candidate.problems.push_back(broken_rule(node, "input_zero_point", "", "0",
                                                 "the input has a zero point that is not 0"));
    }
    const GraphValue* weight_zero = view.graph().constant(node.input(3));
    if (!node.input(3).empty() && weight_zero == nullptr) {
        candidate.problems.push_back(broken_rule(node, "weight_zero_point", "", "a constant",
                                                 "the zero point of the weights is not constant"));
    } else if (weight_zero != nullptr && !weight_zero->numbers.empty()) {
        subtract_zero(weights, *weight_zero, order);
    }
}

}  // namespace

GraphValue read_weights(const GraphView& view, Candidate& candidate, WeightOrder order) {
    const GraphNode& node = view.node(candidate.anchor);
    if (node.op.starts_with("QLinear")) {
        candidate.problems.push_back(
            broken_rule(node, "quantised_exact", "round half to even", "Floor",
                        node.text(not_exact_attribute, "the operator rounds to nearest")));
        return {};
    }
    const GraphValue* constant = view.graph().constant(node.inputs[1]);
    if (constant == nullptr) {
        const std::string reason = node.text(not_exact_attribute, "");
        candidate.problems.push_back(broken_rule(
            node, reason.empty() ? "weight_constant" : "quantised_exact", node.inputs[1],
            "a constant", reason.empty() ? "the weights are not constant" : reason));
        return {};
    }
    GraphValue weights = *constant;
    if (order == WeightOrder::Matrix) {
        if (weights.type.sizes.size() != 2) {
            candidate.problems.push_back(broken_rule(node, "weight_constant",
                                                     sizes_text(weights.type.sizes), "a matrix",
                                                     "the weights are not a matrix"));
            return {};
        }
        if (node.op == "Gemm" && node.integer("transB", 0) != 0) {
            transpose(weights);
        }
    }
    check_zero_points(view, candidate, weights, order);
    return weights;
}

namespace {

/// N C H W from 2 to 4 sizes.
Sizes as_cube(const Sizes& sizes) {
    Sizes cube = sizes;
    while (cube.size() < 4) {
        cube.push_back(1);
    }
    return cube;
}

}  // namespace

CandidateBuilder::CandidateBuilder(const GraphView& view, std::size_t anchor, bool with_residual)
    : view_(view), with_residual_(with_residual) {
    candidate_.anchor = anchor;
    candidate_.nodes.push_back(anchor);
}

void CandidateBuilder::complain(const char* rule, std::string value, const std::string& allowed,
                                std::string sentence) {
    complain_at(candidate_.anchor, rule, std::move(value), allowed, std::move(sentence));
}

void CandidateBuilder::complain_at(std::size_t node, const char* rule, std::string value,
                                   const std::string& allowed, std::string sentence) {
    candidate_.problems.push_back(
        broken_rule(view_.node(node), rule, std::move(value), allowed, std::move(sentence)));
}

void CandidateBuilder::take_ends() {
    candidate_.input = node().inputs.front();
    candidate_.output = node().outputs.front();
    candidate_.in = as_cube(sizes(candidate_.input));
    candidate_.out = as_cube(sizes(candidate_.output));
}

/// The steps after `from` as the layer's sequence; `own_bias` stands in the anchor itself.
void CandidateBuilder::take_sequence(std::span<const RawStep> steps) {
    ParsedSequence parsed = parse_sequence(view_, candidate_.anchor, steps, with_residual_);
    candidate_.norm = std::move(parsed.norm);
    candidate_.nodes.insert(candidate_.nodes.end(), parsed.nodes.begin(), parsed.nodes.end());
    candidate_.problems.insert(candidate_.problems.end(), parsed.problems.begin(),
                               parsed.problems.end());
    if (!parsed.output.empty()) {
        candidate_.output = parsed.output;
    }
    take_cast();
}

/// A cast after the sequence that only stores its numbers more narrowly belongs to it.
void CandidateBuilder::take_cast() {
    const auto reader = view_.only_reader(candidate_.output);
    if (!reader || view_.node(*reader).op != "Cast" || !candidate_.norm.clip) {
        return;
    }
    const std::string& stored = view_.node(*reader).outputs.front();
    const NumberRange range = range_of(view_.graph().types.at(stored).element);
    if (candidate_.norm.clip->low >= range.low && candidate_.norm.clip->high <= range.high) {
        candidate_.nodes.push_back(*reader);
        candidate_.output = stored;
    }
}

/// A bias in the anchor itself goes before those of the sequence.
void CandidateBuilder::take_own_bias(const std::string& tensor) {
    if (tensor.empty()) {
        return;
    }
    const GraphValue* constant = view_.graph().constant(tensor);
    if (constant == nullptr) {
        complain("bias_constant", tensor, "a constant", "the bias is not constant");
        return;
    }
    std::optional<Step>& bias = candidate_.norm.bias;
    if (!bias) {
        bias = Step{candidate_.anchor, constant->numbers};
        return;
    }
    std::vector<double> sum(std::max(constant->numbers.size(), bias->numbers.size()));
    for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] = bias->at(i) + constant->numbers[constant->numbers.size() == 1 ? 0 : i];
    }
    bias->numbers = std::move(sum);
}

void CandidateBuilder::take_first(std::vector<RawStep>& steps) {
    candidate_.nodes.insert(candidate_.nodes.end(), steps[0].nodes.begin(), steps[0].nodes.end());
    candidate_.output = steps[0].output;
    steps.erase(steps.begin());
}

namespace {

class WeightedReader : private CandidateBuilder {
 public:
    using CandidateBuilder::CandidateBuilder;

    Candidate read() {
        const std::string& op = node().op;
        if (op == "Conv" || op == "ConvInteger" || op == "QLinearConv") {
            return read_conv();
        }
        return op == "ConvTranspose" ? read_transposed() : read_fc();
    }

 private:
    Candidate read_conv() {
        take_ends();
        const bool quantised = node().op == "QLinearConv";
        const Sizes& weight_sizes = sizes(node().inputs[quantised ? 3 : 1]);
        candidate_.groups = node().integer("group", 1);
        candidate_.window = conv_window(node(), sizes(candidate_.input),
                                        Sizes(weight_sizes.begin() + 2, weight_sizes.end()));
        candidate_.weights = read_weights(view_, candidate_, WeightOrder::Conv);
        take_sequence(quantised ? std::vector<RawStep>{}
                                : read_steps(view_, {candidate_.output, 1}));
        if (node().op == "Conv") {
            take_own_bias(node().input(2));
        }
        candidate_.pattern = conv_pattern();
        if (candidate_.pattern == Pattern::Pwconv && !candidate_.norm.residual.empty()) {
            candidate_.pattern = Pattern::Pwconvres;
        }
        return std::move(candidate_);
    }

    Pattern conv_pattern() const {
        const std::int64_t channels = candidate_.in[1];
        if (candidate_.groups > 1 && candidate_.groups == channels &&
            candidate_.out[1] == channels) {
            return Pattern::Dwconv;
        }
        if (candidate_.window.kernel_area() == 1) {
            return Pattern::Pwconv;
        }
        return channels == 1 ? Pattern::Fconv : Pattern::Gconv;
    }

    Candidate read_transposed() {
        take_ends();
        candidate_.pattern = Pattern::Tconv;
        const Sizes& weight_sizes = sizes(node().inputs[1]);
        candidate_.groups = node().integer("group", 1);
        candidate_.window = transposed_window(node(), sizes(candidate_.input),
                                              Sizes(weight_sizes.begin() + 2, weight_sizes.end()));
        candidate_.weights = read_weights(view_, candidate_, WeightOrder::Transposed);
        take_sequence(read_steps(view_, {candidate_.output, 1}));
        take_own_bias(node().input(2));
        return std::move(candidate_);
    }

    Candidate read_fc() {
        take_ends();
        candidate_.pattern = Pattern::Fc;
        candidate_.window.axes = {WindowAxis{}, WindowAxis{}};
        const Sizes& in = sizes(candidate_.input);
        const Sizes& out = sizes(candidate_.output);
        const std::int64_t inner = in.empty() ? 1 : in.back();
        const auto rows =
            static_cast<std::int64_t>(count_elements(in)) / std::max<std::int64_t>(inner, 1);
        candidate_.in = {rows, inner, 1, 1};
        candidate_.out = {rows, out.empty() ? 1 : out.back(), 1, 1};
        candidate_.weights = read_weights(view_, candidate_, WeightOrder::Matrix);
        const bool quantised = node().op == "QLinearMatMul";
        take_sequence(quantised || out.empty()
                          ? std::vector<RawStep>{}
                          : read_steps(view_, {candidate_.output, out.size() - 1}));
        if (node().op == "Gemm") {
            take_own_bias(node().input(2));
            const bool plain = node().number("alpha", 1) == 1 &&
                               (node().number("beta", 1) == 1 || node().input(2).empty()) &&
                               node().integer("transA", 0) == 0;
            if (!plain) {
                complain("gemm_plain", "", "alpha 1, beta 1, transA 0",
                         "the product is scaled or its input turned");
            }
        }
        look_through_flatten();
        return std::move(candidate_);
    }

    /// FC reads the cube that is flattened before it: the same numbers, from where they lie.
    void look_through_flatten() {
        std::string tensor = candidate_.input;
        while (const auto producer = view_.producer(tensor)) {
            const GraphNode& node = view_.node(*producer);
            const bool view = node.op == "Flatten" || node.op == "Reshape" ||
                              node.op == "Squeeze" || node.op == "Unsqueeze" ||
                              node.op == "Identity";
            if (!view || view_.graph().is_constant(node.inputs.front())) {
                break;
            }
            tensor = node.inputs.front();
            const Sizes& in = sizes(tensor);
            if (in.size() == 4 && in[0] == 1 && candidate_.in[0] == 1) {
                candidate_.input = tensor;
                candidate_.in = in;
            }
        }
    }
};

enum class Family { None, Weighted, Pool };

Family family_of(const std::string& op) {
    for (const char* weighted : {"Conv", "ConvInteger", "QLinearConv", "ConvTranspose", "MatMul",
                                 "Gemm", "MatMulInteger", "QLinearMatMul"}) {
        if (op == weighted) {
            return Family::Weighted;
        }
    }
    for (const char* pool :
         {"MaxPool", "AveragePool", "ReduceSum", "ReduceMean", "GlobalAveragePool"}) {
        if (op == pool) {
            return Family::Pool;
        }
    }
    return Family::None;
}

}  // namespace

std::optional<Candidate> read_candidate(const GraphView& view, std::size_t anchor,
                                        bool with_residual) {
    switch (family_of(view.node(anchor).op)) {
        case Family::None:
            return std::nullopt;
        case Family::Weighted:
            return WeightedReader(view, anchor, with_residual).read();
        case Family::Pool:
            return read_pool(view, anchor, with_residual);
    }
    return std::nullopt;
}

}  // namespace npuscope
