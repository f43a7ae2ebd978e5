// SPDX-License-Identifier: Apache-2.0
// A part of a graph that looks like a layer pattern: the operator it is built on and the sequence
// after it, as the model spells them. Whether the hardware takes it is for the restrictions to
// say.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "models/base/diagnostic.h"
#include "sim/model/graph.h"
#include "sim/model/window.h"

namespace npuscope {

// The layer patterns of a TINPU: sequences of ONNX operators that it runs as one layer.
// source: TI Neural Network Compiler for MCUs, User's Guide, Supported Layer Patterns, v2.1.0

enum class Pattern {
    Fconv,
    Gconv,
    Dwconv,
    Pwconv,
    Pwconvres,
    Tconv,
    Fc,
    Avgpool,
    AvgpoolGlobal,
    Maxpool
};

template <>
struct EnumNames<Pattern> {
    static constexpr std::array names{
        std::pair{Pattern::Fconv, std::string_view("FCONV")},
        std::pair{Pattern::Gconv, std::string_view("GCONV")},
        std::pair{Pattern::Dwconv, std::string_view("DWCONV")},
        std::pair{Pattern::Pwconv, std::string_view("PWCONV")},
        std::pair{Pattern::Pwconvres, std::string_view("PWCONVRES")},
        std::pair{Pattern::Tconv, std::string_view("TCONV")},
        std::pair{Pattern::Fc, std::string_view("FC")},
        std::pair{Pattern::Avgpool, std::string_view("AVGPOOL")},
        std::pair{Pattern::AvgpoolGlobal, std::string_view("AVGPOOL_GLOBAL")},
        std::pair{Pattern::Maxpool, std::string_view("MAXPOOL")}};
};

/// What a pattern is made of, for people.
struct PatternRow {
    Pattern pattern;
    std::string_view sequence;
};
inline constexpr std::string_view bnorm_sequence =
    "Add (bias), Mul (scale), Div (2^n), Floor, Clip";
inline constexpr std::string_view bnormres_sequence =
    "Add (bias), Mul (scale), Div (2^n), Floor, Clip (-512..511), Add (residual), Clip";
inline constexpr std::array pattern_rows{
    PatternRow{Pattern::Fconv, "Conv, 1 input channel, BNORM"},
    PatternRow{Pattern::Gconv, "Conv, BNORM"},
    PatternRow{Pattern::Dwconv, "Conv, depth-wise, BNORM"},
    PatternRow{Pattern::Pwconv, "Conv 1x1, BNORM"},
    PatternRow{Pattern::Pwconvres, "Conv 1x1, BNORMRES"},
    PatternRow{Pattern::Tconv, "ConvTranspose, BNORM"},
    PatternRow{Pattern::Fc, "MatMul or Gemm, BNORM"},
    PatternRow{Pattern::Avgpool, "AveragePool, Mul (by the window's area), Round, BNORM"},
    PatternRow{Pattern::AvgpoolGlobal, "ReduceSum over height and width, Round, BNORM"},
    PatternRow{Pattern::Maxpool, "MaxPool"}};

/// Whether a layer of this pattern has weights.
constexpr bool has_weights(Pattern pattern) {
    return pattern != Pattern::Avgpool && pattern != Pattern::AvgpoolGlobal &&
           pattern != Pattern::Maxpool;
}

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

/// Add -> Mul (-> Add) -> Div -> Floor -> Clip (-> Add -> Clip), whatever of it is there.
struct NormSequence {
    std::optional<Step> bias;  ///< all biases together
    std::optional<Step> scale;
    std::optional<Step> offset;          ///< added after the scale
    std::optional<Step> divisor;         ///< 2^n, whether divided by or multiplied with 2^-n
    std::optional<std::size_t> to_even;  ///< node that rounds halves to even in Floor's place
    std::optional<ClipStep> clip;
    std::optional<ClipStep> preclip;  ///< of BNORMRES
    std::string residual;             ///< tensor; empty: none
    std::size_t residual_node = 0;

    /// Biases follow each other without rounding, so they are one.
    void add_bias(const Step& more) {
        if (!bias) {
            bias = more;
            return;
        }
        std::vector<double> sum(std::max(bias->numbers.size(), more.numbers.size()));
        for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] = bias->at(i) + more.at(i);
        }
        bias->numbers = std::move(sum);
    }
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
    GraphValue weights;     ///< [K C/groups R S], of TCONV [C K R S], of FC [C K]; integers wanted
    double input_zero = 0;  ///< taken off the input; padding counts as it
    NormSequence norm;
    double area = 1;  ///< of AVGPOOL: what the average was multiplied with
    bool count_padding = false;
    PoolRounding rounding = PoolRounding::HalfEven;
    Diagnostics problems;  ///< found while reading: order, missing parts

    bool is_pool() const { return !has_weights(pattern); }
};

/// The candidate built on node `anchor`; nothing where no pattern is built on such an operator.
/// With `with_residual` false it ends before a residual.
std::optional<Candidate> read_candidate(const GraphView& view, std::size_t anchor,
                                        bool with_residual);

// A product of all numbers reads the cube that is flattened before it: the same numbers, from where
// they lie.

struct CubeRead {
    std::string tensor;
    Sizes cube;  ///< N C H W
};

/// Looks through the views before `read`, where it is one row: the first cube of one image that they
/// begin with, else what is given.
CubeRead flattened_cube(const GraphView& view, CubeRead read);

}  // namespace npuscope
