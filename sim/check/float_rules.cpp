// SPDX-License-Identifier: Apache-2.0
#include "sim/check/float_rules.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/rule_ids.h"

namespace npuscope {
namespace {

/// Adds the warnings about the registers of one unit.
class IgnoredRegisters {
 public:
    IgnoredRegisters(std::string_view unit, Diagnostics& findings)
        : unit_(unit), findings_(findings) {}

    void scale(std::string_view name, std::string_view field, std::int64_t value) {
        if (value != 0) {
            add(name, field, value, 1);
        }
    }
    void offset(std::string_view name, std::string_view field, std::int64_t value) {
        add(name, field, value, 0);
    }
    void shift(std::string_view name, std::string_view field, std::int64_t value) {
        add(name, field, value, 0);
    }

 private:
    void add(std::string_view name, std::string_view field, std::int64_t value,
             std::int64_t neutral) {
        if (value == neutral) {
            return;
        }
        const std::string register_name = spelled(unit_, name);
        findings_.push_back(
            {.severity = Severity::Warning,
             .id = rule_ids::suspicious_register,
             .sentence = fmt::format("{} has {} = {}, but it has no effect: fp16 values are "
                                     "neither converted nor shifted",
                                     register_name, field, value),
             .remedy = fmt::format("write {}, and scale by operands, weights or tables", neutral),
             .unit = std::string(unit_),
             .register_name = register_name,
             .field = std::string(field)});
    }

    std::string_view unit_;
    Diagnostics& findings_;
};

void add_x_stage(const char* stage, const SdpXStage& values, IgnoredRegisters& registers) {
    if (values.bypass) {
        return;
    }
    if (!values.alu.bypass) {
        registers.shift(fmt::format("D_DP_{}_ALU_CFG", stage),
                        fmt::format("{}_ALU_SHIFT_VALUE", stage), values.alu.shift_left);
    }
    registers.shift(fmt::format("D_DP_{}_MUL_CFG", stage), fmt::format("{}_MUL_SHIFT_VALUE", stage),
                    values.shift_right);
}

/// `part`: ALU or MUL of the element-wise stage.
template <class Part>
void add_operand_convertor(const char* part, const Part& values, IgnoredRegisters& registers) {
    if (values.bypass || values.convertor.bypass || values.source != OperandSource::Memory) {
        return;
    }
    const auto name = [part](const char* what) { return fmt::format("EW_{}_CVT_{}", part, what); };
    const auto row = [&](const char* what) { return fmt::format("D_DP_{}_VALUE", name(what)); };
    const Conversion& conversion = values.convertor.conversion;
    registers.offset(row("OFFSET"), name("OFFSET"), conversion.offset);
    registers.scale(row("SCALE"), name("SCALE"), conversion.scale);
    registers.shift(row("TRUNCATE"), name("TRUNCATE"), conversion.shift);
}

}  // namespace

void add_ignored_conversions(const ConvJob& job, Diagnostics& findings) {
    const CdmaJob& cdma = job.parts.cdma;
    const InputConversion& conversion = cdma.conversion;
    if (cdma.in_precision != Precision::Fp16 || !conversion.enabled) {
        return;
    }
    IgnoredRegisters registers("NVDLA_CDMA", findings);
    registers.offset("D_CVT_OFFSET", "CVT_OFFSET", conversion.offset);
    registers.scale("D_CVT_SCALE", "CVT_SCALE", conversion.scale);
    registers.shift("D_CVT_CFG", "CVT_TRUNCATE", conversion.truncate);
}

void add_ignored_conversions(const SdpJob& job, Diagnostics& findings) {
    const SdpStages& stages = job.stages;
    if (stages.processing != Precision::Fp16) {
        return;
    }
    IgnoredRegisters registers("NVDLA_SDP", findings);
    add_x_stage("BS", stages.bs, registers);
    add_x_stage("BN", stages.bn, registers);
    if (!stages.ew.bypass) {
        add_operand_convertor("MUL", stages.ew.mul, registers);
        add_operand_convertor("ALU", stages.ew.alu, registers);
        if (!stages.ew.mul.bypass) {
            registers.shift("D_DP_EW_TRUNCATE_VALUE", "EW_TRUNCATE", stages.ew.mul.shift_right);
        }
    }
    registers.offset("D_CVT_OFFSET", "CVT_OFFSET", stages.convertor.offset);
    registers.scale("D_CVT_SCALE", "CVT_SCALE", stages.convertor.scale);
    registers.shift("D_CVT_SHIFT", "CVT_SHIFT", stages.convertor.shift);
}

void add_ignored_conversions(const CdpJob& job, Diagnostics& findings) {
    const CdpNormalization& how = job.normalization;
    if (how.precision != Precision::Fp16) {
        return;
    }
    IgnoredRegisters registers("NVDLA_CDP", findings);
    registers.offset("D_DATIN_OFFSET", "DATIN_OFFSET", how.input.offset);
    registers.scale("D_DATIN_SCALE", "DATIN_SCALE", how.input.scale);
    registers.shift("D_DATIN_SHIFTER", "DATIN_SHIFTER", how.input.shift);
    registers.offset("D_DATOUT_OFFSET", "DATOUT_OFFSET", how.output.offset);
    registers.scale("D_DATOUT_SCALE", "DATOUT_SCALE", how.output.scale);
    registers.shift("D_DATOUT_SHIFTER", "DATOUT_SHIFTER", how.output.shift);
}

}  // namespace npuscope
