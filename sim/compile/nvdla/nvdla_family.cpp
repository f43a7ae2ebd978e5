// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/nvdla_family.h"

#include <fmt/format.h>

#include "models/npu/npu.h"
#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/config/typed_config.h"

namespace npuscope {

template class TypedFamily<NpuConfig>;

std::string NvdlaFamily::summary(const AnyConfig& npu) const {
    const NpuConfig& config = typed(npu);
    const CbufConfig& buffer = config.cbuf;
    const std::uint64_t bytes = buffer.bank_width.value * buffer.bank_depth * buffer.banks;
    return fmt::format("{}, {} multipliers, {} of buffer, bus of {}",
                       format_quantity(config.clock.value, UnitKind::Frequency),
                       config.datapath.atomic_c * config.datapath.atomic_k,
                       format_quantity(bytes, UnitKind::ByteCount),
                       format_quantity(config.mcif.bus_width.value, UnitKind::ByteCount));
}

std::unique_ptr<Machine> NvdlaFamily::build(const AnyConfig& npu, DiagnosticLog& log) const {
    return std::make_unique<Npu>("npu", typed(npu), log);
}

std::shared_ptr<const Target> NvdlaFamily::target(const AnyConfig& npu, const MemoryConfig& memory,
                                                  bool values) const {
    return std::make_shared<NvdlaTarget>(
        PlanTarget{.npu = typed(npu), .memory = memory, .images = values});
}

FamilyRegisters NvdlaFamily::registers(const AnyConfig& npu) const {
    const CsbConfig& csb = typed(npu).csb;
    return {.blocks = nvdla_register_blocks(csb.address_map, csb.wide_fields),
            .suffix = "_0",  // as NVIDIA spells them
            .programs = true};
}

std::string_view NvdlaFamily::fields_of(Cause cause) const {
    switch (cause) {
        case Cause::Mac:
            return "npu.datapath.atomic_c, npu.datapath.atomic_k";
        case Cause::SdpDrain:
            return "npu.sdp.output_throughput and those of its stages";
        case Cause::DataFetch:
        case Cause::Memory:
            return "npu.mcif.bus_width, memory.beat_interval, memory.read_latency";
        case Cause::WeightFetch:
            return "npu.mcif.bus_width, memory.beat_interval";
        case Cause::CbufCapacity:
            return "npu.cbuf.banks, npu.cbuf.bank_depth";
        case Cause::StartUp:
            return "memory.read_latency";
        case Cause::Work:
            return "npu.pdp.throughput, npu.cdp.throughput, npu.sdp.output_throughput; for "
                   "copies npu.mcif.bus_width";
        case Cause::Programming:
            return "npu.csb";
        default:
            return {};
    }
}

SystemConfig nvdla_system(NpuConfig npu, MemoryConfig memory, HostConfig host) {
    static const NvdlaFamily family;
    return {&family, AnyConfig(std::move(npu)), std::move(memory), host};
}

const NpuConfig& nvdla_npu(const SystemConfig& system) {
    const auto* npu = system.npu.find<NpuConfig>();
    if (npu == nullptr) {
        throw ConfigError(system.npu_name() + " does not have NVDLA registers");
    }
    return *npu;
}

NpuConfig& nvdla_npu(SystemConfig& system) {
    return const_cast<NpuConfig&>(nvdla_npu(std::as_const(system)));
}

}  // namespace npuscope
