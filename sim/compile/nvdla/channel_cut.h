// SPDX-License-Identifier: Apache-2.0
// Which input channels and kernels of a convolution go together in one operation, in whole atoms of
// the surfaces.
//
// Groups: a feature atom cannot be split, so neighbouring groups are convolved together until their
// channels and kernels fill whole atoms; the weights between groups are zero. Depthwise layers
// become operations of 8 channels and 8 kernels on an atom of 8, of which one weight in 8 counts:
// the MAC array works at an eighth of its rate.
// Kernels so large that no whole group of them fits the buffer are computed a few at a time, and
// the result's atoms are left partly empty.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "sim/compile/nvdla/conv_tiling.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/model/network_shapes.h"

namespace npuscope {

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

}  // namespace npuscope
