// SPDX-License-Identifier: Apache-2.0
#include "sim/check/value_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/base/rule_ids.h"

namespace npuscope {
namespace {

constexpr std::array<std::size_t, 2> entries{65, 257};  // source: NVDLA LUT page, X and Y table
constexpr std::uint32_t entry_bits = 0x3ff;             // source: S_LUT_ACCESS_CFG.LUT_ADDR
constexpr unsigned table_bit = 16;                      // source: S_LUT_ACCESS_CFG.LUT_TABLE_ID
constexpr unsigned write_bit = 17;                      // source: S_LUT_ACCESS_CFG.LUT_ACCESS_TYPE

/// Stages whose operands come from memory, as D_xRDMA_CFG.DATA_USE has it.
enum class OperandUse : std::uint32_t { Multiplier = 0, Adder = 1, Both = 2 };

struct StageNames {
    const char* stage;  ///< BS
    const char* rdma;   ///< D_BRDMA_CFG
    const char* field;  ///< BRDMA
    bool SdpConfig::*present;
};

constexpr std::array stages{StageNames{"BS", "D_BRDMA_CFG", "BRDMA", &SdpConfig::bs},
                            StageNames{"BN", "D_NRDMA_CFG", "NRDMA", &SdpConfig::bn},
                            StageNames{"EW", "D_ERDMA_CFG", "ERDMA", &SdpConfig::element_wise}};

/// Whether a part of a stage, ALU or MUL, uses an operand from memory.
bool takes_from_memory(const RegisterValues& sdp, const char* stage, const char* part) {
    const std::string cfg = fmt::format("D_DP_{}_CFG", stage);
    return sdp.field(cfg, fmt::format("{}_BYPASS", stage)) == 0 &&
           sdp.field(cfg, fmt::format("{}_{}_BYPASS", stage, part)) == 0 &&
           sdp.field(fmt::format("D_DP_{}_{}_CFG", stage, part),
                     fmt::format("{}_{}_SRC", stage, part)) == 1;
}

}  // namespace

void LoadedTables::write(std::string_view register_name, std::uint32_t value) {
    if (register_name == "S_LUT_ACCESS_CFG") {
        table_ = value >> table_bit & 1U;
        entry_ = value & entry_bits;
        writes_ = (value >> write_bit & 1U) != 0;
    } else if (writes_) {
        if (entry_ < entries[table_]) {
            loaded_[table_].set(entry_);
        }
        ++entry_;
    }
}

void LoadedTables::report(std::string_view unit, Diagnostics& findings) const {
    for (std::size_t table = 0; table < entries.size(); ++table) {
        const std::size_t count = loaded_[table].count();
        if (count == entries[table]) {
            continue;
        }
        findings.push_back(
            {.severity = Severity::Warning,
             .id = "lut_incomplete",
             .sentence =
                 fmt::format("{} of the {} entries of the {} table are loaded by {} and {}", count,
                             entries[table], table == 0 ? "LE" : "LO",
                             spelled(unit, "S_LUT_ACCESS_CFG"), spelled(unit, "S_LUT_ACCESS_DATA")),
             .remedy = "select the table for writing, and write all of its entries in order",
             .unit = std::string(unit),
             .register_name = spelled(unit, "S_LUT_ACCESS_CFG")});
    }
}

namespace {

void add_prelu_per_element(const RegisterValues& sdp, const RegisterValues& rdma,
                           const StageNames& names, Diagnostics& findings) {
    const std::string field = names.field;
    const std::string cfg = fmt::format("D_DP_{}_CFG", names.stage);
    if (sdp.field(cfg, fmt::format("{}_MUL_PRELU", names.stage)) == 0 ||
        rdma.field(names.rdma, field + "_DATA_MODE") == 0) {
        return;
    }
    findings.push_back(
        {.severity = Severity::Note,
         .id = "prelu_per_element",
         .sentence = fmt::format(
             "{} multiplies by PReLU ({}), and {} fetches a slope for each element: the unit "
             "computes it, but PReLU has one slope per channel",
             names.stage, spelled("NVDLA_SDP", cfg), spelled("NVDLA_SDP_RDMA", names.rdma)),
         .remedy = fmt::format("set {}_DATA_MODE to 0 (per channel)", field),
         .unit = "NVDLA_SDP_RDMA",
         .register_name = spelled("NVDLA_SDP_RDMA", names.rdma),
         .field = field + "_DATA_MODE"});
}

}  // namespace

namespace {

/// A stage that is bypassed takes nothing: what is fetched for it is never taken out of the FIFO.
/// source: nv_small RTL, NV_NVDLA_SDP_rdma.v, nrdma_op_en and nrdma_done_pending
void add_bypassed_fetch(const StageNames& names, Diagnostics& findings) {
    const std::string cfg = fmt::format("D_DP_{}_CFG", names.stage);
    findings.push_back(
        {.severity = Severity::Warning,
         .id = "operand_unused",
         .sentence = fmt::format(
             "{} enables the fetch of an operand ({}_DISABLE = 0) for {}, which is bypassed ({}): "
             "nothing takes the operand, so the read DMA never ends and the next operation that "
             "needs it hangs",
             spelled("NVDLA_SDP_RDMA", names.rdma), names.field, names.stage,
             spelled("NVDLA_SDP", cfg)),
         .remedy = fmt::format("set {}_DISABLE to 1, or clear {}_BYPASS", names.field, names.stage),
         .unit = "NVDLA_SDP_RDMA",
         .register_name = spelled("NVDLA_SDP_RDMA", names.rdma),
         .field = fmt::format("{}_DISABLE", names.field)});
}

void add_fetch_findings(const SdpRegisters& registers, const StageNames& names,
                        Diagnostics& findings) {
    const auto& [sdp, rdma, config] = registers;
    const std::string field = names.field;
    const std::string cfg = fmt::format("D_DP_{}_CFG", names.stage);
    if (!(config.*names.present) || rdma.field(names.rdma, field + "_DISABLE") != 0) {
        return;
    }
    if (sdp.field(cfg, fmt::format("{}_BYPASS", names.stage)) != 0) {
        return add_bypassed_fetch(names, findings);
    }
    const auto use = static_cast<OperandUse>(rdma.field(names.rdma, field + "_DATA_USE"));
    const bool adder = use != OperandUse::Multiplier;
    const bool taken = (adder && takes_from_memory(sdp, names.stage, "ALU")) ||
                       (use != OperandUse::Adder && takes_from_memory(sdp, names.stage, "MUL"));
    if (taken) {
        return add_prelu_per_element(sdp, rdma, names, findings);
    }
    const char* const part = adder ? "ALU" : "MUL";
    const std::string own = fmt::format("D_DP_{}_{}_CFG", names.stage, part);
    findings.push_back(
        {.severity = Severity::Warning,
         .id = "operand_unused",
         .sentence = fmt::format(
             "{} fetches an operand for the {} of {}, which uses none from memory ({}, {})",
             spelled("NVDLA_SDP_RDMA", names.rdma), part, names.stage, spelled("NVDLA_SDP", own),
             spelled("NVDLA_SDP", cfg)),
         .remedy = fmt::format("set {}_{}_SRC to 1, or disable the fetch", names.stage, part),
         .unit = "NVDLA_SDP",
         .register_name = spelled("NVDLA_SDP", own),
         .field = fmt::format("{}_{}_SRC", names.stage, part)});
}

}  // namespace

void add_operand_findings(const SdpRegisters& registers, Diagnostics& findings) {
    for (const StageNames& names : stages) {
        add_fetch_findings(registers, names, findings);
    }
}

void add_pixel_findings(const SdpRegisters& registers, const SdpJob& job, Diagnostics& findings) {
    if (job.shape.width > 1 || job.shape.height > 1) {
        return;
    }
    const auto check = [&](const RegisterValues& values, const std::string& stem,
                           std::uint32_t surfaces, Bytes atom) {
        const std::string name = fmt::format("D_{}_SURFACE_STRIDE", stem);
        const std::uint32_t stride = values.raw(name);
        if (surfaces == 1 || stride == 0 || stride == atom.value) {
            return;
        }
        const std::string register_name = spelled(values.block().name, name);
        findings.push_back(
            {.severity = Severity::Warning,
             .id = rule_ids::suspicious_register,
             .sentence = fmt::format("{} is {:#x}, but has no effect: the {} surfaces of a single "
                                     "pixel follow each other without a gap",
                                     register_name, stride, surfaces),
             .remedy = fmt::format("write {:#x}, and place the surfaces like that", atom.value),
             .unit = std::string(values.block().name),
             .register_name = register_name});
    };
    if (job.destination && job.batches == 1) {
        check(registers.sdp, "DST", job.destination->surfaces(), job.destination->atom);
    }
    if (job.source) {
        check(registers.rdma, "SRC", job.source->surfaces(), job.source->atom);
    }
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const std::optional<SdpOperandFetch>& fetch = job.operands.at(i);
        if (fetch && fetch->surface.spread == OperandSpread::PerElement) {
            check(registers.rdma, stages.at(i).stage, fetch->surface.surfaces(),
                  fetch->surface.atom());
        }
    }
}

