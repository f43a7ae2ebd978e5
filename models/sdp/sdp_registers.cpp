// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_registers.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "models/arith/lookup_table.h"
#include "models/base/register_rows.h"
#include "models/sdp/sdp_rdma_registers.h"

namespace npuscope {
namespace {

// Registers of NVDLA_SDP: the single-point processor.
// source: NVDLA register specification, nv_small, NVDLA_SDP.rdl
constexpr RegisterText sdp_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"S_LUT_ACCESS_CFG",
     0x08,
     {rw("LUT_ADDR", 0, 10), rw("LUT_TABLE_ID", 16, 1), rw("LUT_ACCESS_TYPE", 17, 1)}},
    {"S_LUT_ACCESS_DATA", 0x0c, {rw("LUT_DATA", 0, 16)}},
    {"S_LUT_CFG",
     0x10,
     {rw("LUT_LE_FUNCTION", 0, 1), rw("LUT_UFLOW_PRIORITY", 4, 1), rw("LUT_OFLOW_PRIORITY", 5, 1),
      rw("LUT_HYBRID_PRIORITY", 6, 1)}},
    {"S_LUT_INFO",
     0x14,
     {rw("LUT_LE_INDEX_OFFSET", 0, 8), rw("LUT_LE_INDEX_SELECT", 8, 8),
      rw("LUT_LO_INDEX_SELECT", 16, 8)}},
    {"S_LUT_LE_START", 0x18, {rw("LUT_LE_START", 0, 32)}},
    {"S_LUT_LE_END", 0x1c, {rw("LUT_LE_END", 0, 32)}},
    {"S_LUT_LO_START", 0x20, {rw("LUT_LO_START", 0, 32)}},
    {"S_LUT_LO_END", 0x24, {rw("LUT_LO_END", 0, 32)}},
    {"S_LUT_LE_SLOPE_SCALE",
     0x28,
     {rw("LUT_LE_SLOPE_UFLOW_SCALE", 0, 16), rw("LUT_LE_SLOPE_OFLOW_SCALE", 16, 16)}},
    {"S_LUT_LE_SLOPE_SHIFT",
     0x2c,
     {rw("LUT_LE_SLOPE_UFLOW_SHIFT", 0, 5), rw("LUT_LE_SLOPE_OFLOW_SHIFT", 5, 5)}},
    {"S_LUT_LO_SLOPE_SCALE",
     0x30,
     {rw("LUT_LO_SLOPE_UFLOW_SCALE", 0, 16), rw("LUT_LO_SLOPE_OFLOW_SCALE", 16, 16)}},
    {"S_LUT_LO_SLOPE_SHIFT",
     0x34,
     {rw("LUT_LO_SLOPE_UFLOW_SHIFT", 0, 5), rw("LUT_LO_SLOPE_OFLOW_SHIFT", 5, 5)}},
    {"D_OP_ENABLE", 0x38, {rw("OP_EN", 0, 1)}},
    {"D_DATA_CUBE_WIDTH", 0x3c, {rw("WIDTH", 0, 13)}},
    {"D_DATA_CUBE_HEIGHT", 0x40, {rw("HEIGHT", 0, 13)}},
    {"D_DATA_CUBE_CHANNEL", 0x44, {rw("CHANNEL", 0, 13)}},
    {"D_DST_BASE_ADDR_LOW", 0x48, {rw("DST_BASE_ADDR_LOW", 0, 32)}},
    {"D_DST_BASE_ADDR_HIGH", 0x4c, {rw("DST_BASE_ADDR_HIGH", 0, 32)}},
    {"D_DST_LINE_STRIDE", 0x50, {rw("DST_LINE_STRIDE", 0, 32)}},
    {"D_DST_SURFACE_STRIDE", 0x54, {rw("DST_SURFACE_STRIDE", 0, 32)}},
    {"D_DP_BS_CFG",
     0x58,
     {rw("BS_BYPASS", 0, 1, 1), rw("BS_ALU_BYPASS", 1, 1, 1), rw("BS_ALU_ALGO", 2, 2),
      rw("BS_MUL_BYPASS", 4, 1, 1), rw("BS_MUL_PRELU", 5, 1, 1), rw("BS_RELU_BYPASS", 6, 1, 1)}},
    {"D_DP_BS_ALU_CFG", 0x5c, {rw("BS_ALU_SRC", 0, 1), rw("BS_ALU_SHIFT_VALUE", 8, 6)}},
    {"D_DP_BS_ALU_SRC_VALUE", 0x60, {rw("BS_ALU_OPERAND", 0, 16)}},
    {"D_DP_BS_MUL_CFG", 0x64, {rw("BS_MUL_SRC", 0, 1), rw("BS_MUL_SHIFT_VALUE", 8, 8)}},
    {"D_DP_BS_MUL_SRC_VALUE", 0x68, {rw("BS_MUL_OPERAND", 0, 16)}},
    {"D_DP_BN_CFG",
     0x6c,
     {rw("BN_BYPASS", 0, 1, 1), rw("BN_ALU_BYPASS", 1, 1, 1), rw("BN_ALU_ALGO", 2, 2),
      rw("BN_MUL_BYPASS", 4, 1, 1), rw("BN_MUL_PRELU", 5, 1), rw("BN_RELU_BYPASS", 6, 1, 1)}},
    {"D_DP_BN_ALU_CFG", 0x70, {rw("BN_ALU_SRC", 0, 1), rw("BN_ALU_SHIFT_VALUE", 8, 6)}},
    {"D_DP_BN_ALU_SRC_VALUE", 0x74, {rw("BN_ALU_OPERAND", 0, 16)}},
    {"D_DP_BN_MUL_CFG", 0x78, {rw("BN_MUL_SRC", 0, 1), rw("BN_MUL_SHIFT_VALUE", 8, 8)}},
    {"D_DP_BN_MUL_SRC_VALUE", 0x7c, {rw("BN_MUL_OPERAND", 0, 16)}},
    {"D_DP_EW_CFG",
     0x80,
     {rw("EW_BYPASS", 0, 1, 1), rw("EW_ALU_BYPASS", 1, 1, 1), rw("EW_ALU_ALGO", 2, 2),
      rw("EW_MUL_BYPASS", 4, 1, 1), rw("EW_MUL_PRELU", 5, 1), rw("EW_LUT_BYPASS", 6, 1, 1)}},
    {"D_DP_EW_ALU_CFG", 0x84, {rw("EW_ALU_SRC", 0, 1), rw("EW_ALU_CVT_BYPASS", 1, 1, 1)}},
    {"D_DP_EW_ALU_SRC_VALUE", 0x88, {rw("EW_ALU_OPERAND", 0, 32)}},
    {"D_DP_EW_ALU_CVT_OFFSET_VALUE", 0x8c, {rw("EW_ALU_CVT_OFFSET", 0, 32)}},
    {"D_DP_EW_ALU_CVT_SCALE_VALUE", 0x90, {rw("EW_ALU_CVT_SCALE", 0, 16)}},
    {"D_DP_EW_ALU_CVT_TRUNCATE_VALUE", 0x94, {rw("EW_ALU_CVT_TRUNCATE", 0, 6)}},
    {"D_DP_EW_MUL_CFG", 0x98, {rw("EW_MUL_SRC", 0, 1), rw("EW_MUL_CVT_BYPASS", 1, 1, 1)}},
    {"D_DP_EW_MUL_SRC_VALUE", 0x9c, {rw("EW_MUL_OPERAND", 0, 32)}},
    {"D_DP_EW_MUL_CVT_OFFSET_VALUE", 0xa0, {rw("EW_MUL_CVT_OFFSET", 0, 32)}},
    {"D_DP_EW_MUL_CVT_SCALE_VALUE", 0xa4, {rw("EW_MUL_CVT_SCALE", 0, 16)}},
    {"D_DP_EW_MUL_CVT_TRUNCATE_VALUE", 0xa8, {rw("EW_MUL_CVT_TRUNCATE", 0, 6)}},
    {"D_DP_EW_TRUNCATE_VALUE", 0xac, {rw("EW_TRUNCATE", 0, 10)}},
    {"D_FEATURE_MODE_CFG",
     0xb0,
     {rw("FLYING_MODE", 0, 1), rw("OUTPUT_DST", 1, 1), rw("WINOGRAD", 2, 1),
      rw("NAN_TO_ZERO", 3, 1), rw("BATCH_NUMBER", 8, 5)}},
    {"D_DST_DMA_CFG", 0xb4, {rw("DST_RAM_TYPE", 0, 1)}},
    {"D_DST_BATCH_STRIDE", 0xb8, {rw("DST_BATCH_STRIDE", 0, 32)}},
    {"D_DATA_FORMAT", 0xbc, {rw("PROC_PRECISION", 0, 2), rw("OUT_PRECISION", 2, 2)}},
    {"D_CVT_OFFSET", 0xc0, {rw("CVT_OFFSET", 0, 32)}},
    {"D_CVT_SCALE", 0xc4, {rw("CVT_SCALE", 0, 16)}},
    {"D_CVT_SHIFT", 0xc8, {rw("CVT_SHIFT", 0, 6)}},
    {"D_STATUS", 0xcc, {ro("STATUS_UNEQUAL", 0, 1)}},
    {"D_STATUS_NAN_INPUT_NUM", 0xd0, {ro("STATUS_NAN_INPUT_NUM", 0, 32)}},
    {"D_STATUS_INF_INPUT_NUM", 0xd4, {ro("STATUS_INF_INPUT_NUM", 0, 32)}},
    {"D_STATUS_NAN_OUTPUT_NUM", 0xd8, {ro("STATUS_NAN_OUTPUT_NUM", 0, 32)}},
    {"D_PERF_ENABLE",
     0xdc,
     {rw("PERF_DMA_EN", 0, 1), rw("PERF_LUT_EN", 1, 1), rw("PERF_SAT_EN", 2, 1),
      rw("PERF_NAN_INF_COUNT_EN", 3, 1)}},
    {"D_PERF_WDMA_WRITE_STALL", 0xe0, {ro("WDMA_STALL", 0, 32)}},
    {"D_PERF_LUT_UFLOW", 0xe4, {ro("LUT_UFLOW", 0, 32)}},
    {"D_PERF_LUT_OFLOW", 0xe8, {ro("LUT_OFLOW", 0, 32)}},
    {"D_PERF_OUT_SATURATION", 0xec, {ro("OUT_SATURATION", 0, 32)}},
    {"D_PERF_LUT_HYBRID", 0xf0, {ro("LUT_HYBRID", 0, 32)}},
    {"D_PERF_LUT_LE_HIT", 0xf4, {ro("LUT_LE_HIT", 0, 32)}},
    {"D_PERF_LUT_LO_HIT", 0xf8, {ro("LUT_LO_HIT", 0, 32)}},
};
constexpr auto sdp_rows = to_rows(sdp_text);

