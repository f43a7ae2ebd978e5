// SPDX-License-Identifier: Apache-2.0
// A convolution (or fully connected layer) to operations: slices of channels, tiles
// of rows, bias and ReLU in the SDP's first stage, a residual in its second one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/compile/nvdla/conv_tiling.h"
#include "sim/compile/nvdla/pdp_planner.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/compile/nvdla/plan_context.h"
#include "sim/compile/nvdla/synthetic_values.h"
#include "sim/model/network.h"

namespace npuscope {

// Which input channels and kernels of a convolution go together in one operation, in whole atoms of
// the surfaces.
//
// Groups: a feature atom cannot be split, so neighbouring groups are convolved together until their
// channels and kernels fill whole atoms; the weights between groups are zero. Depthwise layers
// become operations of 8 channels and 8 kernels on an atom of 8, of which one weight in 8 counts:
// the MAC array works at an eighth of its rate.
// Kernels so large that no whole group of them fits the buffer are computed a few at a time, and
// the result's atoms are left partly empty.

/// Input channels and kernels of one operation.
struct ChannelSlice {
    std::uint32_t input_atom = 0;
    std::uint32_t channels = 0;
    std::uint32_t output_atom = 0;
    std::uint32_t kernels = 0;
};

struct ChannelCut {
    std::vector<ChannelSlice> slices;
    std::uint32_t lanes = 8;           ///< of an output atom that are in use
    std::uint32_t group_channels = 0;  ///< of one of the layer's groups; 0: it has none
    std::uint32_t group_kernels = 0;
};

/// A convolution to be cut.
struct CutTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& input;
};

/// The convolution of one slice.
ConvProblem problem_of(const CutTask& task, const ChannelSlice& slice);

/// Or why the layer cannot be cut.
std::variant<ChannelCut, Diagnostic> cut_channels(const CutTask& task, const NpuConfig& npu);

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
