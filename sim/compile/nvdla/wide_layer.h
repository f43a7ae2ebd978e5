// SPDX-License-Identifier: Apache-2.0
// Layers of a model with 16-bit maps, for NVDLAs that compute with them: fp16, where a model
// computes with such floats, and int16, between a DequantizeLinear and a QuantizeLinear with zero
// points of 0. Products with constant weights and the activation after them, averages over windows
// of one size as depthwise products, maxima, and sums of two maps.
//
// fp16: sums leave the accumulator as fp32, biases and the operands of additions are fp16.
// int16: sums are shifted to fit 32 bits, then
//
//     round((sum + bias) * factor / 2^shift)            factor: 15 bits, one per kernel
//     round((a * factor + b * 2^left) * scale / 2^shift)
//
// Results are close to the model's: its own values are rounded elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/layout/precision.h"
#include "sim/compile/nvdla/register_layer.h"
#include "sim/compile/partition.h"
#include "sim/model/network.h"
#include "sim/model/window.h"

namespace npuscope {

/// Precision of the maps that a model's products read: int8 where none has 16 bits.
Precision map_precision(const Graph& graph);

/// The group of such maps built on node `anchor`; nothing where there is none.
std::optional<NodeGroup> wide_group_at(const GraphView& model, std::size_t anchor,
                                       Precision precision);
/// Whether wide_group_at() returned the group.
bool is_wide_group(const NodeGroup& group);
/// Problems are added to `problems`; the result must then not be used.
Layer lower_wide_group(const GraphView& model, const NodeGroup& group, Precision precision,
                       Diagnostics& problems);

/// A layer as it was read from a model, before it is lowered.
inline constexpr double largest_wide = 32767;

struct WideGroup {
    LayerKind kind = LayerKind::Conv;
    Window window{};
    std::int64_t groups = 1;
    std::vector<double> weights{};  ///< kernel, channel, row, column; int16: codes
    std::vector<double> bias{};     ///< empty, or one per kernel; in units of the sums
    std::vector<double> factors{};  ///< int16: from a sum to a result, one or one per kernel
    bool relu = false;
    std::optional<double> most{};  ///< upper limit of the results, as reals
    double first = 1;              ///< of a sum of maps: result steps per step of the first map
    double second = 1;
    std::string problem{};
};

}  // namespace npuscope