void add_batch_findings(const BatchRegisters& registers, const DatapathConfig& datapath,
                        Diagnostics& findings) {
    const Shape& shape = registers.cube.shape;
    const std::uint64_t atom = datapath.memory_atom.value;
    if (registers.cube.batches == 1 || shape.width == 1) {  // single pixels are no pairs
        return;
    }
    const auto compare = [&](const char* cacc_name, const char* sdp_name) {
        const std::uint32_t passed = registers.cacc.raw(cacc_name);
        const std::uint32_t written = registers.sdp.raw(sdp_name);
        if (((passed ^ written) & atom) == 0) {
            return;
        }
        const std::string name = spelled("NVDLA_CACC", cacc_name);
        findings.push_back({.id = "batch_order",
                            .sentence = fmt::format(
                                "{} is {:#x}, but {} is {:#x}: with several batches, both must "
                                "be even multiples of {} bytes or both odd ones, or the "
                                "pixels pass in another order than they are written",
                                name, passed, spelled("NVDLA_SDP", sdp_name), written, atom),
                            .remedy = "program the same value in both units",
                            .unit = "NVDLA_CACC",
                            .register_name = name});
    };
    compare("D_DATAOUT_ADDR", "D_DST_BASE_ADDR_LOW");
    if (shape.height > 1) {
        compare("D_LINE_STRIDE", "D_DST_LINE_STRIDE");
    }
    if (shape.channels > datapath.atom_channels(registers.cube.precision)) {
        compare("D_SURF_STRIDE", "D_DST_SURFACE_STRIDE");
    }
}

