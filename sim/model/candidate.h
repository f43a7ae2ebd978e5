// SPDX-License-Identifier: Apache-2.0
// A part of a graph that looks like a layer pattern: its anchor operator and the sequence after it,
// as the model spells them. Whether the hardware supports it is decided by the restrictions.
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

// Rules that candidates and the reasons for the host name.
inline constexpr const char* quantised_exact_rule = "quantised_exact";
inline constexpr const char* weight_constant_rule = "weight_constant";

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

/// Human-readable description of a pattern's operators.
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

/// A rule that a node of a layer violates, with the only allowed value.
inline Diagnostic broken_rule(const GraphNode& node, const char* rule, std::string value,
                              const std::string& allowed, std::string sentence) {
    return {.id = rule,
            .sentence = std::move(sentence),
            .operation = node_name(node),
            .value = std::move(value),
            .allowed = allowed,
            .nearest = allowed};
}

/// Constants of one step of the sequence: one value, or one per output channel.
struct Step {
    std::size_t node = 0;  ///< its position in the graph
    std::vector<double> numbers;

    double at(std::size_t channel) const { return numbers[numbers.size() == 1 ? 0 : channel]; }
};

struct ClipStep {
    std::size_t node = 0;
    double low = 0;
    double high = 0;
};

/// Add -> Mul (-> Add) -> Div -> Floor -> Clip (-> Add -> Clip); every step is optional.
struct NormSequence {
    std::optional<Step> bias;  ///< sum of all biases
    std::optional<Step> scale;
    std::optional<Step> offset;          ///< added after the scale
    std::optional<Step> divisor;         ///< 2^n, whether divided by it or multiplied by 2^-n
    std::optional<std::size_t> to_even;  ///< node that rounds ties to even instead of Floor
    std::optional<ClipStep> clip;
    std::optional<ClipStep> preclip;  ///< of BNORMRES
    std::string residual;             ///< tensor; empty: none
    std::size_t residual_node = 0;

    /// Consecutive biases have no rounding between them, so they are merged into one.
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

/// How the sum of an average pool is rounded to an integer.
enum class PoolRounding { HalfEven, HalfUp };

struct Candidate {
    Pattern pattern = Pattern::Gconv;
    std::size_t anchor = 0;          ///< operator node that it is built around
    std::vector<std::size_t> nodes;  ///< all of its nodes, including the anchor
    std::string input;               ///< tensors
    std::string output;
    Sizes in;   ///< N C H W; for FC: N C 1 1, or the cube that is flattened
    Sizes out;  ///< N C H W
    Window window;
    std::int64_t groups = 1;
    GraphValue weights;     ///< [K C/groups R S], TCONV [C K R S], FC [C K]; must be integers
    double input_zero = 0;  ///< subtracted from the input; also the padding value
    NormSequence norm;
    double area = 1;  ///< AVGPOOL: factor that the average is multiplied by
    bool count_padding = false;
    PoolRounding rounding = PoolRounding::HalfEven;
    Diagnostics problems;  ///< found while reading: order, missing parts

    bool is_pool() const { return !has_weights(pattern); }
};

/// The candidate with anchor node `anchor`; nothing if no pattern starts with its operator. If
/// `with_residual` is false, it ends before a residual.
std::optional<Candidate> read_candidate(const GraphView& view, std::size_t anchor,
                                        bool with_residual);

/// The result that a residual is added to: the other operand of the Add. Layers add maps of one
/// shape, element by element; they do not broadcast either.
const std::string& joined_result(const GraphView& view, const NormSequence& norm);

// A fully connected product reads the cube that is flattened before it: the same values, directly
// from where they are stored.

struct CubeRead {
    std::string tensor;
    Sizes cube;  ///< N C H W
};

/// If `read` is one row, follows the views before it to the first cube of one image that they start
/// from; otherwise returns `read`.
CubeRead flattened_cube(const GraphView& view, CubeRead read);

}  // namespace npuscope
