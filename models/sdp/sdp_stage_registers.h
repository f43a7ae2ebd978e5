// SPDX-License-Identifier: Apache-2.0
// The registers of NVDLA_SDP that set up its stages. Stages that the NPU lacks and settings that a
// stage cannot do are refused while decoding.
// source: NVDLA register specification, NVDLA_SDP.rdl
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "models/arith/lookup_registers.h"
#include "models/layout/register_decoder.h"
#include "models/sdp/sdp_config.h"
#include "models/sdp/sdp_stages.h"

namespace npuscope::sdp {

/// Registers of one stage: D_DP_<stage>_<part>, fields <stage>_<name>.
template <class Visitor>
class StageFields {
 public:
    static constexpr bool decodes = Visitor::decodes;

    StageFields(Visitor& visit, std::string_view stage) : visit_(visit), stage_(stage) {}

    template <class Number>
    void field(std::string_view part, std::string_view name, Number& number) {
        visit_.field(register_name(part), field_name(name), number);
    }
    template <class Number>
    void signed_field(std::string_view part, std::string_view name, Number& number) {
        visit_.signed_field(register_name(part), field_name(name), number);
    }
    template <class Flag>
    void flag(std::string_view part, std::string_view name, Flag& flag) {
        visit_.flag(register_name(part), field_name(name), flag);
    }
    template <class Flag>
    void inverse_flag(std::string_view part, std::string_view name, Flag& flag) {
        visit_.inverse_flag(register_name(part), field_name(name), flag);
    }
    template <class Source>
    void source(std::string_view part, std::string_view name, Source& source) {
        bool memory = source == OperandSource::Memory;
        flag(part, name, memory);
        if constexpr (decodes) {
            source = memory ? OperandSource::Memory : OperandSource::Register;
        }
    }
    bool unused(bool condition) const { return visit_.unused(condition); }
    void refuse(std::string_view name, const std::string& why, const std::string& remedy) {
        const std::string full_register = register_name("CFG");
        const std::string full_field = field_name(name);
        visit_.refuse({full_register, full_field}, why, remedy);
    }

 private:
    std::string register_name(std::string_view part) const {
        return fmt::format("D_DP_{}_{}", stage_, part);
    }
    std::string field_name(std::string_view name) const {
        return fmt::format("{}_{}", stage_, name);
    }

