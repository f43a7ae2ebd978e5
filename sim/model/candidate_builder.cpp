// SPDX-License-Identifier: Apache-2.0
#include "sim/model/candidate_builder.h"

#include <algorithm>

#include "sim/model/sequence_parser.h"

namespace npuscope {
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

/// The steps behind `from` as the layer's sequence; `own_bias` stands in the anchor itself.
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

/// A cast behind the sequence that only stores its numbers more narrowly belongs to it.
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

}  // namespace npuscope
