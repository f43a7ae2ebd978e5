// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/tinpu_family.h"

#include <algorithm>
#include <array>

#include "models/npu/layer_npu.h"
#include "models/tinpu/tinpu_descriptor.h"
#include "models/tinpu/tinpu_registers.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/config/typed_config.h"

namespace npuscope {

template class TypedFamily<LayerNpuConfig>;

std::unique_ptr<Machine> TinpuFamily::build(const AnyConfig& npu, DiagnosticLog& log) const {
    const LayerNpuConfig& config = typed(npu);
    return std::make_unique<LayerNpu>("npu", LayerNpu::Config{config.mcif, config.engine}, log);
}

std::shared_ptr<const Target> TinpuFamily::target(const AnyConfig& npu, const MemoryConfig& memory,
                                                  bool /*values*/) const {
    return std::make_shared<TinpuTarget>(typed(npu), memory);
}

FamilyRegisters TinpuFamily::registers(const AnyConfig& /*npu*/) const {
    return {.blocks = {&tinpu_registers(), 1},
            .note =
                "The vendor's programming interface is not public; this one is the simulator's "
                "own."};
}

std::shared_ptr<UnitJob> TinpuFamily::read_job(std::span<const std::uint8_t> descriptor) const {
    std::array<std::uint8_t, descriptor_bytes> bytes{};
    if (descriptor.size() > bytes.size()) {
        throw ConfigError("a descriptor has 32 words", "docs/tinpu.md has the format");
    }
    std::ranges::copy(descriptor, bytes.begin());
    return std::make_shared<TinpuJob>(load_descriptor(bytes));
}

std::vector<std::uint8_t> TinpuFamily::write_job(const UnitJob& job) const {
    const auto* layer = dynamic_cast<const TinpuJob*>(&job);
    NPU_CHECK(layer != nullptr, "a family meets its own jobs");
    std::vector<std::uint8_t> bytes = store_descriptor(*layer);
    while (bytes.back() == 0) {
        bytes.pop_back();
    }
    return bytes;
}

SystemConfig tinpu_system(LayerNpuConfig npu, MemoryConfig memory, HostConfig host) {
    static const TinpuFamily family;
    return {&family, AnyConfig(std::move(npu)), std::move(memory), host};
}

const LayerNpuConfig& tinpu_npu(const SystemConfig& system) {
    const auto* npu = system.npu.find<LayerNpuConfig>();
    if (npu == nullptr) {
        throw ConfigError(system.npu_name() + " is not an NPU of the family tinpu");
    }
    return *npu;
}

}  // namespace npuscope