Diagnostic unused_pdp_source() {
    const std::string mode = spelled("NVDLA_PDP", "D_OPERATION_MODE_CFG");
    return {.severity = Severity::Warning,
            .id = "operand_unused",
            .sentence = fmt::format(
                "NVDLA_PDP_RDMA is enabled, but the PDP takes its input on the fly (FLYING_MODE = "
                "0 in {}): nothing takes what is read, so the read DMA never ends",
                mode),
            .remedy = "do not enable NVDLA_PDP_RDMA, or set FLYING_MODE to 1",
            .unit = "NVDLA_PDP_RDMA",
            .register_name = spelled("NVDLA_PDP_RDMA", "D_OP_ENABLE")};
}

Diagnostic unused_read_dma(std::string_view rdma, const std::string& operation) {
    const bool sdp = rdma == "NVDLA_SDP_RDMA";
    const std::string mode = sdp ? "the D_DP_*_CFG and D_FEATURE_MODE_CFG of NVDLA_SDP"
                                 : spelled("NVDLA_PDP", "D_OPERATION_MODE_CFG");
    return {.id = "operand_unused",
            .sentence = fmt::format("{} is enabled, but {} takes nothing that it reads: the read "
                                    "DMA never ends, and the next operation that needs it hangs",
                                    rdma, operation),
            .remedy = fmt::format("do not enable it{}, or let the unit take what it reads ({})",
                                  sdp ? ", disable its fetches" : "", mode),
            .unit = std::string(rdma),
            .register_name = spelled(rdma, "D_OP_ENABLE"),
            .operation = operation};
}

