// SPDX-License-Identifier: Apache-2.0
// Layers of a model whose maps have 16 bits, for NVDLAs that compute with them: fp16, where a model
// computes with such floats, and int16, between a DequantizeLinear and a QuantizeLinear of zero points
// of 0. Products with constant weights and the activation after them, averages over windows of one
// size as depth-wise products, maxima, and sums of two maps.
//
// fp16: sums leave the accumulator as fp32, biases and the operands of additions are fp16.
// int16: sums are shifted so that they fit 32 bits, then
//
//     round((sum + bias) * factor / 2^shift)            factor: 15 bits, one for each kernel
//     round((a * factor + b * 2^left) * scale / 2^shift)
//
// Results lie near the model's: its own numbers are rounded elsewhere.
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

/// Of the maps that a model's products read: int8 where none has 16 bits.
Precision map_precision(const Graph& graph);

/// The group of such maps that is built on node `anchor`; nothing where there is none.
std::optional<NodeGroup> wide_group_at(const GraphView& model, std::size_t anchor,
                                       Precision precision);
/// Whether a group is of wide_group_at().
bool is_wide_group(const NodeGroup& group);
/// What stands against it goes to `problems`; the result is then not to be used.
Layer lower_wide_group(const GraphView& model, const NodeGroup& group, Precision precision,
                       Diagnostics& problems);

/// A layer as it was read from a model, before it is lowered.
inline constexpr double largest_wide = 32767;

struct WideGroup {
    LayerKind kind = LayerKind::Conv;
    Window window{};
    std::int64_t groups = 1;
    std::vector<double> weights{};  ///< kernel, channel, row, column; of the codes of int16
    std::vector<double> bias{};     ///< empty, or one per kernel; in units of the sums
    std::vector<double> factors{};  ///< int16: of a sum to a result, one or one per kernel
    bool relu = false;
    std::optional<double> most{};  ///< results are not above; of reals
    double first = 1;              ///< of a sum of maps: result steps of one of the first map's
    double second = 1;
    std::string problem{};
};

}  // namespace npuscope
