// SPDX-License-Identifier: Apache-2.0
// The layer patterns of a TINPU: sequences of ONNX operators that it runs as one layer.
// source: TI Neural Network Compiler for MCUs, User's Guide, Supported Layer Patterns, v2.1.0
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "models/base/describe.h"

namespace npuscope {

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

}  // namespace npuscope
