// SPDX-License-Identifier: Apache-2.0
// A part of a graph that looks like a layer pattern: the operator it is built on and the sequence
// behind it, as the model spells them. Whether the hardware takes it is for the restrictions to
// say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/model/graph.h"
#include "sim/model/pattern.h"
#include "sim/model/window.h"

namespace npuscope {

/// A rule that a node of a layer breaks, and the only value that it takes.
inline Diagnostic broken_rule(const GraphNode& node, const char* rule, std::string value,
                              const std::string& allowed, std::string sentence) {
    return {.id = rule,
            .sentence = std::move(sentence),
            .operation = node_name(node),
            .value = std::move(value),
            .allowed = allowed,
            .nearest = allowed};
}

/// Constants of one step of the sequence: one number, or one per output channel.
struct Step {
    std::size_t node = 0;  ///< where it stands
    std::vector<double> numbers;

    double at(std::size_t channel) const { return numbers[numbers.size() == 1 ? 0 : channel]; }
};

struct ClipStep {
    std::size_t node = 0;
    double low = 0;
    double high = 0;
};

/// Add -> Mul -> Div -> Floor -> Clip (-> Add -> Clip), whatever of it is there.
struct NormSequence {
    std::optional<Step> bias;  ///< all biases together
    std::optional<Step> scale;
    std::optional<Step> divisor;  ///< 2^n, whether divided by or multiplied with 2^-n
    std::optional<ClipStep> clip;
    std::optional<ClipStep> preclip;  ///< of BNORMRES
    std::string residual;             ///< tensor; empty: none
    std::size_t residual_node = 0;
};

/// How an average pool's sum becomes whole.
enum class PoolRounding { HalfEven, HalfUp };

struct Candidate {
    Pattern pattern = Pattern::Gconv;
    std::size_t anchor = 0;          ///< node that it is built on
    std::vector<std::size_t> nodes;  ///< all of its nodes, the anchor among them
    std::string input;               ///< tensors
    std::string output;
    Sizes in;   ///< N C H W; of FC: N C 1 1, or the cube that is flattened
    Sizes out;  ///< N C H W
    Window window;
    std::int64_t groups = 1;
    GraphValue weights;  ///< [K C/groups R S], of TCONV [C K R S], of FC [C K]; integers wanted
    NormSequence norm;
    double area = 1;  ///< of AVGPOOL: what the average was multiplied with
    bool count_padding = false;
    PoolRounding rounding = PoolRounding::HalfEven;
    Diagnostics problems;  ///< found while reading: order, missing parts

    bool is_pool() const { return !has_weights(pattern); }
};

}  // namespace npuscope
