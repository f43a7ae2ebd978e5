// SPDX-License-Identifier: Apache-2.0
// PDP, CDP, RUBIK and BDMA. source: NVDLA sw, kmd/firmware: pdp.c, cdp.c, rubik.c, bdma.c
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/loadable/firmware_registers.h"

namespace npuscope {
namespace {

// source: pdp.c and common.h: what the firmware accepts
constexpr unsigned most_splits = 64;
constexpr unsigned largest_cube = 8192;
constexpr unsigned most_repeats = 8192;

/// 1/1 .. 1/8 of an average's width or height: 16 fraction bits, or fp16. source: pdp.c
constexpr std::array<std::array<std::uint32_t, 8>, 2> reciprocals{
    {{0x10000, 0x8000, 0x5555, 0x4000, 0x3333, 0x2aaa, 0x2492, 0x2000},
     {0x7c00, 0x7800, 0x7555, 0x7400, 0x7266, 0x7155, 0x7092, 0x7000}}};

void check_pdp(const OperationContext& context, const PdpDlaOperation& pdp) {
    const DlaPdp& operation = pdp.operation;
    const DlaCube& source = pdp.surfaces.source;
    const DlaCube& destination = pdp.surfaces.destination;
    context.require(destination.type <= DlaMemory::Sram,
                    "the destination is not memory, but the PDP is the last unit of the pipeline");
    context.require(
        source.type <= DlaMemory::OnTheFly,
        fmt::format("the source has memory type {}: main memory is 0, SRAM 1, on the fly 2",
                    static_cast<int>(source.type)));
    for (const DlaCube* cube : {&source, &destination}) {
        context.require(std::max({cube->width, cube->height, cube->channel}) <= largest_cube,
                        fmt::format("a cube of {} x {} x {}: no size may be more than {}",
                                    cube->channel, cube->height, cube->width, largest_cube));
    }
    precision_code(context, operation.precision, "precision");
    const auto stride_fits = [](std::uint8_t stride) { return stride >= 1 && stride <= 8; };
    context.require(
        stride_fits(operation.stride_x) && stride_fits(operation.stride_y),
        fmt::format("strides {} and {} are not 1 to 8", operation.stride_x, operation.stride_y));
    context.require(operation.splits <= most_splits,
                    fmt::format("split_num {} is more than {}", operation.splits, most_splits));
    context.require(operation.width < 8 && operation.height < 8,
                    fmt::format("pool_width {} or pool_height {} is more than 7 (8 pixels)",
                                operation.width, operation.height));
    context.require(operation.mode <= 2,
                    fmt::format("pool_mode {}: average is 0, max 1, min 2", operation.mode));
    context.require(source.type != DlaMemory::OnTheFly || operation.splits == 1,
                    "data that comes on the fly cannot be split");
    const bool zeros = std::ranges::all_of(operation.padding_values,
                                           [](std::int32_t value) { return value == 0; });
    context.require(operation.precision != DlaPrecision::Fp16 || zeros,
                    "padding of fp16 has values other than 0");
}

/// Widths count from zero where there is one.
std::uint32_t part(std::uint16_t width) { return width == 0 ? 0 : less_one(width); }

void write_partial_inputs(RegisterScript& script, std::string_view block, const DlaPdp& pdp) {
    script.write(block, "D_PARTIAL_WIDTH_IN",
                 {{"PARTIAL_WIDTH_IN_FIRST", part(pdp.partial_in_first)},
                  {"PARTIAL_WIDTH_IN_MID", part(pdp.partial_in_mid)},
                  {"PARTIAL_WIDTH_IN_LAST", part(pdp.partial_in_last)}});
}

void write_pdp_rdma(RegisterScript& script, const PdpDlaOperation& pdp, Address input) {
    const DlaPdp& operation = pdp.operation;
    const DlaCube& source = pdp.surfaces.source;
    script.write(pdp_rdma_name, "D_DATA_CUBE_IN_WIDTH", less_one(source.width));
    script.write(pdp_rdma_name, "D_DATA_CUBE_IN_HEIGHT", less_one(source.height));
    script.write(pdp_rdma_name, "D_DATA_CUBE_IN_CHANNEL", less_one(source.channel));
    script.write(pdp_rdma_name, "D_SRC_BASE_ADDR_HIGH", high_half(input));
    script.write(pdp_rdma_name, "D_SRC_BASE_ADDR_LOW", low_half(input));
    script.write(pdp_rdma_name, "D_SRC_LINE_STRIDE", source.line_stride);
    script.write(pdp_rdma_name, "D_SRC_SURFACE_STRIDE", source.surface_stride);
    script.write(pdp_rdma_name, "D_DATA_FORMAT",
                 {{"INPUT_DATA", static_cast<std::uint32_t>(operation.precision)}});
    script.write(pdp_rdma_name, "D_SRC_RAM_CFG", {{"SRC_RAM_TYPE", ram_type(source)}});
    script.write(pdp_rdma_name, "D_OPERATION_MODE_CFG",
                 {{"SPLIT_NUM", less_one(operation.splits)}});
    script.write(
        pdp_rdma_name, "D_POOLING_KERNEL_CFG",
        {{"KERNEL_WIDTH", operation.width}, {"KERNEL_STRIDE_WIDTH", less_one(operation.stride_x)}});
    script.write(pdp_rdma_name, "D_POOLING_PADDING_CFG", {{"PAD_WIDTH", operation.pad_left}});
    write_partial_inputs(script, pdp_rdma_name, operation);
}

void write_pooling(RegisterScript& script, const DlaPdp& pdp, bool flying) {
    script.write(pdp_name, "D_OPERATION_MODE_CFG",
                 {{"POOLING_METHOD", pdp.mode},
                  {"FLYING_MODE", flying ? 0U : 1U},
                  {"SPLIT_NUM", less_one(pdp.splits)}});
    write_partial_inputs(script, pdp_name, pdp);
    script.write(pdp_name, "D_PARTIAL_WIDTH_OUT",
                 {{"PARTIAL_WIDTH_OUT_FIRST", part(pdp.partial_first)},
                  {"PARTIAL_WIDTH_OUT_MID", part(pdp.partial_mid)},
                  {"PARTIAL_WIDTH_OUT_LAST", part(pdp.partial_last)}});
    script.write(pdp_name, "D_POOLING_KERNEL_CFG",
                 {{"KERNEL_WIDTH", pdp.width},
                  {"KERNEL_HEIGHT", pdp.height},
                  {"KERNEL_STRIDE_WIDTH", less_one(pdp.stride_x)},
                  {"KERNEL_STRIDE_HEIGHT", less_one(pdp.stride_y)}});
    const auto& row = reciprocals[pdp.precision == DlaPrecision::Fp16 ? 1 : 0];
    script.write(pdp_name, "D_RECIP_KERNEL_WIDTH", row[pdp.width]);
    script.write(pdp_name, "D_RECIP_KERNEL_HEIGHT", row[pdp.height]);
    script.write(pdp_name, "D_POOLING_PADDING_CFG",
                 {{"PAD_LEFT", pdp.pad_left},
                  {"PAD_RIGHT", pdp.pad_right},
                  {"PAD_TOP", pdp.pad_top},
                  {"PAD_BOTTOM", pdp.pad_bottom}});
    for (std::size_t i = 0; i < pdp.padding_values.size(); ++i) {
        script.write(pdp_name, fmt::format("D_POOLING_PADDING_VALUE_{}_CFG", i + 1),
                     static_cast<std::uint32_t>(pdp.padding_values[i]));
    }
}

}  // namespace

void PdpDlaOperation::write(const OperationContext& context) const {
    RegisterScript& script = context.script;
    check_pdp(context, *this);
    const DlaCube& source = surfaces.source;
    const DlaCube& destination = surfaces.destination;
    const std::uint64_t bytes = element_bytes(operation.precision);
    const bool flying = source.type == DlaMemory::OnTheFly;
    const Address input = flying ? Address(0) : feature_address(context, source, bytes, "source");
    const Address output = feature_address(context, destination, bytes, "destination");
    if (!flying) {
        write_pdp_rdma(script, *this, input);
    }
    script.write(pdp_name, "D_DATA_CUBE_IN_WIDTH", less_one(source.width));
    script.write(pdp_name, "D_DATA_CUBE_IN_HEIGHT", less_one(source.height));
    script.write(pdp_name, "D_DATA_CUBE_IN_CHANNEL", less_one(source.channel));
    script.write(pdp_name, "D_DATA_CUBE_OUT_WIDTH", less_one(destination.width));
    script.write(pdp_name, "D_DATA_CUBE_OUT_HEIGHT", less_one(destination.height));
    script.write(pdp_name, "D_DATA_CUBE_OUT_CHANNEL", less_one(destination.channel));
    write_pooling(script, operation, flying);
    if (!flying) {
        script.write(pdp_name, "D_SRC_LINE_STRIDE", source.line_stride);
        script.write(pdp_name, "D_SRC_SURFACE_STRIDE", source.surface_stride);
    }
    script.write_address(pdp_name, "D_DST_BASE_ADDR", output);
    script.write(pdp_name, "D_DST_LINE_STRIDE", destination.line_stride);
    script.write(pdp_name, "D_DST_SURFACE_STRIDE", destination.surface_stride);
    script.write(pdp_name, "D_DST_RAM_CFG", {{"DST_RAM_TYPE", ram_type(destination)}});
    script.write(pdp_name, "D_DATA_FORMAT",
                 {{"INPUT_DATA", static_cast<std::uint32_t>(operation.precision)}});
}

void CdpDlaOperation::write(const OperationContext& context) const {
    RegisterScript& script = context.script;
    const DlaCube& source = surfaces.source;
    DlaCube destination = surfaces.destination;
    const std::uint32_t precision =
        precision_code(context, operation.input_precision, "in_precision");
    context.require(operation.input_precision == operation.output_precision,
                    "in_precision and out_precision differ: the CDP does not convert");
    const std::uint64_t bytes = element_bytes(operation.input_precision);
    const Address input = feature_address(context, source, bytes, "source");
    destination.width = source.width;  // the cube that is read, at its address
    destination.height = source.height;
    destination.channel = source.channel;
    const Address output = feature_address(context, destination, bytes, "destination");
    script.write(cdp_rdma_name, "D_DATA_CUBE_WIDTH", less_one(source.width));
    script.write(cdp_rdma_name, "D_DATA_CUBE_HEIGHT", less_one(source.height));
    script.write(cdp_rdma_name, "D_DATA_CUBE_CHANNEL", less_one(source.channel));
    script.write_address(cdp_rdma_name, "D_SRC_BASE_ADDR", input);
    script.write(cdp_rdma_name, "D_SRC_LINE_STRIDE", source.line_stride);
    script.write(cdp_rdma_name, "D_SRC_SURFACE_STRIDE", source.surface_stride);
    script.write(cdp_rdma_name, "D_SRC_DMA_CFG", {{"SRC_RAM_TYPE", ram_type(source)}});
    script.write(cdp_rdma_name, "D_DATA_FORMAT", {{"INPUT_DATA", precision}});
    if (operation.table >= 0) {
        write_table(script, cdp_name, table, operation.input_precision);
    }
    script.write_address(cdp_name, "D_DST_BASE_ADDR", output);
    script.write(cdp_name, "D_DST_LINE_STRIDE", destination.line_stride);
    script.write(cdp_name, "D_DST_SURFACE_STRIDE", destination.surface_stride);
    script.write(cdp_name, "D_DST_DMA_CFG", {{"DST_RAM_TYPE", ram_type(destination)}});
    script.write(cdp_name, "D_DATA_FORMAT", {{"INPUT_DATA_TYPE", precision}});
    // 3, 5, 7 and 9 channels are 0 to 3
    const int length = (operation.local_size - 1) / 2 - 1;
    script.write(cdp_name, "D_LRN_CFG", static_cast<std::uint32_t>(length));
    const auto write_convertor = [&](const std::string& name, const DlaConvertor& convertor) {
        script.write(cdp_name, "D_" + name + "_OFFSET",
                     static_cast<std::uint32_t>(convertor.offset));
        script.write(cdp_name, "D_" + name + "_SCALE",
                     static_cast<std::uint32_t>(std::int32_t{convertor.scale}));
        script.write(cdp_name, "D_" + name + "_SHIFTER", convertor.truncate);
    };
    write_convertor("DATIN", operation.input_convertor);
    write_convertor("DATOUT", operation.output_convertor);
    script.write(cdp_name, "D_FUNC_BYPASS",
                 {{"SQSUM_BYPASS", operation.bypass_square_sum != 0 ? 1U : 0U},
                  {"MUL_BYPASS", operation.bypass_multiply != 0 ? 1U : 0U}});
}

void RubikDlaOperation::write(const OperationContext& context) const {
    constexpr std::uint8_t contract = 0, split = 1, merge = 2;
    context.require(context.npu.rubik.present, "this NPU has no RUBIK");
    RegisterScript& script = context.script;
    const DlaCube& source = surfaces.source;
    const DlaCube& destination = surfaces.destination;
    context.require(operation.mode <= merge,
                    fmt::format("mode {}: contract is 0, split 1, merge 2", operation.mode));
    const std::uint32_t precision = precision_code(context, operation.precision, "precision");
    const std::uint64_t bytes = element_bytes(operation.precision);
    const auto planes = [](const DlaCube& cube) {
        return (std::max<std::uint64_t>(cube.channel, 1) - 1) * cube.plane_stride;
    };
    const Address input = operation.mode == merge
                              ? bytes_address(context, source, planes(source), "source")
                              : feature_address(context, source, bytes, "source");
    const Address output =
        operation.mode == split
            ? bytes_address(context, destination, planes(destination), "destination")
            : feature_address(context, destination, bytes, "destination");
    script.write(rbk_name, "D_MISC_CFG",
                 {{"RUBIK_MODE", operation.mode}, {"IN_PRECISION", precision}});
    script.write(rbk_name, "D_DAIN_RAM_TYPE", {{"DATAIN_RAM_TYPE", ram_type(source)}});
    script.write(
        rbk_name, "D_DATAIN_SIZE_0",
        {{"DATAIN_WIDTH", less_one(source.width)}, {"DATAIN_HEIGHT", less_one(source.height)}});
    script.write(rbk_name, "D_DATAIN_SIZE_1", {{"DATAIN_CHANNEL", less_one(source.channel)}});
    script.write(rbk_name, "D_DAIN_ADDR_LOW", low_half(input));
    script.write(rbk_name, "D_DAIN_ADDR_HIGH", high_half(input));
    if (operation.mode == merge) {
        context.require(source.plane_stride != 0 && source.plane_stride % 32 == 0,
                        fmt::format("the source's plane stride {} is not a multiple of 32",
                                    source.plane_stride));
        script.write(rbk_name, "D_DAIN_PLANAR_STRIDE", source.plane_stride);
    } else {
        script.write(rbk_name, "D_DAIN_SURF_STRIDE", source.surface_stride);
    }
    script.write(rbk_name, "D_DAIN_LINE_STRIDE", source.line_stride);
    script.write(rbk_name, "D_DAOUT_RAM_TYPE", {{"DATAOUT_RAM_TYPE", ram_type(destination)}});
    script.write(rbk_name, "D_DATAOUT_SIZE_1",
                 {{"DATAOUT_CHANNEL", less_one(destination.channel)}});
    script.write(rbk_name, "D_DAOUT_ADDR_LOW", low_half(output));
    script.write(rbk_name, "D_DAOUT_ADDR_HIGH", high_half(output));
    script.write(rbk_name, "D_DAOUT_LINE_STRIDE", destination.line_stride);
    if (operation.mode == split) {
        script.write(rbk_name, "D_DAOUT_PLANAR_STRIDE", destination.plane_stride);
        return;
    }
    script.write(rbk_name, "D_DAOUT_SURF_STRIDE", destination.surface_stride);
    if (operation.mode == contract) {
        const std::uint64_t out_surfaces =
            divide_up(destination.channel * bytes, std::uint64_t{32});
        script.write(rbk_name, "D_CONTRACT_STRIDE_0",
                     static_cast<std::uint32_t>(out_surfaces * source.surface_stride));
        script.write(rbk_name, "D_CONTRACT_STRIDE_1", operation.stride_y * destination.line_stride);
        script.write(rbk_name, "D_DECONV_STRIDE",
                     {{"DECONV_X_STRIDE", less_one(operation.stride_x)},
                      {"DECONV_Y_STRIDE", less_one(operation.stride_y)}});
    }
}

namespace {

void check_transfer(const OperationContext& context, const DlaBdmaTransfer& transfer) {
    context.require(transfer.line_repeat <= most_repeats && transfer.surface_repeat <= most_repeats,
                    fmt::format("{} lines of {} surfaces: no more than {} of each",
                                transfer.line_repeat, transfer.surface_repeat, most_repeats));
    context.require(transfer.line_size % 32 == 0,
                    fmt::format("line size {} is not a multiple of 32", transfer.line_size));
    const auto strides_fit = [&](std::uint32_t line, std::uint32_t surface) {
        return line >= transfer.line_size && surface >= std::uint64_t{line} * transfer.line_repeat;
    };
    context.require(strides_fit(transfer.source_line, transfer.source_surface) &&
                        strides_fit(transfer.destination_line, transfer.destination_surface),
                    "strides are smaller than the lines or surfaces that they separate");
}

}  // namespace

void BdmaOperation::write(const OperationContext& context) const {
    RegisterScript& script = context.script;
    context.require(context.npu.bdma.present, "this NPU has no BDMA");
    context.require(
        surfaces.count <= most_bdma_transfers,
        fmt::format("{} transfers: no more than {}", surfaces.count, most_bdma_transfers));
    context.require(surfaces.source_type <= 1 && surfaces.destination_type <= 1,
                    "a memory type is neither main memory (0) nor SRAM (1)");
    for (std::size_t i = 0; i < surfaces.count; ++i) {
        const DlaBdmaTransfer& transfer = surfaces.transfers[i];
        check_transfer(context, transfer);
        const auto extent = [&](std::uint32_t line, std::uint32_t surface) -> std::uint64_t {
            if (transfer.line_repeat == 0 || transfer.surface_repeat == 0) {
                return 0;
            }
            return (transfer.surface_repeat - std::uint64_t{1}) * surface +
                   (transfer.line_repeat - std::uint64_t{1}) * line + transfer.line_size;
        };
        const Address source = context.address(
            transfer.source_address, 0, extent(transfer.source_line, transfer.source_surface),
            fmt::format("source of transfer {}", i));
        const Address destination =
            context.address(transfer.destination_address, 0,
                            extent(transfer.destination_line, transfer.destination_surface),
                            fmt::format("destination of transfer {}", i));
        context.require_type(transfer.source_address, surfaces.source_type == 1,
                             fmt::format("source of transfer {}", i));
        context.require_type(transfer.destination_address, surfaces.destination_type == 1,
                             fmt::format("destination of transfer {}", i));
        script.write_address(bdma_name, "CFG_SRC_ADDR", source);
        script.write_address(bdma_name, "CFG_DST_ADDR", destination);
        script.write(bdma_name, "CFG_LINE", less_one(transfer.line_size / 32));
        script.write(bdma_name, "CFG_CMD",
                     {{"SRC_RAM_TYPE", surfaces.source_type == 0 ? 1U : 0U},
                      {"DST_RAM_TYPE", surfaces.destination_type == 0 ? 1U : 0U}});
        script.write(bdma_name, "CFG_LINE_REPEAT", less_one(transfer.line_repeat));
        script.write(bdma_name, "CFG_SRC_LINE", transfer.source_line);
        script.write(bdma_name, "CFG_DST_LINE", transfer.destination_line);
        script.write(bdma_name, "CFG_SURF_REPEAT", less_one(transfer.surface_repeat));
        script.write(bdma_name, "CFG_SRC_SURF", transfer.source_surface);
        script.write(bdma_name, "CFG_DST_SURF", transfer.destination_surface);
        script.write(bdma_name, "CFG_OP", 1);
    }
}

}  // namespace npuscope
