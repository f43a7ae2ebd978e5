// SPDX-License-Identifier: Apache-2.0
// A convolution (or fully connected layer) to operations: slices of channels (channel_cut.h), tiles
// of rows, bias and ReLU in the SDP's first stage, a residual in its second one.
#pragma once

#include <optional>
#include <string>

#include "sim/compile/nvdla/channel_cut.h"
#include "sim/compile/nvdla/pdp_planner.h"
#include "sim/compile/nvdla/plan_context.h"
#include "sim/compile/nvdla/synthetic_values.h"
#include "sim/model/network_shapes.h"

namespace npuscope {

/// A convolution as the network asks for it, with what is joined to it on the way to memory.
struct ConvTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const WrittenCube& input;
    LayerValues values;
    std::string result{};  ///< layer whose result it is, where another one is joined to it
    const WrittenCube* residual = nullptr;  ///< added to the result
    bool relu_after_residual = false;
    const LayerShapes* pool = nullptr;  ///< pools the result on the way to memory
    PoolingMethod pooling = PoolingMethod::Max;
    const PixelFormat* or_pixels = nullptr;    ///< for best_form: the input may be pixels as well
    const PixelFormat* told_pixels = nullptr;  ///< could be chosen as well as features
    InputConversion pixel_conversion{};        ///< where the input lies in memory as pixels

    /// Around the input, two's complement.
    std::uint16_t pad_value() const {
        return values.given() != nullptr ? static_cast<std::uint16_t>(values.given()->padding) : 0;
    }
    CutTask cut_task() const { return {layer, shapes, input.stored}; }
    /// Rows of the convolution for each of the result.
    std::uint32_t row_step() const { return pool != nullptr ? pool->window.stride_y : 1; }
};

/// Whether a residual can be added on the way to memory.
inline bool can_fuse_residual(const SdpConfig& sdp) { return sdp.bn; }

/// How it would best be cut, and its operands lie in memory; nothing is planned. Nothing where the
/// layer is refused.
std::optional<ConvTiling> best_tiling(const ConvTask& task, PlanContext& context);

/// Adds the operations to the plan. Where the result lies; nothing where the layer is refused.
std::optional<WrittenCube> plan_conv(const ConvTask& task, PlanContext& context,
                                     ConvChoice& choice);

}  // namespace npuscope