    Visitor& visit_;
    std::string stage_;
};

/// The stage works or is bypassed; one that the NPU lacks must be bypassed.
template <class Fields, class Flag>
void describe_bypass(Fields& fields, Flag& bypass, bool present) {
    fields.flag("CFG", "BYPASS", bypass);
    if constexpr (Fields::decodes) {
        if (!bypass && !present) {
            fields.refuse("BYPASS", "this NPU has no such stage",
                          "program 1 (bypass) or choose a preset that has the stage");
        }
    }
}

template <class Fields, class Alu>
void describe_algorithm(Fields& fields, Alu& alu, bool can_compare) {
    auto code = alu.bypass ? 0U : static_cast<std::uint32_t>(alu.algorithm);
    fields.field("CFG", "ALU_ALGO", code);
    if constexpr (Fields::decodes) {
        alu.algorithm = static_cast<AluAlgorithm>(code);
        if (alu.algorithm == AluAlgorithm::Equal && !can_compare) {
            fields.refuse("ALU_ALGO", "this stage cannot compare",
                          "0 max, 1 min, 2 sum; compare in the element-wise stage");
        }
    }
}

template <class Fields, class Stage>
void describe_x_stage(Fields fields, Stage& stage, bool present) {
    constexpr unsigned shifter_mask = 0x3f;  // source: NV_NVDLA_SDP_core.v, [5:0] of 8 bits
    describe_bypass(fields, stage.bypass, present);
    if (fields.unused(stage.bypass)) {
        return;
    }
    fields.flag("CFG", "ALU_BYPASS", stage.alu.bypass);
    if (!fields.unused(stage.alu.bypass)) {
        describe_algorithm(fields, stage.alu, false);
        fields.source("ALU_CFG", "ALU_SRC", stage.alu.source);
        fields.signed_field("ALU_SRC_VALUE", "ALU_OPERAND", stage.alu.operand);
        fields.field("ALU_CFG", "ALU_SHIFT_VALUE", stage.alu.shift_left);
    }
    fields.flag("CFG", "MUL_BYPASS", stage.mul.bypass);
    if (!fields.unused(stage.mul.bypass)) {
        fields.source("MUL_CFG", "MUL_SRC", stage.mul.source);
        fields.signed_field("MUL_SRC_VALUE", "MUL_OPERAND", stage.mul.operand);
        fields.flag("CFG", "MUL_PRELU", stage.mul.prelu);
    }
    fields.field("MUL_CFG", "MUL_SHIFT_VALUE", stage.shift_right);
    if constexpr (Fields::decodes) {
        stage.shift_right &= shifter_mask;
    }
    fields.inverse_flag("CFG", "RELU_BYPASS", stage.relu);
}

/// `part`: ALU or MUL of the element-wise stage.
template <class Fields, class Convertor>
void describe_operand_convertor(Fields& fields, const std::string& part, Convertor& convertor) {
    fields.flag(part + "_CFG", part + "_CVT_BYPASS", convertor.bypass);
    if (convertor.bypass) {
        return;
    }
    fields.signed_field(part + "_CVT_OFFSET_VALUE", part + "_CVT_OFFSET",
                        convertor.conversion.offset);
    fields.signed_field(part + "_CVT_SCALE_VALUE", part + "_CVT_SCALE", convertor.conversion.scale);
    fields.field(part + "_CVT_TRUNCATE_VALUE", part + "_CVT_TRUNCATE", convertor.conversion.shift);
}

template <class Fields, class Mul>
void describe_y_mul(Fields& fields, Mul& mul) {
    fields.flag("CFG", "MUL_BYPASS", mul.bypass);
    if (fields.unused(mul.bypass)) {
        return;
    }
    fields.source("MUL_CFG", "MUL_SRC", mul.source);
    fields.signed_field("MUL_SRC_VALUE", "MUL_OPERAND", mul.operand);
    describe_operand_convertor(fields, "MUL", mul.convertor);
    fields.flag("CFG", "MUL_PRELU", mul.prelu);
    fields.field("TRUNCATE_VALUE", "TRUNCATE", mul.shift_right);
}

template <class Fields, class Alu>
void describe_y_alu(Fields& fields, Alu& alu) {
    fields.flag("CFG", "ALU_BYPASS", alu.bypass);
    if (fields.unused(alu.bypass)) {
        return;
    }
    describe_algorithm(fields, alu, true);
    fields.source("ALU_CFG", "ALU_SRC", alu.source);
    fields.signed_field("ALU_SRC_VALUE", "ALU_OPERAND", alu.operand);
    describe_operand_convertor(fields, "ALU", alu.convertor);
}

template <class Visitor, class Stage>
void describe_y_stage(Visitor& visit, Stage& stage, const SdpConfig& config) {
    StageFields fields(visit, "EW");
    describe_bypass(fields, stage.bypass, config.element_wise);
    if (fields.unused(stage.bypass)) {
        return;
    }
    describe_y_mul(fields, stage.mul);
    describe_y_alu(fields, stage.alu);
    fields.flag("CFG", "LUT_BYPASS", stage.lut_bypass);
    if (stage.lut_bypass) {
        return;
    }
    if constexpr (Visitor::decodes) {
        if (!config.lut) {
            fields.refuse("LUT_BYPASS", "this NPU's SDP has no lookup tables",
                          "program 1 (bypass) or choose a preset that has them");
        }
    }
    describe_lookup(visit, stage.lut, [&visit](const std::string& name, auto& bound) {
        visit.signed_field("S_LUT_" + name, "LUT_" + name, bound);
    });
}

template <class Visitor, class Stages>
void describe_stages(Visitor& visit, Stages& stages, const SdpConfig& config) {
    describe_x_stage(StageFields(visit, "BS"), stages.bs, config.bs);
    describe_x_stage(StageFields(visit, "BN"), stages.bn, config.bn);
    describe_y_stage(visit, stages.ew, config);
    visit.signed_field("D_CVT_OFFSET", "CVT_OFFSET", stages.convertor.offset);
    visit.signed_field("D_CVT_SCALE", "CVT_SCALE", stages.convertor.scale);
    visit.field("D_CVT_SHIFT", "CVT_SHIFT", stages.convertor.shift);
    visit.flag("D_PERF_ENABLE", "PERF_SAT_EN", stages.count_saturated);
}

}  // namespace npuscope::sdp