constexpr FieldName destination_field{"D_FEATURE_MODE_CFG", "OUTPUT_DST"};
constexpr FieldName processing_field{"D_DATA_FORMAT", "PROC_PRECISION"};
constexpr FieldName output_field{"D_DATA_FORMAT", "OUT_PRECISION"};

// --- the stages --------------------------------------------------------------------------------
// Stages that the NPU lacks and settings that a stage does not support are refused while decoding.

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
        return name_of({"D_DP_", stage_, "_", part});
    }
    std::string field_name(std::string_view name) const { return name_of({stage_, "_", name}); }

    Visitor& visit_;
    std::string stage_;
};

/// Whether an NPU has a stage, and the field that says so.
struct Presence {
    bool present;
    const char* field;
};

/// The stage works or is bypassed; one that the NPU lacks must be bypassed.
template <class Fields, class Flag>
void describe_bypass(Fields& fields, Flag& bypass, const Presence& stage) {
    fields.flag("CFG", "BYPASS", bypass);
    if constexpr (Fields::decodes) {
        if (!bypass && !stage.present) {
            fields.refuse("BYPASS", "this NPU has no such stage",
                          fmt::format("write 1 (bypass), or choose an NPU that has the stage: "
                                      "npu.sdp.{}=true",
                                      stage.field));
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
void describe_x_stage(Fields fields, Stage& stage, const Presence& presence) {
    constexpr unsigned shifter_mask = 0x3f;  // source: NV_NVDLA_SDP_core.v, [5:0] of 8 bits
    describe_bypass(fields, stage.bypass, presence);
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
    describe_bypass(fields, stage.bypass, Presence{config.element_wise, "element_wise"});
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
                          "write 1 (bypass), or choose an NPU that has them: npu.sdp.lut=true");
        }
    }
    describe_lookup(visit, stage.lut, [&visit](const std::string& name, auto& bound) {
        visit.signed_field("S_LUT_" + name, "LUT_" + name, bound);
    });
}

