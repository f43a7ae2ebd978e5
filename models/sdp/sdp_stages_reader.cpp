// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_stages_reader.h"

#include "models/arith/lookup_registers.h"
#include "models/layout/register_reading.h"

namespace npuscope {
namespace {

constexpr std::uint32_t kShifterMask = 0x3f;  // source: NV_NVDLA_SDP_core.v, [5:0] of 8 bits

/// Registers of one stage: D_DP_<stage>_<part>, fields <stage>_<name>.
class StageRegisters {
 public:
    StageRegisters(const RegisterValues& sdp, std::string_view stage) : sdp_(sdp), stage_(stage) {}

    std::uint32_t operator()(std::string_view part, std::string_view name) const {
        return sdp_.field(register_name(part), field_name(name));
    }
    std::int32_t signed_field(std::string_view part, std::string_view name) const {
        return sdp_.signed_field(register_name(part), field_name(name));
    }
    bool is_set(std::string_view part, std::string_view name) const {
        return (*this)(part, name) != 0;
    }
    OperandSource source(std::string_view part, std::string_view name) const {
        return is_set(part, name) ? OperandSource::Memory : OperandSource::Register;
    }
    [[noreturn]] void refuse_field(std::string_view name, const std::string& why,
                                   const std::string& remedy) const {
        const std::string full_register = register_name("CFG");
        const std::string full_field = field_name(name);
        refuse(sdp_, {full_register, full_field}, why, remedy);
    }
    const std::string& stage() const { return stage_; }

 private:
    std::string register_name(std::string_view part) const {
        return fmt::format("D_DP_{}_{}", stage_, part);
    }
    std::string field_name(std::string_view name) const {
        return fmt::format("{}_{}", stage_, name);
    }