namespace {

/// Registers of a unit that an operation needs all of, or all of one line of names, and whose reset
/// value is seldom meant.
struct NeededRegisters {
    std::vector<const char*> names;
    const char* why;
    bool together = false;  ///< all must be written once one is
};

/// For D_DP_BS_CFG etc.; nv_small's registers begin with a bypass, nv_full's do not.
bool bypassed_by_reset(std::string_view cfg, const CheckedOperation& operation) {
    for (const auto& [block, writes] : operation.writes) {
        const RegisterRow* row = block->name == "NVDLA_SDP" ? find_register(*block, cfg) : nullptr;
        if (row != nullptr) {
            return std::ranges::any_of(row->fields, [](const RegisterField& field) {
                return field.name.ends_with("_BYPASS") && field.lsb == 0 && field.reset == 1;
            });
        }
    }
    return false;
}

/// A value for the stage's adder or multiplier, or their fetch from memory.
bool has_operands(std::string_view cfg, const CheckedOperation& operation) {
    const auto stage = std::ranges::find_if(stages, [&](const StageNames& names) {
        return cfg == fmt::format("D_DP_{}_CFG", names.stage);
    });
    const auto value = [&](std::string_view unit, const std::string& name) {
        const RegisterWrite* write = find_write(operation, spelled(unit, name));
        return write == nullptr ? 0 : write->value;
    };
    const std::string stem = fmt::format("D_DP_{}_", stage->stage);
    for (const char* const rest : {"ALU_CFG", "ALU_SRC_VALUE", "MUL_CFG", "MUL_SRC_VALUE"}) {
        if (value("NVDLA_SDP", stem + rest) != 0) {
            return true;
        }
    }
    const RegisterWrite* fetch = find_write(operation, spelled("NVDLA_SDP_RDMA", stage->rdma));
    return fetch != nullptr && (fetch->value & 1U) == 0;
}

std::vector<NeededRegisters> needed_registers(std::string_view unit, const SdpConfig& sdp,
                                              const CheckedOperation& operation) {
    constexpr const char* written = "other registers of the same setting are written";
    if (unit == "NVDLA_BDMA") {
        return {{{"CFG_LINE", "CFG_LINE_REPEAT", "CFG_SURF_REPEAT"},
                 "its reset value moves the smallest possible amount"}};
    }
    if (unit == "NVDLA_PDP") {
        return {{{"D_OPERATION_MODE_CFG"}, "its reset value selects average pooling"}};
    }
    if (unit == "NVDLA_CDP") {
        return {{{"D_DATIN_SCALE", "D_DATIN_SHIFTER"}, written, true},
                {{"D_DATOUT_SCALE", "D_DATOUT_SHIFTER"}, written, true}};
    }
    if (unit == "NVDLA_CDP_RDMA") {  // those of the SDP are in other units as well
        return {
            {{"D_DATA_CUBE_WIDTH", "D_DATA_CUBE_HEIGHT", "D_DATA_CUBE_CHANNEL"}, written, true}};
    }
    if (unit == "NVDLA_SDP_RDMA") {
        return {};
    }
    if (unit != "NVDLA_SDP") {  // of the units that have them
        return {{{"D_DATAIN_SIZE_0", "D_DATAIN_SIZE_1"}, written, true}};
    }
    std::vector<NeededRegisters> needed{{{"D_CVT_SCALE", "D_CVT_SHIFT"}, written, true}};
    for (const auto& [name, present] :
         {std::pair{"D_DP_BS_CFG", sdp.bs}, std::pair{"D_DP_BN_CFG", sdp.bn},
          std::pair{"D_DP_EW_CFG", sdp.element_wise}}) {
        if (present && !bypassed_by_reset(name, operation)) {
            needed.push_back({{name}, "its reset value enables the stage"});
        } else if (present && has_operands(name, operation)) {
            needed.push_back({{name},
                              "its reset value bypasses the stage, whose operands are "
                              "programmed"});
        }
    }
    return needed;
}

}  // namespace

void add_unwritten(std::string_view unit, const SdpConfig& sdp, CheckedOperation& operation) {
    const auto is_written = [&](const char* name) {
        return find_write(operation, spelled(unit, name)) != nullptr;
    };
    for (const NeededRegisters& needed : needed_registers(unit, sdp, operation)) {
        if (needed.together && std::ranges::none_of(needed.names, is_written)) {
            continue;
        }
        for (const char* const name : needed.names) {
            if (!is_written(name)) {
                operation.findings.push_back(
                    {.severity = Severity::Warning,
                     .id = "register_unwritten",
                     .sentence = fmt::format("{} is never written before the operation: {}",
                                             spelled(unit, name), needed.why),
                     .remedy = "write it in the operation's register group",
                     .unit = std::string(unit),
                     .register_name = spelled(unit, name),
                     .operation = operation.name});
            }
        }
    }
}

}  // namespace npuscope
