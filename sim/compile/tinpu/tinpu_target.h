// SPDX-License-Identifier: Apache-2.0
// What a TINPU supports of a model: the layer patterns of its preset's restrictions.
#pragma once

#include <cstdint>
#include <utility>

#include "sim/compile/partition.h"
#include "sim/compile/tinpu/restrictions.h"
#include "sim/config/system_config.h"

namespace npuscope {

extern template class TypedFamily<LayerNpuConfig>;

/// Width of a feature map.
struct MapWidth {
    unsigned bits = 8;
    bool is_signed = false;
};
/// Width of a layer's output; MAXPOOL keeps its input's.
std::optional<MapWidth> clip_width(const Candidate& candidate);
/// `8-bit signed`.
std::string width_text(const std::optional<MapWidth>& width);

/// The lowered form of a group.
struct TinpuLayer {
    std::uint32_t weight_bits = 0;    ///< 0: no weights
    std::optional<MapWidth> input{};  ///< nothing where it is not known, or fits no width
};
/// The layer of a group that a TINPU's target lowered.
const TinpuLayer& tinpu_layer(const NodeGroup& group);

class TinpuTarget final : public Target {
 public:
    explicit TinpuTarget(LayerNpuConfig config, MemoryConfig memory = {})
        : config_(std::move(config)), memory_(std::move(memory)) {}

    std::unique_ptr<ModelPlan> plan(const Graph& graph, const ValueRanges& given) const override;

    std::optional<NodeGroup> group_at(const GraphView& model, std::size_t anchor,
                                      bool with_residual) const override;
    Diagnostics lower(const GraphView& model, NodeGroup& group) const override;
    bool computes_integers() const override { return true; }
    bool joins_segments() const override { return false; }
    std::string unit_of(const NodeGroup& group, std::size_t node) const override;
    std::string configuration(const NodeGroup& group) const override;

 private:
    LayerNpuConfig config_;
    MemoryConfig memory_;
};

/// NPUs that run whole layers, launched directly.
class TinpuFamily : public TypedFamily<LayerNpuConfig> {
 public:
    std::string_view name() const override { return "tinpu"; }
    LimitRows limits() const override;
    std::unique_ptr<Machine> build(const AnyConfig& npu, DiagnosticLog& log) const override;
    std::shared_ptr<const Target> target(const AnyConfig& npu, const MemoryConfig& memory,
                                         bool values) const override;
    /// Registers of the simulator's own port.
    FamilyRegisters registers(const AnyConfig& npu) const override;
    std::string_view fields_of(Cause cause) const override;
    std::shared_ptr<UnitJob> read_job(std::span<const std::uint8_t> descriptor) const override;
    std::vector<std::uint8_t> write_job(const UnitJob& job) const override;
};

SystemConfig tinpu_system(LayerNpuConfig npu, MemoryConfig memory = {}, HostConfig host = {});
/// ConfigError where the NPU is of another family.
const LayerNpuConfig& tinpu_npu(const SystemConfig& system);

}  // namespace npuscope