template <class Visitor, class Stages>
void describe_stages(Visitor& visit, Stages& stages, const SdpConfig& config) {
    describe_x_stage(StageFields(visit, "BS"), stages.bs, {config.bs, "bs"});
    describe_x_stage(StageFields(visit, "BN"), stages.bn, {config.bn, "bn"});
    describe_y_stage(visit, stages.ew, config);
    visit.signed_field("D_CVT_OFFSET", "CVT_OFFSET", stages.convertor.offset);
    visit.signed_field("D_CVT_SCALE", "CVT_SCALE", stages.convertor.scale);
    visit.field("D_CVT_SHIFT", "CVT_SHIFT", stages.convertor.shift);
    visit.flag("D_PERF_ENABLE", "PERF_SAT_EN", stages.count_saturated);
}

// --- element types ------------------------------------------------------------------------------

/// Two-byte elements leave as int8 only where the stages process int8: the accumulators' int16
/// packed to int8 would put two neighbouring pixels into one atom.
/// source: nv_full C model; format page, "the same bit-depth"
void require_output_width(RegisterDecoder& sdp, const SdpStages& stages, bool flying) {
    if (stages.processing == Precision::Int8 && stages.output == Precision::Fp16) {
        // source: nv_full RTL, replayed: from the accumulators it hangs, from memory it writes
        // other bytes or hangs
        sdp.require_valid(sdp::conversion(stages.processing, stages.output), output_field);
    }
    if (stages.output != Precision::Int8 || stages.processing == Precision::Int8) {
        return;
    }
    sdp.refuse_unless(
        !flying, output_field,
        fmt::format("{} from the accumulators cannot be output as int8, which is half as wide",
                    precision_name(stages.processing)),
        "write elements of two bytes; the SDP converts int16 to int8 from memory to memory");
    sdp.require_valid(sdp::conversion(stages.processing, stages.output), output_field);
    sdp.refuse(output_field, "int16 can be output as int8 only where int8 is processed",
               "program PROC_PRECISION 0 (int8) in SDP and SDP_RDMA and keep IN_PRECISION 1 "
               "(int16)");
}

