// SPDX-License-Identifier: Apache-2.0
// source: NVDLA sw, kmd/firmware/sdp.c
#include <fmt/format.h>

#include <array>
#include <optional>

#include "sim/loadable/firmware_registers.h"

namespace npuscope {
namespace {

/// A stage's registers, and those of its read DMA, are named after it.
struct StageWords {
    const char* stage;    ///< BS
    const char* rdma;     ///< BRDMA
    const char* member;   ///< of the descriptor
    const char* operand;  ///< in words
};
constexpr std::array<StageWords, 3> stage_words{{{"BS", "BRDMA", "x1_op", "x1 operands"},
                                                 {"BN", "NRDMA", "x2_op", "x2 operands"},
                                                 {"EW", "ERDMA", "y_op", "y operands"}}};

bool has_alu(const DlaSdpStage& stage) { return stage.type != DlaSdpStage::mul && stage.type != 0; }
bool has_mul(const DlaSdpStage& stage) { return stage.type != DlaSdpStage::add && stage.type != 0; }
bool reads(const DlaSdpStage& stage) {
    return stage.enable != 0 && stage.type != 0 && stage.mode != DlaSdpStage::per_layer;
}

void check(const OperationContext& context, const DlaSdp& sdp) {
    precision_code(context, sdp.source_precision, "src_precision");
    precision_code(context, sdp.destination_precision, "dst_precision");
    for (std::size_t i = 0; i < sdp.stages.size(); ++i) {
        const DlaSdpStage& stage = sdp.stages[i];
        const std::string member = stage_words[i].member;
        precision_code(context, stage.precision, (member + ".precision").c_str());
        const auto at_most = [&](const char* name, std::uint8_t value, std::uint8_t most) {
            context.require(value <= most,
                            fmt::format("{}.{} is {}, more than {}", member, name, value, most));
        };
        at_most("enable", stage.enable, 1);
        at_most("type", stage.type, DlaSdpStage::both);
        at_most("mode", stage.mode, DlaSdpStage::per_point);
        at_most("alu_type", stage.alu_type, 3);
    }
}

/// Address of a stage's operand. One value per channel or point, or two where the stage adds and
/// multiplies.
Address operand_address(const OperationContext& context, const SdpDlaOperation& sdp,
                        std::size_t stage) {
    const DlaSdpStage& operation = sdp.operation.stages[stage];
    const DlaCube& cube = sdp.surfaces.operands[stage];
    const DlaCube& source = sdp.surfaces.source;
    const std::uint64_t numbers = operation.type == DlaSdpStage::both ? 2 : 1;
    const std::uint64_t bytes = element_bytes(operation.precision) * numbers;
    if (operation.mode == DlaSdpStage::per_kernel) {
        return bytes_address(context, cube, source.channel * bytes, stage_words[stage].operand);
    }
    DlaCube read = cube;  // the operand read has the shape of the computed cube
    read.width = source.width;
    read.height = source.height;
    read.channel = source.channel;
    if (numbers == 2) {
        return bytes_address(context, cube, 1, stage_words[stage].operand);
    }
    return feature_address(context, read, bytes, stage_words[stage].operand);
}

std::uint32_t processing_precision(const DlaSdp& sdp) {
    // int16 converted to int8 is processed as int8; all else like the source
    const bool narrow = sdp.source_precision == DlaPrecision::Int16 &&
                        sdp.destination_precision == DlaPrecision::Int8;
    const bool int8 = sdp.source_precision == DlaPrecision::Int8;
    return static_cast<std::uint32_t>(narrow || int8 ? DlaPrecision::Int8 : sdp.source_precision);
}

void write_operand_dma(RegisterScript& script, const SdpDlaOperation& sdp, std::size_t index,
                       std::optional<Address> address) {
    const DlaSdpStage& stage = sdp.operation.stages[index];
    const DlaCube& cube = sdp.surfaces.operands[index];
    const std::string dma = stage_words[index].rdma;
    const std::uint32_t use = stage.type == DlaSdpStage::both  ? 2
                              : stage.type == DlaSdpStage::add ? 1
                                                               : 0;
    script.write(sdp_rdma_name, "D_" + dma + "_CFG",
                 {{dma + "_DISABLE", address ? 0U : 1U},
                  {dma + "_DATA_USE", use},
                  {dma + "_DATA_SIZE", stage.precision == DlaPrecision::Int8 ? 0U : 1U},
                  {dma + "_DATA_MODE", stage.mode == DlaSdpStage::per_kernel ? 0U : 1U},
                  {dma + "_RAM_TYPE", ram_type(cube)}});
    if (address) {
        const std::string stem = std::string("D_") + stage_words[index].stage;
        script.write_address(sdp_rdma_name, stem + "_BASE_ADDR", *address);
        script.write(sdp_rdma_name, stem + "_LINE_STRIDE", cube.line_stride);
        script.write(sdp_rdma_name, stem + "_SURFACE_STRIDE", cube.surface_stride);
    }
}

void write_rdma(const OperationContext& context, const SdpDlaOperation& sdp,
                std::optional<Address> source,
                const std::array<std::optional<Address>, 3>& operands) {
    RegisterScript& script = context.script;
    const DlaSdp& operation = sdp.operation;
    script.write(sdp_rdma_name, "D_FEATURE_MODE_CFG", {{"FLYING_MODE", 0}});
    for (const StageWords& names : stage_words) {
        const std::string dma = names.rdma;
        script.write(sdp_rdma_name, "D_" + dma + "_CFG", {{dma + "_DISABLE", 0}});
    }
    script.write(sdp_rdma_name, "D_FEATURE_MODE_CFG",
                 {{"FLYING_MODE", source ? 0U : 1U},
                  {"WINOGRAD", operation.conv_mode == 1 ? 1U : 0U},
                  {"IN_PRECISION", static_cast<std::uint32_t>(operation.source_precision)},
                  {"OUT_PRECISION", static_cast<std::uint32_t>(operation.destination_precision)},
                  {"PROC_PRECISION", processing_precision(operation)},
                  {"BATCH_NUMBER", less_one(operation.batch)}});
    if (!context.uses_rdma) {
        return;
    }
    const DlaCube& cube = sdp.surfaces.source;
    script.write(sdp_rdma_name, "D_DATA_CUBE_WIDTH", less_one(cube.width));
    script.write(sdp_rdma_name, "D_DATA_CUBE_HEIGHT", less_one(cube.height));
    script.write(sdp_rdma_name, "D_DATA_CUBE_CHANNEL", less_one(cube.channel));
    if (source) {
        script.write_address(sdp_rdma_name, "D_SRC_BASE_ADDR", *source);
        script.write(sdp_rdma_name, "D_SRC_LINE_STRIDE", cube.line_stride);
        script.write(sdp_rdma_name, "D_SRC_SURFACE_STRIDE", cube.surface_stride);
        script.write(sdp_rdma_name, "D_SRC_DMA_CFG", ram_type(cube));
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        write_operand_dma(script, sdp, i, operands[i]);
    }
}

/// BS and BN, which are identical.
void write_affine_stage(RegisterScript& script, const DlaSdpStage& stage, const StageWords& names) {
    const std::string name = names.stage;
    const std::string stem = "D_DP_" + name;
    const auto bypass = [](bool works) { return works ? 0U : 1U; };
    script.write(sdp_name, stem + "_CFG",
                 {{name + "_BYPASS", bypass(stage.enable != 0)},
                  {name + "_ALU_BYPASS", bypass(has_alu(stage))},
                  {name + "_ALU_ALGO", stage.alu_type},
                  {name + "_MUL_BYPASS", bypass(has_mul(stage))},
                  {name + "_MUL_PRELU", stage.activation == DlaSdpStage::prelu ? 1U : 0U},
                  {name + "_RELU_BYPASS", bypass(stage.activation == DlaSdpStage::relu)}});
    if (stage.enable == 0) {
        return;
    }
    const bool in_registers = stage.mode == DlaSdpStage::per_layer;
    if (has_alu(stage)) {
        script.write(sdp_name, stem + "_ALU_CFG",
                     {{name + "_ALU_SRC", in_registers ? 0U : 1U},
                      {name + "_ALU_SHIFT_VALUE", stage.shift}});
    }
    if (in_registers) {
        script.write(sdp_name, stem + "_ALU_SRC_VALUE",
                     static_cast<std::uint32_t>(stage.alu_operand));
        script.write(sdp_name, stem + "_MUL_SRC_VALUE",
                     static_cast<std::uint32_t>(stage.mul_operand));
    }
    script.write(
        sdp_name, stem + "_MUL_CFG",
        {{name + "_MUL_SRC", in_registers ? 0U : 1U}, {name + "_MUL_SHIFT_VALUE", stage.truncate}});
}

/// One operand of EW: `part` is ALU or MUL.
void write_element_operand(RegisterScript& script, const std::string& part, bool in_registers,
                           std::int32_t value, const DlaConvertor& convertor) {
    const std::string name = "EW_" + part;
    const std::string stem = "D_DP_" + name;
    script.write(sdp_name, stem + "_CFG",
                 {{name + "_SRC", in_registers ? 0U : 1U},
                  {name + "_CVT_BYPASS", convertor.enable != 0 ? 0U : 1U}});
    if (in_registers) {
        script.write(sdp_name, stem + "_SRC_VALUE", static_cast<std::uint32_t>(value));
        return;
    }
    script.write(sdp_name, stem + "_CVT_OFFSET_VALUE",
                 static_cast<std::uint32_t>(convertor.offset));
    script.write(sdp_name, stem + "_CVT_SCALE_VALUE",
                 static_cast<std::uint32_t>(std::int32_t{convertor.scale}));
    script.write(sdp_name, stem + "_CVT_TRUNCATE_VALUE", convertor.truncate);
}

void write_element_stage(RegisterScript& script, const DlaSdpStage& stage) {
    const auto bypass = [](bool works) { return works ? 0U : 1U; };
    script.write(sdp_name, "D_DP_EW_CFG",
                 {{"EW_BYPASS", bypass(stage.enable != 0)},
                  {"EW_ALU_BYPASS", bypass(has_alu(stage))},
                  {"EW_ALU_ALGO", stage.alu_type},
                  {"EW_MUL_BYPASS", bypass(has_mul(stage))},
                  {"EW_MUL_PRELU", stage.activation == DlaSdpStage::prelu ? 1U : 0U},
                  {"EW_LUT_BYPASS", bypass(stage.activation == DlaSdpStage::lut)}});
    if (stage.enable == 0) {
        return;
    }
    const bool in_registers = stage.mode == DlaSdpStage::per_layer;
    if (has_alu(stage)) {
        write_element_operand(script, "ALU", in_registers, stage.alu_operand, stage.alu_convertor);
    }
    if (has_mul(stage)) {
        write_element_operand(script, "MUL", in_registers, stage.mul_operand, stage.mul_convertor);
    }
    script.write(sdp_name, "D_DP_EW_TRUNCATE_VALUE", stage.truncate);
}

void write_output(RegisterScript& script, const SdpDlaOperation& sdp, bool flying) {
    const DlaSdp& operation = sdp.operation;
    const DlaCube& output = sdp.surfaces.destination;
    const bool to_pdp = output.type == DlaMemory::OnTheFly;
    script.write(sdp_name, "D_FEATURE_MODE_CFG",
                 {{"FLYING_MODE", flying ? 1U : 0U},
                  {"OUTPUT_DST", to_pdp ? 1U : 0U},
                  {"WINOGRAD", operation.conv_mode == 1 ? 1U : 0U},
                  {"BATCH_NUMBER", less_one(operation.batch)}});
    script.write(sdp_name, "D_DST_DMA_CFG", ram_type(output));
    if (operation.batch > 1) {
        script.write(sdp_name, "D_DST_BATCH_STRIDE", operation.batch_stride);
    }
    script.write(sdp_name, "D_DATA_FORMAT",
                 {{"PROC_PRECISION", processing_precision(operation)},
                  {"OUT_PRECISION", static_cast<std::uint32_t>(operation.destination_precision)}});
    script.write(sdp_name, "D_CVT_OFFSET",
                 static_cast<std::uint32_t>(operation.output_convertor.offset));
    script.write(sdp_name, "D_CVT_SCALE",
                 static_cast<std::uint32_t>(std::int32_t{operation.output_convertor.scale}));
    script.write(sdp_name, "D_CVT_SHIFT", operation.output_convertor.truncate);
}

}  // namespace

void SdpDlaOperation::write(const OperationContext& context) const {
    RegisterScript& script = context.script;
    check(context, operation);
    const bool flying = surfaces.source.type == DlaMemory::OnTheFly;
    std::optional<Address> source;
    std::optional<Address> destination;
    std::array<std::optional<Address>, 3> operands;
    if (!flying) {
        source = feature_address(context, surfaces.source,
                                 element_bytes(operation.source_precision), "source");
    }
    if (surfaces.destination.type != DlaMemory::OnTheFly) {
        DlaCube written = surfaces.destination;  // the computed cube, at its address
        written.width = surfaces.source.width;
        written.height = surfaces.source.height;
        written.channel = surfaces.source.channel;
        destination = feature_address(
            context, written, element_bytes(operation.destination_precision), "destination");
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (reads(operation.stages[i])) {
            operands[i] = operand_address(context, *this, i);
        }
    }
    write_rdma(context, *this, source, operands);
    if (operation.table >= 0) {
        write_table(script, sdp_name, table, operation.source_precision);
    }
    script.write(sdp_name, "D_DATA_CUBE_WIDTH", less_one(surfaces.source.width));
    script.write(sdp_name, "D_DATA_CUBE_HEIGHT", less_one(surfaces.source.height));
    script.write(sdp_name, "D_DATA_CUBE_CHANNEL", less_one(surfaces.source.channel));
    if (destination) {
        script.write(sdp_name, "D_DST_BASE_ADDR_HIGH", high_half(*destination));
        script.write(sdp_name, "D_DST_BASE_ADDR_LOW", low_half(*destination));
        script.write(sdp_name, "D_DST_LINE_STRIDE", surfaces.destination.line_stride);
        script.write(sdp_name, "D_DST_SURFACE_STRIDE", surfaces.destination.surface_stride);
    }
    write_affine_stage(script, operation.stages[0], stage_words[0]);
    write_affine_stage(script, operation.stages[1], stage_words[1]);
    write_element_stage(script, operation.stages[2]);
    write_output(script, *this, flying);
}

}  // namespace npuscope
