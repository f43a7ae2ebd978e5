// SPDX-License-Identifier: Apache-2.0
// Post-training quantisation: turns a float model and typical inputs into an int8, int16 or fp16
// model, and measures the loss.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/quantise/calibration.h"
#include "sim/quantise/mixed_precision.h"
#include "sim/quantise/signal_to_noise.h"

namespace npuscope {

/// Type of quantised maps and weights.
enum class MapType { Int8, Int16, Fp16 };

template <>
struct EnumNames<MapType> {
    static constexpr std::array names{std::pair{MapType::Int8, std::string_view("int8")},
                                      std::pair{MapType::Int16, std::string_view("int16")},
                                      std::pair{MapType::Fp16, std::string_view("fp16")}};
};

/// Limit for QuantiseOptions; higher targets make no difference.
inline constexpr std::uint32_t most_target_decibels = 200;

struct QuantiseOptions {
    MapType type = MapType::Int8;
    RangeMethod method = RangeMethod::Best;
    bool correct_biases = true;
    bool equalise = true;
    std::uint32_t target_decibels = 25;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("type", self.type,
                    "type of the quantised feature maps and weights: int8; int16 or fp16 for NPUs "
                    "that support it");
        visit.field("method", self.method,
                    "quantisation range: all values that occur (minmax), all but the outermost "
                    "0.01 % (percentile), the one with the least mean squared error (mse), or "
                    "whichever of them gives the most accurate outputs (best)");
        visit.field("correct_biases", self.correct_biases,
                    "biases compensate for the mean shift caused by weight rounding");
        visit.field("equalise", self.equalise,
                    "cross-layer equalisation: channels between two layers are scaled to one range "
                    "where that makes outputs more accurate");
        visit.field("target_decibels", self.target_decibels,
                    "target signal-to-noise ratio at the outputs, in dB, for every calibration "
                    "input: below it, ranges are chosen tensor by tensor, and then the layers that "
                    "lose most stay in float on the host; 0: no target; fp16 has none");
    }
};

struct QuantisedModel {
    Graph graph;  ///< QDQ or fp16; prepared
    MapType type = MapType::Int8;
    std::vector<NoiseRow> rows;                ///< for the calibration inputs
    double worst = 0;                          ///< decibels at the outputs, for the worst input
    double before = 0;                         ///< the same before tuning for the target
    std::size_t chosen = 0;                    ///< tensors with individual ranges, for the target
    std::vector<LeftLayer> left;               ///< layers that stay in float, for the target
    std::size_t products = 0;                  ///< layers whose weights were changed
    RangeMethod method = RangeMethod::Minmax;  ///< the one chosen
    bool equalised = false;                    ///< cross-layer equalisation was applied
    std::uint32_t opset = 0;                   ///< the model's original one
};

/// `graph` is prepared. ConfigError if it is not a float model, there is no case, a case does not
/// fit it, or the target is more than can be measured.
QuantisedModel quantise_model(Graph graph, const std::vector<Case>& cases,
                              const QuantiseOptions& options);

/// A float model as it would be quantised, for timing only; does nothing if the graph is not one.
/// `graph` is prepared, before and after; a note describes what was done.
void quantise_by_shape(Graph& graph, MapType type = MapType::Int8);

}  // namespace npuscope
