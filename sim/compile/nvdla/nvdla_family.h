// SPDX-License-Identifier: Apache-2.0
// The family nvdla: NPUs that a host runs by registers.
#pragma once

#include "models/npu/npu_config.h"
#include "sim/config/system_config.h"

namespace npuscope {

extern template class TypedFamily<NpuConfig>;

class NvdlaFamily : public TypedFamily<NpuConfig> {
 public:
    std::string_view name() const override { return "nvdla"; }
    LimitRows limits() const override;
    std::string summary(const AnyConfig& npu) const override;
    std::unique_ptr<Machine> build(const AnyConfig& npu, DiagnosticLog& log) const override;
    std::shared_ptr<const Target> target(const AnyConfig& npu, const MemoryConfig& memory,
                                         bool values) const override;
    std::string_view fields_of(Cause cause) const override;
    FamilyRegisters registers(const AnyConfig& npu) const override;
};

SystemConfig nvdla_system(NpuConfig npu = {}, MemoryConfig memory = {}, HostConfig host = {});
/// ConfigError where the NPU is of another family.
const NpuConfig& nvdla_npu(const SystemConfig& system);
NpuConfig& nvdla_npu(SystemConfig& system);

}  // namespace npuscope
