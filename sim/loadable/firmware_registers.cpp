// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/firmware_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/npu/pipelines.h"

namespace npuscope {

RegisterPlace RegisterScript::place(std::string_view block, std::string_view name) const {
    const RegisterBlock* found = find_block(blocks_, block);
    NPU_CHECK(found != nullptr, "no block " + std::string(block));
    const RegisterRow* row = find_register(*found, name);
    NPU_CHECK(row != nullptr, "no register " + spelled(block, name));
    return {found, row};
}

void RegisterScript::write(std::string_view block, std::string_view name, std::uint32_t value) {
    const RegisterPlace at = place(block, name);
    add(WriteRegister{at.name(), at.address(), value});
}

void RegisterScript::write(std::string_view block, std::string_view name,
                           std::initializer_list<Field> fields) {
    const RegisterPlace at = place(block, name);
    std::uint32_t word = 0;
    for (const Field& field : fields) {
        const auto found = std::ranges::find(at.row->fields, field.name, &RegisterField::name);
        NPU_CHECK(found != at.row->fields.end(), "no field " + std::string(field.name));
        word |= field.value << found->lsb;
    }
    add(WriteRegister{at.name(), at.address(), word});
}

void RegisterScript::write_address(std::string_view block, const std::string& name,
                                   Address address) {
    write(block, name + "_LOW", low_half(address));
    write(block, name + "_HIGH", high_half(address));
}

void RegisterScript::poll(std::string_view block, std::string_view name, std::uint32_t mask,
                          std::uint32_t expected) {
    const RegisterPlace at = place(block, name);
    add(PollRegister{at.name(), at.address(), mask, expected});
}

void OperationContext::fail(const std::string& sentence, const std::string& remedy) const {
    throw ConfigError(
        Place{file}, name + ": " + sentence,
        remedy.empty() ? "the firmware rejects it: compile the loadable for this NPU" : remedy);
}

bool uses_rdma(const DlaOperation& operation) {
    if (const auto* sdp = std::get_if<SdpDlaOperation>(&operation)) {
        const bool operands =
            std::ranges::any_of(sdp->operation.stages, [](const DlaSdpStage& stage) {
                return (stage.enable & 1U) != 0 && stage.mode != DlaSdpStage::per_layer;
            });
        return operands || sdp->surfaces.source.type != DlaMemory::OnTheFly;
    }
    if (const auto* pdp = std::get_if<PdpDlaOperation>(&operation)) {
        return pdp->surfaces.source.type != DlaMemory::OnTheFly;
    }
    return std::holds_alternative<CdpDlaOperation>(operation);
}

std::int16_t table_of(const DlaOperation& operation) {
    if (const auto* sdp = std::get_if<SdpDlaOperation>(&operation)) {
        return sdp->operation.table;
    }
    const auto* cdp = std::get_if<CdpDlaOperation>(&operation);
    return cdp != nullptr ? cdp->operation.table : std::int16_t{-1};
}

namespace {

/// Interrupts are unmasked when each operation is programmed, those of the convolution once; after
/// reset nothing is masked.
bool unmasks(const DlaOperation& operation) {
    const auto* bdma = std::get_if<BdmaOperation>(&operation);
    return bdma != nullptr ? bdma->surfaces.count > 0
                           : !std::holds_alternative<ConvDlaOperation>(operation);
}

/// D_PERF_ENABLE: for the SDP all four counters, for the CDP those of DMA and table.
std::uint32_t counters_of(DlaUnit unit) {
    return unit == DlaUnit::Sdp ? 0xf : unit == DlaUnit::Cdp ? 3 : 1;
}

}  // namespace

const PipelineRow* row_of(DlaUnit unit) {
    const auto row = std::ranges::find(pipeline_rows, enum_name(unit), &PipelineRow::name);
    return row == pipeline_rows.end() ? nullptr : &*row;
}

void write_producer(RegisterScript& script, DlaUnit unit, unsigned group, unsigned rdma_group) {
    const PipelineRow* row = row_of(unit);
    if (row == nullptr) {
        return;
    }
    if (unit == DlaUnit::Conv) {
        for (const std::string_view block : conv_block_names) {
            script.write(block, "S_POINTER", group);
        }
        return;
    }
    script.write(row->blocks[0], "S_POINTER", group);
    if (row->rdma != ReadDma::None) {
        script.write(row->blocks[1], "S_POINTER",
                     row->rdma == ReadDma::Optional ? rdma_group : group);
    }
}

void write_operation(const OperationContext& context, const DlaOperation& operation) {
    const auto write = [&] { std::visit([&](const auto& one) { one.write(context); }, operation); };
    const auto unmask = [&] {
        if (unmasks(operation)) {
            context.script.write("NVDLA_GLB", "S_INTR_MASK", 0);
        }
    };
    if (std::holds_alternative<BdmaOperation>(operation)) {
        write();
        unmask();
    } else {
        unmask();
        write();
    }
}

void write_enable(const OperationContext& context, const DlaOperation& operation, unsigned group) {
    RegisterScript& script = context.script;
    const auto unit = static_cast<DlaUnit>(operation.index());
    const PipelineRow* row = row_of(unit);
    if (row == nullptr) {
        if (unmasks(operation)) {
            if (context.counts) {
                script.write(bdma_name, "CFG_STATUS", 1);
            }
            script.write(bdma_name, group == 0 ? "CFG_LAUNCH0" : "CFG_LAUNCH1", 1);
        }
        return;
    }
    if (unit == DlaUnit::Conv) {
        script.poll(cdma_name, "S_CBUF_FLUSH_STATUS", 1, 1);
    }
    if (context.counts) {
        script.write(row->blocks[0], "D_PERF_ENABLE", counters_of(unit));
    }
    if (unit == DlaUnit::Conv) {
        for (const std::string_view block : conv_block_names) {
            script.write(block, "D_OP_ENABLE", 1);
        }
        return;
    }
    if (row->rdma == ReadDma::Together || (row->rdma == ReadDma::Optional && context.uses_rdma)) {
        script.write(row->blocks[1], "D_OP_ENABLE", 1);
    }
    script.write(row->blocks[0], "D_OP_ENABLE", 1);
}

void OperationContext::require_type(std::int16_t index, bool is_sram,
                                    const std::string& what) const {
    const auto spell = [](bool sram) { return sram ? "SRAM (1)" : "main memory (0)"; };
    require(!in_sram || in_sram(index) == is_sram,
            fmt::format("the {} has the type of {}, but its address {} is in {}", what,
                        spell(is_sram), index, spell(!is_sram)));
}

std::uint32_t ram_type(const DlaCube& cube) { return cube.type == DlaMemory::Sram ? 0 : 1; }

std::uint32_t precision_code(const OperationContext& context, DlaPrecision precision,
                             const char* member) {
    context.require(precision <= DlaPrecision::Fp16,
                    fmt::format("{} is {}: int8 is 0, int16 1, fp16 2", member,
                                static_cast<unsigned>(precision)));
    return static_cast<std::uint32_t>(precision);
}

Address bytes_address(const OperationContext& context, const DlaCube& cube, std::uint64_t bytes,
                      const std::string& what) {
    context.require(cube.type <= DlaMemory::Sram,
                    fmt::format("the {} has memory type {}: main memory is 0, SRAM 1", what,
                                static_cast<unsigned>(cube.type)));
    const Address address = context.address(cube.address, cube.offset, bytes, what);
    context.require_type(cube.address, cube.type == DlaMemory::Sram, what);
    return address;
}

Address feature_address(const OperationContext& context, const DlaCube& cube, std::uint64_t bytes,
                        const std::string& what) {
    const std::uint64_t atom = context.atom();
    const std::uint64_t surfaces = divide_up(cube.channel * bytes, atom);
    std::uint64_t extent = 0;
    if (cube.width == 1 && cube.height == 1) {
        extent = surfaces * atom;  // strides have no effect
    } else if (surfaces > 0 && cube.height > 0) {
        extent = (surfaces - 1) * cube.surface_stride +
                 (cube.height - std::uint64_t{1}) * cube.line_stride + cube.width * atom;
    }
    return bytes_address(context, cube, extent, what);
}

void write_table(RegisterScript& script, std::string_view block, const DlaLut& table,
                 DlaPrecision precision) {
    const bool is_cdp = block == cdp_name;
    const auto entries = [&](std::uint32_t id, const auto& values) {
        script.write(block, "S_LUT_ACCESS_CFG", {{"LUT_TABLE_ID", id}, {"LUT_ACCESS_TYPE", 1}});
        for (const std::int16_t value : values) {
            script.write(block, "S_LUT_ACCESS_DATA", static_cast<std::uint16_t>(value));
        }
    };
    entries(0, table.exponential);
    entries(1, table.linear);
    const bool exponential = table.method == 0;
    script.write(block, "S_LUT_CFG",
                 {{"LUT_LE_FUNCTION", exponential ? 0U : 1U},
                  {"LUT_HYBRID_PRIORITY", table.hybrid_priority},
                  {"LUT_UFLOW_PRIORITY", table.underflow_priority},
                  {"LUT_OFLOW_PRIORITY", table.overflow_priority}});
    script.write(block, "S_LUT_INFO",
                 {{exponential ? "LUT_LE_INDEX_OFFSET" : "LUT_LE_INDEX_SELECT",
                   table.exponential_offset & 0xffU},
                  {"LUT_LO_INDEX_SELECT", table.linear_offset & 0xffU}});
    const auto limit = [&](const std::string& name, std::uint64_t value) {
        script.write(block, is_cdp ? name + "_LOW" : name, low_half(Address(value)));
        if (is_cdp) {
            script.write(block, name + "_HIGH", high_half(Address(value)));
        }
    };
    limit("S_LUT_LE_START", table.exponential_start);
    limit("S_LUT_LE_END", table.exponential_end);
    limit("S_LUT_LO_START", table.linear_start);
    limit("S_LUT_LO_END", table.linear_end);
    const auto slopes = [&](const std::string& name, const DlaSlope& under, const DlaSlope& over) {
        script.write(
            block, "S_LUT_" + name + "_SLOPE_SCALE",
            {{"LUT_" + name + "_SLOPE_UFLOW_SCALE", static_cast<std::uint16_t>(under.scale)},
             {"LUT_" + name + "_SLOPE_OFLOW_SCALE", static_cast<std::uint16_t>(over.scale)}});
        if (precision != DlaPrecision::Fp16) {
            constexpr std::uint32_t shift = 0x1f;  // bits of the field
            script.write(block, "S_LUT_" + name + "_SLOPE_SHIFT",
                         {{"LUT_" + name + "_SLOPE_UFLOW_SHIFT",
                           static_cast<std::uint8_t>(under.shifter) & shift},
                          {"LUT_" + name + "_SLOPE_OFLOW_SHIFT",
                           static_cast<std::uint8_t>(over.shifter) & shift}});
        }
    };
    slopes("LE", table.exponential_underflow, table.exponential_overflow);
    slopes("LO", table.linear_underflow, table.linear_overflow);
}

namespace {

std::uint64_t elements_of(const DlaCube& cube) {
    return std::uint64_t{cube.width} * cube.height * cube.channel;
}

std::uint64_t conv_cycles(const ConvDlaOperation& conv, const NpuConfig& npu) {
    const std::uint64_t array = std::uint64_t{npu.datapath.atomic_c} * npu.datapath.atomic_k;
    const std::uint64_t bytes =
        std::uint64_t{conv.surfaces.weight.size} +
        elements_of(conv.surfaces.source) * element_bytes(conv.operation.input_precision);
    return std::max(useful_macs(conv) / std::max<std::uint64_t>(array, 1),
                    bytes / std::max<std::uint64_t>(npu.mcif.bus_width.value, 1));
}

}  // namespace

bool is_empty(const DlaOperation& operation) {
    const auto* bdma = std::get_if<BdmaOperation>(&operation);
    return bdma != nullptr && bdma->surfaces.count == 0;
}

bool takes_on_the_fly(const DlaOperation& operation) {
    if (const auto* sdp = std::get_if<SdpDlaOperation>(&operation)) {
        return sdp->surfaces.source.type == DlaMemory::OnTheFly;
    }
    const auto* pdp = std::get_if<PdpDlaOperation>(&operation);
    return pdp != nullptr && pdp->surfaces.source.type == DlaMemory::OnTheFly;
}

bool gives_on_the_fly(const DlaOperation& operation) {
    if (const auto* sdp = std::get_if<SdpDlaOperation>(&operation)) {
        return sdp->surfaces.destination.type == DlaMemory::OnTheFly;
    }
    return std::holds_alternative<ConvDlaOperation>(operation);
}

std::uint64_t useful_macs(const DlaOperation& operation) {
    const auto* conv = std::get_if<ConvDlaOperation>(&operation);
    if (conv == nullptr) {
        return 0;
    }
    const DlaConv& own = conv->operation;
    // a transformed 4 x 4 kernel represents one of 3 x 3
    const std::uint64_t weights =
        own.bytes_per_kernel / element_bytes(own.output_precision) * (own.mode == 1 ? 9 : 16) / 16;
    return elements_of(conv->surfaces.destination) * weights * own.batch;
}

std::uint64_t predicted_cycles(const DlaOperation& operation, const NpuConfig& npu) {
    if (const auto* conv = std::get_if<ConvDlaOperation>(&operation)) {
        return conv_cycles(*conv, npu);
    }
    if (const auto* bdma = std::get_if<BdmaOperation>(&operation)) {
        std::uint64_t bytes = 0;
        for (std::size_t i = 0;
             i < std::min<std::size_t>(bdma->surfaces.count, most_bdma_transfers); ++i) {
            const DlaBdmaTransfer& transfer = bdma->surfaces.transfers[i];
            bytes +=
                std::uint64_t{transfer.line_size} * transfer.line_repeat * transfer.surface_repeat;
        }
        return bytes / std::max<std::uint64_t>(npu.mcif.bus_width.value, 1);
    }
    const std::uint64_t throughput =  // elements per cycle
        std::holds_alternative<SdpDlaOperation>(operation)   ? npu.sdp.output_throughput
        : std::holds_alternative<PdpDlaOperation>(operation) ? npu.pdp.throughput
        : std::holds_alternative<CdpDlaOperation>(operation) ? npu.cdp.throughput
                                                             : 1;
    const auto source = [](const auto& one) -> std::uint64_t {
        if constexpr (requires { one.surfaces.source; }) {
            return elements_of(one.surfaces.source);
        }
        return 0;
    };
    return std::visit(source, operation) / std::max<std::uint64_t>(throughput, 1);
}

}  // namespace npuscope
