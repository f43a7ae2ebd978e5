// SPDX-License-Identifier: Apache-2.0
// A convolution (or fully connected layer) as operations: slices of channels, tiles of rows,
// through CDMA, CSC and CACC, bias and ReLU in the SDP's first stage, a residual in its second one,
// and the PDP where it pools on the fly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/compile/nvdla/conv_tiling.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/compile/nvdla/plan_context.h"
#include "sim/compile/nvdla/synthetic_values.h"
#include "sim/model/network.h"

namespace npuscope {

/// A convolution with what is joined to it on the fly.
struct ConvTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& input;
    LayerValues values;
    std::string result{};  ///< layer that has the result, where another one is joined to it
    const StoredCube* residual = nullptr;  ///< added to the result
    bool relu_after_residual = false;
    const LayerShapes* pool = nullptr;  ///< pools the result on the fly
    PoolingMethod pooling = PoolingMethod::Max;
    std::vector<std::int8_t> table{};  ///< lookup table that the result passes on the fly
    Precision precision = Precision::Int8;
    bool alone = false;                        ///< its operations are all of the program
    const PixelFormat* or_pixels = nullptr;    ///< for best_tiling: the input may also be pixels
    const PixelFormat* told_pixels = nullptr;  ///< an alternative to features, to be reported
    InputConversion pixel_conversion{};        ///< where the input is in memory as pixels

    /// Value of the padding, two's complement.
    std::uint16_t pad_value() const {
        return values.given() != nullptr ? static_cast<std::uint16_t>(values.given()->padding) : 0;
    }
    /// Rows of the convolution per row of the result.
    std::uint32_t row_step() const { return pool != nullptr ? pool->window.stride_y : 1; }
};

/// The convolution of one slice by itself.
ConvProblem problem_of(const ConvTask& task, const ChannelSlice& slice);

/// The best way to cut it and to store its operands; nothing is planned. Nothing where the layer is
/// refused.
std::optional<ConvTiling> best_tiling(const ConvTask& task, PlanContext& context);

/// Adds the operations to the plan. Returns the result's place; nothing where the layer is refused.
std::optional<StoredCube> plan_conv(const ConvTask& task, PlanContext& context, ConvChoice& choice);

}  // namespace npuscope
