// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/described_registers.h"

#include <algorithm>
#include <array>

#include "models/base/check.h"
#include "sim/loadable/firmware_registers.h"

namespace npuscope {
namespace {

DlaMemory memory_of(std::uint32_t ram_type) {
    return ram_type == 1 ? DlaMemory::Main : DlaMemory::Sram;
}

std::uint32_t field(const OperationRegisters& registers, std::string_view block,
                    std::string_view name, std::string_view field) {
    return registers.block(block).field(name, field);
}

void describe_conv_modes(const OperationRegisters& registers, DlaConv& conv) {
    registers.field(csc_name, "D_MISC_CFG", "CONV_MODE", conv.mode);
    registers.field(cdma_name, "D_MISC_CFG", "IN_PRECISION", conv.input_precision);
    registers.field(cdma_name, "D_MISC_CFG", "PROC_PRECISION", conv.output_precision);
    registers.field(cdma_name, "D_MISC_CFG", "DATA_REUSE", conv.data_reuse);
    registers.field(cdma_name, "D_MISC_CFG", "WEIGHT_REUSE", conv.weight_reuse);
    registers.field(cdma_name, "D_MISC_CFG", "SKIP_DATA_RLS", conv.skip_data_release);
    registers.field(cdma_name, "D_MISC_CFG", "SKIP_WEIGHT_RLS", conv.skip_weight_release);
    registers.size(csc_name, "D_ENTRY_PER_SLICE", "ENTRIES", conv.entries_per_slice);
    if (field(registers, cdma_name, "D_DATAIN_FORMAT", "DATAIN_FORMAT") == 1) {
        registers.field(cdma_name, "D_DATAIN_FORMAT", "PIXEL_FORMAT", conv.data_format);
    }
    registers.field(cdma_name, "D_DATAIN_FORMAT", "PIXEL_SIGN_OVERRIDE", conv.pixel_override);
    registers.size(cdma_name, "D_FETCH_GRAIN", "GRAINS", conv.fetch_grain);
    registers.size(cdma_name, "D_BATCH_NUMBER", "BATCHES", conv.batch);
    registers.field(cdma_name, "D_WEIGHT_FORMAT", "WEIGHT_FORMAT", conv.weight_format);
    registers.size(cdma_name, "D_BANK", "DATA_BANK", conv.data_banks);
    registers.size(cdma_name, "D_BANK", "WEIGHT_BANK", conv.weight_banks);
    conv.batch_stride = registers.word(cdma_name, "D_BATCH_STRIDE");
    registers.field(csc_name, "D_POST_Y_EXTENSION", "Y_EXTENSION", conv.post_extension);
    registers.size(csc_name, "D_RELEASE", "RLS_SLICES", conv.release);
    registers.field(csc_name, "D_PRA_CFG", "PRA_TRUNCATE", conv.pra_truncate);
}

void describe_conv_sizes(const OperationRegisters& registers, DlaConv& conv) {
    registers.size(csc_name, "D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT", conv.input_width_csc);
    registers.size(csc_name, "D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT", conv.input_height_csc);
    registers.size(csc_name, "D_DATAIN_SIZE_EXT_1", "DATAIN_CHANNEL_EXT", conv.input_channel_csc);
    registers.size(csc_name, "D_WEIGHT_SIZE_EXT_0", "WEIGHT_WIDTH_EXT", conv.kernel_width_csc);
    registers.size(csc_name, "D_WEIGHT_SIZE_EXT_0", "WEIGHT_HEIGHT_EXT", conv.kernel_height_csc);
    registers.size(csc_name, "D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT", conv.kernel_channel_csc);
    registers.size(csc_name, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH", conv.input_width_cmac);
    registers.size(csc_name, "D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT", conv.input_height_cmac);
    registers.size(cdma_name, "D_WEIGHT_SIZE_0", "BYTE_PER_KERNEL", conv.bytes_per_kernel);
    registers.size(cdma_name, "D_CONV_STRIDE", "CONV_X_STRIDE", conv.stride_x);
    registers.size(cdma_name, "D_CONV_STRIDE", "CONV_Y_STRIDE", conv.stride_y);
    registers.field(cdma_name, "D_ZERO_PADDING", "PAD_LEFT", conv.pad_left);
    registers.field(cdma_name, "D_ZERO_PADDING", "PAD_RIGHT", conv.pad_right);
    registers.field(cdma_name, "D_ZERO_PADDING", "PAD_TOP", conv.pad_top);
    registers.field(cdma_name, "D_ZERO_PADDING", "PAD_BOTTOM", conv.pad_bottom);
    registers.size(csc_name, "D_DILATION_EXT", "X_DILATION_EXT", conv.dilation_x);
    registers.size(csc_name, "D_DILATION_EXT", "Y_DILATION_EXT", conv.dilation_y);
    registers.field(cdma_name, "D_ZERO_PADDING_VALUE", "PAD_VALUE", conv.pad_value);
}

void describe_input_convertor(const OperationRegisters& registers, DlaConv& conv) {
    registers.field(cdma_name, "D_MEAN_FORMAT", "MEAN_FORMAT", conv.mean_format);
    registers.field(cdma_name, "D_MEAN_GLOBAL_0", "MEAN_RY", conv.mean_ry);
    registers.field(cdma_name, "D_MEAN_GLOBAL_0", "MEAN_GU", conv.mean_gu);
    registers.field(cdma_name, "D_MEAN_GLOBAL_1", "MEAN_BV", conv.mean_bv);
    registers.field(cdma_name, "D_MEAN_GLOBAL_1", "MEAN_AX", conv.mean_ax);
    registers.field(cdma_name, "D_CVT_CFG", "CVT_EN", conv.input_convertor.enable);
    registers.field(cdma_name, "D_CVT_CFG", "CVT_TRUNCATE", conv.input_convertor.truncate);
    conv.input_convertor.offset =
        registers.block(cdma_name).signed_field("D_CVT_OFFSET", "CVT_OFFSET");
    registers.field(cdma_name, "D_CVT_SCALE", "CVT_SCALE", conv.input_convertor.scale);
    registers.field(cacc_name, "D_CLIP_CFG", "CLIP_TRUNCATE", conv.output_convertor.truncate);
}

void describe_conv_output(const OperationRegisters& registers, DlaCube& cube) {
    registers.size(cacc_name, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH", cube.width);
    registers.size(cacc_name, "D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT", cube.height);
    registers.size(cacc_name, "D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL", cube.channel);
    cube.line_stride = registers.word(cacc_name, "D_LINE_STRIDE");
    cube.surface_stride = registers.word(cacc_name, "D_SURF_STRIDE");
}

void describe_conv_input(const OperationRegisters& registers, ConvDlaOperation& conv,
                         const PlaceCube& place) {
    DlaCube& source = conv.surfaces.source;
    source.type = memory_of(field(registers, cdma_name, "D_DAIN_RAM_TYPE", "DATAIN_RAM_TYPE"));
    registers.size(cdma_name, "D_DATAIN_SIZE_0", "DATAIN_WIDTH", source.width);
    registers.size(cdma_name, "D_DATAIN_SIZE_0", "DATAIN_HEIGHT", source.height);
    registers.size(cdma_name, "D_DATAIN_SIZE_1", "DATAIN_CHANNEL", source.channel);
    source.line_stride = registers.word(cdma_name, "D_LINE_STRIDE");
    source.surface_stride = registers.word(cdma_name, "D_SURF_STRIDE");
    conv.surfaces.uv_line_stride = registers.word(cdma_name, "D_LINE_UV_STRIDE");
    const Address first = registers.address(cdma_name, "D_DAIN_ADDR_LOW_0", "D_DAIN_ADDR_HIGH_0");
    const Address second = registers.address(cdma_name, "D_DAIN_ADDR_LOW_1", "D_DAIN_ADDR_HIGH_1");
    conv.surfaces.offset_u =
        second.value == 0 ? 0 : static_cast<std::int64_t>(second.value - first.value);
    source.size = source.line_stride * source.height;
    place(source, first, false);
}

void describe_weights(const OperationRegisters& registers, ConvDlaOperation& conv,
                      const PlaceCube& place) {
    const DlaMemory type =
        memory_of(field(registers, cdma_name, "D_WEIGHT_RAM_TYPE", "WEIGHT_RAM_TYPE"));
    const auto put = [&](DlaCube& cube, const std::string& name, std::uint32_t size) {
        cube.type = type;
        cube.size = size;
        place(cube,
              registers.address(cdma_name, "D_" + name + "_ADDR_LOW", "D_" + name + "_ADDR_HIGH"),
              false);
    };
    DlaCube& weight = conv.surfaces.weight;
    weight.width = conv.operation.kernel_width_csc;
    weight.height = conv.operation.kernel_height_csc;
    weight.channel = conv.operation.kernel_channel_csc;
    put(weight, "WEIGHT", registers.word(cdma_name, "D_WEIGHT_BYTES"));
    if (conv.operation.weight_format == 1) {
        put(conv.surfaces.wmb, "WMB", registers.word(cdma_name, "D_WMB_BYTES"));
        put(conv.surfaces.wgs, "WGS", 0);
    }
}

// --- SDP ---

struct StageNames {
    std::string stage;
    std::string rdma;
};
const std::array<StageNames, 3>& stage_names() {
    static const std::array<StageNames, 3> names{
        {{"BS", "BRDMA"}, {"BN", "NRDMA"}, {"EW", "ERDMA"}}};
    return names;
}

void describe_stage_operand(const OperationRegisters& registers, const StageNames& names,
                            DlaSdpStage& stage, DlaCube& cube, const PlaceCube& place) {
    if (stage.enable == 0 || stage.type == 0 || !registers.has(sdp_rdma_name)) {
        return;
    }
    const std::string config = "D_" + names.rdma + "_CFG";
    if (field(registers, sdp_rdma_name, config, names.rdma + "_DISABLE") == 1) {
        return;
    }
    const bool per_kernel = field(registers, sdp_rdma_name, config, names.rdma + "_DATA_MODE") == 0;
    stage.mode = per_kernel ? DlaSdpStage::per_kernel : DlaSdpStage::per_point;
    stage.precision = field(registers, sdp_rdma_name, config, names.rdma + "_DATA_SIZE") == 0
                          ? DlaPrecision::Int8
                          : DlaPrecision::Int16;
    cube.type = memory_of(field(registers, sdp_rdma_name, config, names.rdma + "_RAM_TYPE"));
    const std::string stem = "D_" + names.stage;
    cube.line_stride = registers.word(sdp_rdma_name, stem + "_LINE_STRIDE");
    cube.surface_stride = registers.word(sdp_rdma_name, stem + "_SURFACE_STRIDE");
    place(cube, registers.address(sdp_rdma_name, stem + "_BASE_ADDR_LOW", stem + "_BASE_ADDR_HIGH"),
          false);
}

void describe_stage_type(const OperationRegisters& registers, const std::string& name,
                         DlaSdpStage& stage) {
    const std::string config = "D_DP_" + name + "_CFG";
    const auto works = [&](const std::string& part) {
        return field(registers, sdp_name, config, name + part + "_BYPASS") == 0;
    };
    stage.enable = works("") ? 1 : 0;
    stage.type = works("_ALU") ? (works("_MUL") ? DlaSdpStage::both : DlaSdpStage::add)
                               : (works("_MUL") ? DlaSdpStage::mul : std::uint8_t{0});
    registers.field(sdp_name, config, name + "_ALU_ALGO", stage.alu_type);
    const bool prelu =
        field(registers, sdp_name, config, name + "_MUL_PRELU") == 1 && works("_MUL");
    stage.activation = prelu ? DlaSdpStage::prelu : std::uint8_t{0};
    if (name != "EW" && works("_RELU")) {
        stage.activation = DlaSdpStage::relu;
    }
    if (name == "EW" && works("_LUT")) {
        stage.activation = DlaSdpStage::lut;
    }
}

void describe_affine_stage(const OperationRegisters& registers, const std::string& name,
                           DlaSdpStage& stage) {
    const std::string stem = "D_DP_" + name;
    registers.field(sdp_name, stem + "_ALU_CFG", name + "_ALU_SHIFT_VALUE", stage.shift);
    registers.field(sdp_name, stem + "_MUL_CFG", name + "_MUL_SHIFT_VALUE", stage.truncate);
    stage.alu_operand =
        registers.block(sdp_name).signed_field(stem + "_ALU_SRC_VALUE", name + "_ALU_OPERAND");
    stage.mul_operand =
        registers.block(sdp_name).signed_field(stem + "_MUL_SRC_VALUE", name + "_MUL_OPERAND");
}

void describe_element_stage(const OperationRegisters& registers, DlaSdpStage& stage) {
    stage.alu_operand =
        static_cast<std::int32_t>(registers.word(sdp_name, "D_DP_EW_ALU_SRC_VALUE"));
    stage.mul_operand =
        static_cast<std::int32_t>(registers.word(sdp_name, "D_DP_EW_MUL_SRC_VALUE"));
    registers.field(sdp_name, "D_DP_EW_TRUNCATE_VALUE", "EW_TRUNCATE", stage.truncate);
    const auto convertor = [&](const std::string& part, DlaConvertor& of) {
        const std::string stem = "D_DP_EW_" + part + "_CVT_";
        const std::string name = "EW_" + part + "_CVT_";
        of.enable = field(registers, sdp_name, "D_DP_EW_" + part + "_CFG", name + "BYPASS") == 0;
        of.offset = static_cast<std::int32_t>(registers.word(sdp_name, stem + "OFFSET_VALUE"));
        registers.field(sdp_name, stem + "SCALE_VALUE", name + "SCALE", of.scale);
        registers.field(sdp_name, stem + "TRUNCATE_VALUE", name + "TRUNCATE", of.truncate);
    };
    convertor("ALU", stage.alu_convertor);
    convertor("MUL", stage.mul_convertor);
}

}  // namespace

const RegisterValues* OperationRegisters::find(std::string_view block) const {
    const auto found = std::ranges::find_if(
        values_, [&](const RegisterValues& one) { return one.block().name == block; });
    return found == values_.end() ? nullptr : &*found;
}

const RegisterValues& OperationRegisters::block(std::string_view name) const {
    const RegisterValues* found = find(name);
    NPU_CHECK(found != nullptr, "the operation has no block " + std::string(name));
    return *found;
}

Address OperationRegisters::address(std::string_view block, const std::string& low,
                                    const std::string& high) const {
    return Address(std::uint64_t{word(block, high)} << 32U | word(block, low));
}

ConvDlaOperation describe_conv(const OperationRegisters& registers, const PlaceCube& place) {
    ConvDlaOperation conv;
    describe_conv_modes(registers, conv.operation);
    describe_conv_sizes(registers, conv.operation);
    describe_input_convertor(registers, conv.operation);
    describe_conv_output(registers, conv.surfaces.destination);
    describe_conv_input(registers, conv, place);
    describe_weights(registers, conv, place);
    return conv;
}

SdpDlaOperation describe_sdp(const OperationRegisters& registers, const PlaceCube& place) {
    SdpDlaOperation made;
    DlaSdp& operation = made.operation;
    DlaCube& source = made.surfaces.source;
    DlaCube& destination = made.surfaces.destination;
    registers.size(sdp_name, "D_DATA_CUBE_WIDTH", "WIDTH", source.width);
    registers.size(sdp_name, "D_DATA_CUBE_HEIGHT", "HEIGHT", source.height);
    registers.size(sdp_name, "D_DATA_CUBE_CHANNEL", "CHANNEL", source.channel);
    registers.field(sdp_name, "D_DATA_FORMAT", "OUT_PRECISION", operation.destination_precision);
    registers.field(sdp_name, "D_DATA_FORMAT", "PROC_PRECISION", operation.source_precision);
    registers.field(sdp_name, "D_FEATURE_MODE_CFG", "WINOGRAD", operation.conv_mode);
    registers.size(sdp_name, "D_FEATURE_MODE_CFG", "BATCH_NUMBER", operation.batch);
    operation.batch_stride = registers.word(sdp_name, "D_DST_BATCH_STRIDE");
    operation.output_convertor.offset =
        static_cast<std::int32_t>(registers.word(sdp_name, "D_CVT_OFFSET"));
    registers.field(sdp_name, "D_CVT_SCALE", "CVT_SCALE", operation.output_convertor.scale);
    registers.field(sdp_name, "D_CVT_SHIFT", "CVT_SHIFT", operation.output_convertor.truncate);
    if (field(registers, sdp_name, "D_FEATURE_MODE_CFG", "FLYING_MODE") == 0) {
        registers.field(sdp_rdma_name, "D_FEATURE_MODE_CFG", "IN_PRECISION",
                        operation.source_precision);
        source.type = memory_of(field(registers, sdp_rdma_name, "D_SRC_DMA_CFG", "SRC_RAM_TYPE"));
        source.line_stride = registers.word(sdp_rdma_name, "D_SRC_LINE_STRIDE");
        source.surface_stride = registers.word(sdp_rdma_name, "D_SRC_SURFACE_STRIDE");
        place(source,
              registers.address(sdp_rdma_name, "D_SRC_BASE_ADDR_LOW", "D_SRC_BASE_ADDR_HIGH"),
              false);
    }
    destination.width = source.width;
    destination.height = source.height;
    destination.channel = source.channel;
    if (field(registers, sdp_name, "D_FEATURE_MODE_CFG", "OUTPUT_DST") == 0) {
        destination.type = memory_of(field(registers, sdp_name, "D_DST_DMA_CFG", "DST_RAM_TYPE"));
        destination.line_stride = registers.word(sdp_name, "D_DST_LINE_STRIDE");
        destination.surface_stride = registers.word(sdp_name, "D_DST_SURFACE_STRIDE");
        place(destination,
              registers.address(sdp_name, "D_DST_BASE_ADDR_LOW", "D_DST_BASE_ADDR_HIGH"), true);
    }
    for (std::size_t i = 0; i < operation.stages.size(); ++i) {
        const StageNames& names = stage_names()[i];
        DlaSdpStage& stage = operation.stages[i];
        describe_stage_type(registers, names.stage, stage);
        if (names.stage == "EW") {
            describe_element_stage(registers, stage);
        } else {
            describe_affine_stage(registers, names.stage, stage);
        }
        DlaCube& operand = made.surfaces.operands[i];
        operand.width = source.width;
        operand.height = source.height;
        operand.channel = source.channel;
        describe_stage_operand(registers, names, stage, operand, place);
    }
    return made;
}

DlaLut describe_table(const Operation& planned) {
    const auto* job = std::get_if<SdpJob>(&planned.job);
    const LookupConfig& lut =
        (job != nullptr ? *job : std::get<ConvOperation>(planned.job).sdp).stages.ew.lut;
    DlaLut table;
    std::ranges::copy(planned.table, table.linear.begin());
    table.method = 1;
    table.exponential_start = static_cast<std::uint64_t>(lut.le.start);
    table.exponential_end = static_cast<std::uint64_t>(lut.le.end);
    table.linear_overflow.scale = lut.lo.overflow.scale;
    table.linear_start = static_cast<std::uint64_t>(lut.lo.start);
    table.linear_end = static_cast<std::uint64_t>(lut.lo.end);
    table.hybrid_priority = table.underflow_priority = table.overflow_priority = 1;
    return table;
}

PdpDlaOperation describe_pdp(const OperationRegisters& registers, const PlaceCube& place) {
    PdpDlaOperation made;
    DlaPdp& operation = made.operation;
    DlaCube& source = made.surfaces.source;
    DlaCube& destination = made.surfaces.destination;
    registers.size(pdp_name, "D_DATA_CUBE_IN_WIDTH", "CUBE_IN_WIDTH", source.width);
    registers.size(pdp_name, "D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT", source.height);
    registers.size(pdp_name, "D_DATA_CUBE_IN_CHANNEL", "CUBE_IN_CHANNEL", source.channel);
    registers.size(pdp_name, "D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH", destination.width);
    registers.size(pdp_name, "D_DATA_CUBE_OUT_HEIGHT", "CUBE_OUT_HEIGHT", destination.height);
    registers.size(pdp_name, "D_DATA_CUBE_OUT_CHANNEL", "CUBE_OUT_CHANNEL", destination.channel);
    registers.field(pdp_name, "D_OPERATION_MODE_CFG", "POOLING_METHOD", operation.mode);
    registers.size(pdp_name, "D_OPERATION_MODE_CFG", "SPLIT_NUM", operation.splits);
    registers.field(pdp_name, "D_POOLING_KERNEL_CFG", "KERNEL_WIDTH", operation.width);
    registers.field(pdp_name, "D_POOLING_KERNEL_CFG", "KERNEL_HEIGHT", operation.height);
    registers.size(pdp_name, "D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_WIDTH", operation.stride_x);
    registers.size(pdp_name, "D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_HEIGHT", operation.stride_y);
    registers.field(pdp_name, "D_POOLING_PADDING_CFG", "PAD_LEFT", operation.pad_left);
    registers.field(pdp_name, "D_POOLING_PADDING_CFG", "PAD_RIGHT", operation.pad_right);
    registers.field(pdp_name, "D_POOLING_PADDING_CFG", "PAD_TOP", operation.pad_top);
    registers.field(pdp_name, "D_POOLING_PADDING_CFG", "PAD_BOTTOM", operation.pad_bottom);
    registers.field(pdp_name, "D_DATA_FORMAT", "INPUT_DATA", operation.precision);
    for (std::size_t i = 0; i < operation.padding_values.size(); ++i) {
        const std::string number = std::to_string(i + 1);
        operation.padding_values[i] = registers.block(pdp_name).signed_field(
            "D_POOLING_PADDING_VALUE_" + number + "_CFG", "PAD_VALUE_" + number + "X");
    }
    if (operation.splits > 1) {
        const auto parts = [&](const std::string& side, std::uint16_t& first, std::uint16_t& mid,
                               std::uint16_t& last) {
            const std::string name = "D_PARTIAL_WIDTH_" + side;
            const std::string stem = "PARTIAL_WIDTH_" + side;
            registers.size(pdp_name, name, stem + "_FIRST", first);
            registers.size(pdp_name, name, stem + "_MID", mid);
            registers.size(pdp_name, name, stem + "_LAST", last);
        };
        parts("IN", operation.partial_in_first, operation.partial_in_mid,
              operation.partial_in_last);
        parts("OUT", operation.partial_first, operation.partial_mid, operation.partial_last);
    }
    if (field(registers, pdp_name, "D_OPERATION_MODE_CFG", "FLYING_MODE") == 1) {
        source.type = memory_of(field(registers, pdp_rdma_name, "D_SRC_RAM_CFG", "SRC_RAM_TYPE"));
        source.line_stride = registers.word(pdp_rdma_name, "D_SRC_LINE_STRIDE");
        source.surface_stride = registers.word(pdp_rdma_name, "D_SRC_SURFACE_STRIDE");
        place(source,
              registers.address(pdp_rdma_name, "D_SRC_BASE_ADDR_LOW", "D_SRC_BASE_ADDR_HIGH"),
              false);
    }
    destination.type = memory_of(field(registers, pdp_name, "D_DST_RAM_CFG", "DST_RAM_TYPE"));
    destination.line_stride = registers.word(pdp_name, "D_DST_LINE_STRIDE");
    destination.surface_stride = registers.word(pdp_name, "D_DST_SURFACE_STRIDE");
    place(destination, registers.address(pdp_name, "D_DST_BASE_ADDR_LOW", "D_DST_BASE_ADDR_HIGH"),
          true);
    return made;
}

}  // namespace npuscope
