// SPDX-License-Identifier: Apache-2.0
// The family tinpu: NPUs that run whole layers, launched directly.
#pragma once

#include "sim/compile/tinpu/layer_system.h"
#include "sim/config/system_config.h"

namespace npuscope {

extern template class TypedFamily<LayerNpuConfig>;

class TinpuFamily : public TypedFamily<LayerNpuConfig> {
 public:
    std::string_view name() const override { return "tinpu"; }
    std::unique_ptr<Machine> build(const AnyConfig& npu, DiagnosticLog& log) const override;
    std::shared_ptr<const Target> target(const AnyConfig& npu, const MemoryConfig& memory,
                                         bool values) const override;
    /// Of the simulator's own port.
    FamilyRegisters registers(const AnyConfig& npu) const override;
    std::shared_ptr<UnitJob> read_job(std::span<const std::uint8_t> descriptor) const override;
    std::vector<std::uint8_t> write_job(const UnitJob& job) const override;
};

SystemConfig tinpu_system(LayerNpuConfig npu, MemoryConfig memory = {}, HostConfig host = {});
/// ConfigError where the NPU is of another family.
const LayerNpuConfig& tinpu_npu(const SystemConfig& system);

}  // namespace npuscope