    const RegisterValues& sdp_;
    std::string stage_;
};

AluAlgorithm read_algorithm(const StageRegisters& stage, bool can_compare) {
    switch (stage("CFG", "ALU_ALGO")) {
        case 0:
            return AluAlgorithm::Max;
        case 1:
            return AluAlgorithm::Min;
        case 2:
            return AluAlgorithm::Sum;
        default:
            break;
    }
    if (!can_compare) {
        stage.refuse_field("ALU_ALGO", "this stage cannot compare",
                           "0 max, 1 min, 2 sum; compare in the element-wise stage");
    }
    return AluAlgorithm::Equal;
}

/// Whether the stage works; one that the NPU lacks must be bypassed.
bool takes_part(const StageRegisters& stage, bool present) {
    if (stage.is_set("CFG", "BYPASS")) {
        return false;
    }
    if (!present) {
        stage.refuse_field("BYPASS", "this NPU has no such stage",
                           "program 1 (bypass) or choose a preset that has the stage");
    }
    return true;
}

SdpXStage read_x_stage(const StageRegisters& stage, bool present) {
    SdpXStage x;
    if (!takes_part(stage, present)) {
        return x;
    }
    x.bypass = false;
    x.alu.bypass = stage.is_set("CFG", "ALU_BYPASS");
    if (!x.alu.bypass) {
        x.alu.algorithm = read_algorithm(stage, false);
        x.alu.source = stage.source("ALU_CFG", "ALU_SRC");
        x.alu.operand =
            static_cast<std::int16_t>(stage.signed_field("ALU_SRC_VALUE", "ALU_OPERAND"));
        x.alu.shift_left = stage("ALU_CFG", "ALU_SHIFT_VALUE");
    }
    x.mul.bypass = stage.is_set("CFG", "MUL_BYPASS");
    if (!x.mul.bypass) {
        x.mul.source = stage.source("MUL_CFG", "MUL_SRC");
        x.mul.operand =
            static_cast<std::int16_t>(stage.signed_field("MUL_SRC_VALUE", "MUL_OPERAND"));
        x.mul.prelu = stage.is_set("CFG", "MUL_PRELU");
    }
    x.shift_right = stage("MUL_CFG", "MUL_SHIFT_VALUE") & kShifterMask;
    x.relu = !stage.is_set("CFG", "RELU_BYPASS");
    return x;
}

SdpOperandConvertor read_operand_convertor(const StageRegisters& ew, std::string_view unit) {
    SdpOperandConvertor convertor;
    const auto name = [unit](std::string_view rest) { return fmt::format("{}_{}", unit, rest); };
    convertor.bypass = ew.is_set(name("CFG"), name("CVT_BYPASS"));
    if (!convertor.bypass) {
        convertor.conversion = {
            ew.signed_field(name("CVT_OFFSET_VALUE"), name("CVT_OFFSET")),
            static_cast<std::int16_t>(ew.signed_field(name("CVT_SCALE_VALUE"), name("CVT_SCALE"))),
            ew(name("CVT_TRUNCATE_VALUE"), name("CVT_TRUNCATE"))};
    }
    return convertor;
}

SdpYMul read_y_mul(const StageRegisters& ew) {
    SdpYMul mul;
    mul.bypass = ew.is_set("CFG", "MUL_BYPASS");
    if (mul.bypass) {
        return mul;
    }
    mul.source = ew.source("MUL_CFG", "MUL_SRC");
    mul.operand = ew.signed_field("MUL_SRC_VALUE", "MUL_OPERAND");
    mul.convertor = read_operand_convertor(ew, "MUL");
    mul.prelu = ew.is_set("CFG", "MUL_PRELU");
    mul.shift_right = ew("TRUNCATE_VALUE", "TRUNCATE");
    return mul;
}

SdpYAlu read_y_alu(const StageRegisters& ew) {
    SdpYAlu alu;
    alu.bypass = ew.is_set("CFG", "ALU_BYPASS");
    if (alu.bypass) {
        return alu;
    }
    alu.algorithm = read_algorithm(ew, true);
    alu.source = ew.source("ALU_CFG", "ALU_SRC");
    alu.operand = ew.signed_field("ALU_SRC_VALUE", "ALU_OPERAND");
    alu.convertor = read_operand_convertor(ew, "ALU");
    return alu;
}

LookupConfig read_lut(const RegisterValues& sdp) {
    return read_lookup_config(sdp, [&sdp](const std::string& bound) {
        return std::int64_t{sdp.signed_field("S_LUT_" + bound, "LUT_" + bound)};
    });
}

SdpYStage read_y_stage(const RegisterValues& sdp, const SdpConfig& config) {
    const StageRegisters ew(sdp, "EW");
    SdpYStage y;
    if (!takes_part(ew, config.element_wise)) {
        return y;
    }
    y.bypass = false;
    y.mul = read_y_mul(ew);
    y.alu = read_y_alu(ew);
    y.lut_bypass = ew.is_set("CFG", "LUT_BYPASS");
    if (!y.lut_bypass && !config.lut) {
        ew.refuse_field("LUT_BYPASS", "this NPU's SDP has no lookup tables",
                        "program 1 (bypass) or choose a preset that has them");
    }
    if (!y.lut_bypass) {
        y.lut = read_lut(sdp);
    }
    return y;
}

}  // namespace

SdpStages read_sdp_stages(const RegisterValues& sdp, const SdpConfig& config) {
    SdpStages stages;
    stages.bs = read_x_stage(StageRegisters(sdp, "BS"), config.bs);
    stages.bn = read_x_stage(StageRegisters(sdp, "BN"), config.bn);
    stages.ew = read_y_stage(sdp, config);
    stages.convertor = {sdp.signed_field("D_CVT_OFFSET", "CVT_OFFSET"),
                        static_cast<std::int16_t>(sdp.signed_field("D_CVT_SCALE", "CVT_SCALE")),
                        sdp.field("D_CVT_SHIFT", "CVT_SHIFT")};
    stages.count_saturated = sdp.field("D_PERF_ENABLE", "PERF_SAT_EN") != 0;
    return stages;
}

}  // namespace npuscope