template <class Visitor, class Stages>
void describe_precisions(Visitor& visit, Stages& stages, const DatapathConfig& datapath,
                         bool flying) {
    visit.precision(processing_field, datapath, stages.processing);
    visit.precision(output_field, datapath, stages.output);
    visit.flag("D_FEATURE_MODE_CFG", "NAN_TO_ZERO", stages.nan_to_zero);
    visit.flag("D_PERF_ENABLE", "PERF_NAN_INF_COUNT_EN", stages.count_nan_outputs);
    if constexpr (Visitor::decodes) {
        require_output_width(visit, stages, flying);
        stages.nan_to_zero &= stages.processing == Precision::Fp16;
        stages.count_nan_outputs &= stages.output == Precision::Fp16;
        stages.coarse_saturation = datapath.coarse_saturation_count;
    }
}

// --- where values come from and go to -----------------------------------------------------------

/// Winograd and several cubes are modes of the accumulators' output.
template <class Visitor, class Job>
void describe_flight(Visitor& visit, Job& job, const SdpConfig& modes, bool flying) {
    visit.flag(sdp::winograd_field.register_name, sdp::winograd_field.field_name, job.winograd);
    visit.size(sdp::batches_field.register_name, sdp::batches_field.field_name, job.batches);
    if constexpr (Visitor::decodes) {
        visit.refuse_unless(!job.winograd || (modes.winograd && flying), sdp::winograd_field,
                            modes.winograd
                                ? "Winograd order needs input from the convolution, not from memory"
                                : "this NPU has no Winograd mode",
                            "write 0");
        visit.refuse_unless(
            job.batches == 1 || (job.batches <= modes.max_batch && flying), sdp::batches_field,
            modes.max_batch == 1 ? "this NPU has no multi-batch mode"
            : flying ? fmt::format("this NPU supports at most {} cubes", modes.max_batch)
                     : "batches need input from the convolution, not from memory",
            "write 0");
    }
}

