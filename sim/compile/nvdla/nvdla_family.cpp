// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/nvdla_family.h"

#include <fmt/format.h>

#include <array>

#include "models/npu/npu.h"
#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/config/typed_config.h"

namespace npuscope {

template class TypedFamily<NpuConfig>;

namespace {

// source: the values of the presets, and what the equations of models/*_timing divide by or reserve
constexpr std::array limit_rows{
    Limit{"npu.datapath.atomic_c", 4, 128, true}, Limit{"npu.datapath.atomic_k", 4, 128, true},
    Limit{"npu.datapath.memory_atom", 8, 64, true}, Limit{"npu.csb.fifo_depth", 1, largest_count},
    Limit{"npu.csb.wide_fields", 0, 1},
    Limit{"npu.cdma.max_batch", 1, 32},  // source: register specification, D_BATCH_NUMBER
    // a line's second plane is requested before the first one is complete
    Limit{"npu.cdma.image_requests", 2, largest_count},
    Limit{"npu.cdma.request_atoms", 1, largest_count}, Limit{"npu.cbuf.banks", 2, 1024, false, 32},
    Limit{"npu.cbuf.bank_width", 4, 128, true}, Limit{"npu.cbuf.bank_depth", 1, 65536},
    Limit{"npu.csc.stripe_groups", 1, 64}, Limit{"npu.csc.image_stripe_groups", 1, 64},
    Limit{"npu.csc.shortest_load", 0, largest_count}, Limit{"npu.cacc.buffered_groups", 1, 1024},
    Limit{"npu.cacc.partial_sum_bits", 16, 64}, Limit{"npu.cacc.partial_sum_bits_int16", 16, 64},
    Limit{"npu.sdp.max_batch", 1, 32},  // source: register specification, D_BATCH_NUMBER
    Limit{"npu.sdp.bs_throughput", 1, largest_count},
    Limit{"npu.sdp.bn_throughput", 1, largest_count},
    Limit{"npu.sdp.element_wise_throughput", 1, largest_count},
    Limit{"npu.sdp.output_throughput", 1, largest_count},
    Limit{"npu.sdp.source_fifo", 1, largest_count},
    Limit{"npu.sdp.source_unpacked", 1, largest_count},
    Limit{"npu.sdp.operand_fifo", 1, largest_count},
    Limit{"npu.sdp.operand_unpacked", 1, largest_count},
    Limit{"npu.sdp.beat_group", 1, largest_count}, Limit{"npu.pdp.throughput", 1, largest_count},
    Limit{"npu.pdp.read_buffer", 1, largest_count},
    Limit{"npu.pdp.line_buffer_banks", 1, largest_count},
    Limit{"npu.pdp.line_buffer_bank_atoms", 1, largest_count},
    Limit{"npu.cdp.throughput", 1, largest_count}, Limit{"npu.cdp.block_columns", 1, largest_count},
    Limit{"npu.cdp.read_buffer", 1, largest_count},
    Limit{"npu.bdma.commands", 1, 255}};  // source: register specification, width of FREE_SLOT

// source: models/conv/winograd_stream.cpp and compressed_stream.cpp, by how much requests are earlier
constexpr std::string_view split_in_request =
    "the change of the bank split is part of the time from op-enable to the first request: of "
    "feature data, which Winograd mode requests 2 cycles earlier, of weights, whose sizes are "
    "requested 3 cycles earlier if compressed, and of pixels";

constexpr std::array relation_rows{
    Relation{{"npu.cdma.split_change", "npu.cdma.data_request", "npu.cdma.winograd", ""},
             split_in_request,
             [](const Relation::Values& v) { return v[0] + (v[2] != 0 ? 2 : 0) <= v[1]; }},
    Relation{
        {"npu.cdma.split_change", "npu.cdma.weight_request", "npu.cdma.weight_compression", ""},
        split_in_request,
        [](const Relation::Values& v) { return v[0] + (v[2] != 0 ? 3 : 0) <= v[1]; }},
    Relation{{"npu.cdma.split_change", "npu.cdma.image_request", "", ""},
             split_in_request,
             [](const Relation::Values& v) { return v[0] <= v[1]; }},
    burst_in("npu.sdp.source_fifo"),
    burst_in("npu.sdp.operand_fifo"),
    Relation{{"npu.cbuf.banks", "npu.csb.wide_fields", "", ""},
             // source: register specification, D_BANK
             "the fields of D_BANK allow up to 32 banks, unless npu.csb.wide_fields is set",
             [](const Relation::Values& v) { return v[0] <= 32 || v[1] != 0; }},
    Relation{{"npu.datapath.atomic_c", "npu.cbuf.bank_width", "", ""},
             "a cell gets an entry of data in a cycle, and multiplies as many channels as it holds",
             [](const Relation::Values&) { return true; }},
    Relation{{"npu.cdma.request_atoms", "npu.mcif.bus_width", "npu.datapath.memory_atom", ""},
             "a request consists of whole bus beats",
             [](const Relation::Values& v) { return v[1] <= v[2] || v[0] % (v[1] / v[2]) == 0; }}};

}  // namespace

LimitRows NvdlaFamily::limits() const { return {limit_rows, relation_rows}; }

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
