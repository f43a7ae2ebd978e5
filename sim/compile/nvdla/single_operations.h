// SPDX-License-Identifier: Apache-2.0
// Layers of one operation from memory to memory: a pool by the PDP, split by columns where the
// output lines would not fit the line buffer, an addition or product by the SDP, a function by a
// lookup table, and maps that the SDP concatenates.
#pragma once

#include <optional>
#include <vector>

#include "sim/compile/nvdla/plan_context.h"
#include "sim/model/network.h"

namespace npuscope {

/// Method, windows and strides of a layer; no parts and no output yet.
PdpPooling pooling_of(const LayerWindow& window, PoolingMethod method);

/// Whether the PDP can pool a convolution's result on the fly, whatever its tiles: windows that
/// neither overlap nor exceed the map, and lines that fit the line buffer.
bool can_fuse_pool(const LayerShapes& pool, const NpuConfig& npu);

struct PoolTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& input;
};
/// Adds the operation to the plan; returns the result's place.
std::optional<StoredCube> plan_pool(const PoolTask& task, PlanContext& context);

struct AddTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& first;
    const StoredCube& second;
    const LayerNumbers* given = nullptr;  ///< from a model
};
/// Why they cannot be added where one leaves atoms partly empty and the other does not.
Diagnostic differing_lanes(std::uint32_t one, std::uint32_t other);
/// Adds an addition: one source flows through, the other is the first stage's operand.
std::optional<StoredCube> plan_add(const AddTask& task, PlanContext& context);

/// Whether the SDP does lookups, also on the fly for a convolution's result; otherwise the CDP
/// does.
inline bool looks_up_in_sdp(const NpuConfig& npu) { return npu.sdp.element_wise && npu.sdp.lut; }
/// The SDP's last stage, with 8-bit integers plus an offset as input; values beyond the table yield
/// the results at its ends.
SdpYStage lookup_stage(std::int32_t offset);
/// A 32-bit ReLU after that stage's sum: a table of 0 to 256 that continues beyond its end.
LookupConfig relu_lookup();
/// Its linear table of 257 entries; empty where `table` is.
std::vector<std::int16_t> lookup_entries(const std::vector<std::int8_t>& table);

struct LookupTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& input;
    std::vector<std::int8_t> table;       ///< for -128 to 127; empty: a model's slopes
    const LayerNumbers* given = nullptr;  ///< from a model
};
/// Adds a lookup by the table of the SDP, or of the CDP where the SDP has none. Slopes are those of
/// the SDP's second stage.
std::optional<StoredCube> plan_lookup(const LookupTask& task, PlanContext& context);

struct MulTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& first;
    const StoredCube& second;             ///< of the same shape, or of one row and column
    const LayerNumbers* given = nullptr;  ///< from a model
};
/// Adds a product: the first map flows through the SDP, the second one is an operand.
std::optional<StoredCube> plan_mul(const MulTask& task, PlanContext& context);

struct ConcatTask {
    const Layer& layer;
    const LayerShapes& shapes;
    std::vector<const StoredCube*> inputs;
    std::vector<std::int16_t> offsets;  ///< subtracted from each; empty: none
};
/// Adds a concatenation: the SDP copies each map to its surfaces. All but the last fill atoms.
std::optional<StoredCube> plan_concat(const ConcatTask& task, PlanContext& context);

struct SliceTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& input;
    Shape begin;     ///< channel, row and column
    bool rest_read;  ///< other layers read the remainder
};
/// Adds a slice: the SDP copies the part, which begins at a channel atom. Not for an input, nor for
/// a map with an unread remainder: what is written or loaded and never read is a finding.
std::optional<StoredCube> plan_slice(const SliceTask& task, PlanContext& context);

/// For each layer the one that is applied to its result on the fly: an add, by the SDP's second
/// stage, or a pool, by the PDP.
std::vector<std::optional<std::size_t>> choose_fusions(const Network& network,
                                                       const std::vector<LayerShapes>& shapes,
                                                       const NpuConfig& npu);

/// The problem where a required one is missing: a layer added before a model's clip must be joined.
std::optional<Diagnostic> missing_fusion(const Network& network,
                                         const std::vector<std::optional<std::size_t>>& fused);

}  // namespace npuscope