template <class Visitor, class Job>
void describe_performance(Visitor& visit, Job& job) {
    visit.flag("D_PERF_ENABLE", "PERF_DMA_EN", job.count_stalls);
    visit.flag("D_PERF_ENABLE", "PERF_LUT_EN", job.count_lookups);
}

void decode_destination(RegisterDecoder& sdp, Bytes memory_atom, SdpJob& job) {
    sdp.flag(destination_field.register_name, destination_field.field_name, job.to_pdp);
    sdp.refuse_unless(!job.to_pdp || !job.stages.compares(), destination_field,
                      "the element-wise ALU compares, so it has no output for the PDP",
                      "write 0, or another D_DP_EW_CFG.EW_ALU_ALGO");
    sdp.refuse_unless(!job.to_pdp || job.batches == 1, destination_field,
                      "the PDP accepts a single cube (no batches)", "write 0, or BATCH_NUMBER 0");
    if (job.to_pdp || job.stages.compares()) {
        return;
    }
    const Bytes element(bytes_of(job.stages.output));
    // source: NV_NVDLA_SDP_WDMA_cmd.v, cfg_mode_1x1_nbatch: pixels of batches keep their strides
    job.destination = job.batches == 1
                          ? sdp::decode_cube(sdp, "DST", job.shape, memory_atom, element)
                          : npuscope::decode_cube(sdp, "DST", job.shape, memory_atom, element);
    sdp.inverse_flag("D_DST_DMA_CFG", "DST_RAM_TYPE", job.destination_in_sram);
    if (job.batches > 1) {
        sdp.align("D_DST_BATCH_STRIDE",
                  {DataKind::Feature, AlignedPart::SurfaceStride, memory_atom});
        sdp.bytes("D_DST_BATCH_STRIDE", job.batch_stride);
    }
}

}  // namespace

constinit const RegisterBlock sdp_block{"NVDLA_SDP", 0x9000, sdp_rows};

std::optional<SdpJob> decode_sdp(const RegisterValues& sdp_values,
                                 const RegisterValues& rdma_values, const SdpConfig& config,
                                 const DatapathConfig& datapath, Diagnostics& findings) {
    RegisterDecoder sdp(sdp_values, findings);
    RegisterDecoder rdma(rdma_values, findings);
    SdpJob job;
    bool flying = false;
    sdp::describe_shape(sdp, job.shape);
    sdp.flag(sdp::flying_field.register_name, sdp::flying_field.field_name, flying);
    describe_stages(sdp, job.stages, config);
    describe_precisions(sdp, job.stages, datapath, flying);
    describe_flight(sdp, job, config, flying);
    describe_performance(sdp, job);
    decode_destination(sdp, datapath.memory_atom, job);
    sdp::decode_rdma(rdma, sdp, flying, datapath, job);
    return unless_refused(job, findings);
}

std::vector<RegisterValues> encode_sdp(const SdpJob& job) {
    std::vector<RegisterValues> blocks;
    if (job.reads_memory()) {
        blocks.push_back(sdp::encode_rdma(job));
    }
    RegisterEncoder registers(sdp_block);
    sdp::describe_shape(registers, job.shape);
    registers.flag(sdp::flying_field.register_name, sdp::flying_field.field_name, job.flying());
    describe_stages(registers, job.stages, {});
    describe_precisions(registers, job.stages, {}, job.flying());
    describe_flight(registers, job, {}, job.flying());
    describe_performance(registers, job);
    registers.flag(destination_field.register_name, destination_field.field_name, job.to_pdp);
    registers.inverse_flag("D_DST_DMA_CFG", "DST_RAM_TYPE", job.destination_in_sram);
    registers.bytes("D_DST_BATCH_STRIDE", job.batch_stride);
    if (job.destination) {
        sdp::encode_cube(registers, "DST", *job.destination);
    }
    blocks.push_back(registers.values());
    return blocks;
}

}  // namespace npuscope
