// SPDX-License-Identifier: Apache-2.0
// Layers of one operation from memory to memory: a pool by the PDP, its width split where the output
// lines would not fit the line buffer, an addition or product by the SDP, a function by a lookup table, and
// maps that are joined by the SDP.
#pragma once

#include <optional>
#include <vector>

#include "sim/compile/nvdla/plan_context.h"
#include "sim/model/network.h"

namespace npuscope {

/// Method, windows and strides of a layer; no parts and no output yet.
PdpPooling pooling_of(const LayerWindow& window, PoolingMethod method);

/// Whether the PDP can pool a convolution's result on its way to memory, whatever its tiles:
/// windows that neither overlap nor reach over, and lines that fit the line buffer.
bool can_fuse_pool(const LayerShapes& pool, const NpuConfig& npu);

struct PoolTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& input;
};
/// Adds the operation to the plan; answers where the result lies.
std::optional<StoredCube> plan_pool(const PoolTask& task, PlanContext& context);

struct AddTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& first;
    const StoredCube& second;
    const LayerNumbers* given = nullptr;  ///< a model's
};
/// Why they cannot be added where one leaves atoms partly empty and the other does not.
Diagnostic differing_lanes();
/// Likewise: one source flows through, the other is the first stage's operand.
std::optional<StoredCube> plan_add(const AddTask& task, PlanContext& context);

/// Whether lookups are the SDP's work, which does them on the way of a convolution's result as well; else the
/// CDP's.
inline bool looks_up_in_sdp(const NpuConfig& npu) { return npu.sdp.element_wise && npu.sdp.lut; }
/// The SDP's last stage, where integers of 8 bits and an offset come in; what lies beyond them has the results of
/// the ends.
SdpYStage lookup_stage(std::int32_t offset);
/// A ReLU of 32 bits after that stage's sum: a table of 0 to 256 that continues as it ends.
LookupConfig relu_lookup();
/// The linear table of 257 entries for it; empty where `table` is.
std::vector<std::int16_t> lookup_entries(const std::vector<std::int8_t>& table);

struct LookupTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& input;
    std::vector<std::int8_t> table;       ///< of -128 to 127; empty: a model's slopes
    const LayerNumbers* given = nullptr;  ///< a model's
};
/// Likewise: through the table of the SDP, or of the CDP where the SDP has none. Slopes are those of the SDP's
/// second stage.
std::optional<StoredCube> plan_lookup(const LookupTask& task, PlanContext& context);

struct MulTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& first;
    const StoredCube& second;             ///< of its shape, or of one row and column
    const LayerNumbers* given = nullptr;  ///< a model's
};
/// Likewise: the first map flows through the SDP, the second one is an operand.
std::optional<StoredCube> plan_mul(const MulTask& task, PlanContext& context);

struct ConcatTask {
    const Layer& layer;
    const LayerShapes& shapes;
    std::vector<const StoredCube*> inputs;
    std::vector<std::int16_t> offsets;  ///< taken off each; empty: none
};
/// Likewise: the SDP copies each map to its surfaces. All but the last fill their atoms.
std::optional<StoredCube> plan_concat(const ConcatTask& task, PlanContext& context);

struct SliceTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& input;
    Shape begin;     ///< channel, row and column
    bool rest_read;  ///< other layers read what this one leaves
};
/// Likewise: the SDP copies the part, which begins with an atom of channels. Not of an input, nor of a map
/// of which something is left over: what is written or loaded and never read is a finding.
std::optional<StoredCube> plan_slice(const SliceTask& task, PlanContext& context);

/// For each layer the one that is done on the way of its result to memory: an add, by the SDP's
/// second stage, or a pool, by the PDP.
std::vector<std::optional<std::size_t>> choose_fusions(const Network& network,
                                                       const std::vector<LayerShapes>& shapes,
                                                       const NpuConfig& npu);

/// What stands against them: a layer that a model adds before it clips must be joined.
std::optional<Diagnostic> missing_fusion(const Network& network,
                                         const std::vector<std::optional<std::size_t>>& fused);

}  // namespace npuscope
