// SPDX-License-Identifier: Apache-2.0
// source: NVDLA sw, kmd/firmware/conv.c
#include <fmt/format.h>

#include "models/layout/pixel_format.h"
#include "sim/loadable/firmware_registers.h"

namespace npuscope {
namespace {

bool is_feature(const DlaConv& conv) { return conv.data_format == loadable_feature; }
std::uint32_t bit(std::uint8_t flag) { return flag; }

/// Bytes of one pixel of a format in its first plane.
std::uint64_t pixel_bytes(const OperationContext& context, std::uint8_t format) {
    const PixelFormat* row = find_pixel_format(std::uint32_t{format});
    context.require(row != nullptr, fmt::format("data_format {} is not a pixel format", format));
    return row->pixel_bytes(0).value;
}

Address input_address(const OperationContext& context, const ConvDlaOperation& conv) {
    const DlaCube& source = conv.surfaces.source;
    if (is_feature(conv.operation)) {
        const Address address = feature_address(
            context, source, element_bytes(conv.operation.input_precision), "source");
        if (conv.operation.batch > 1) {
            context.address(source.address,
                            source.offset + (conv.operation.batch - std::uint64_t{1}) *
                                                conv.operation.batch_stride,
                            1, "source of the last batch");
        }
        return address;
    }
    const std::uint64_t pixel = pixel_bytes(context, conv.operation.data_format);
    const std::uint64_t lines =
        source.height == 0 ? 0 : (source.height - std::uint64_t{1}) * source.line_stride;
    return bytes_address(context, source, lines + source.width * pixel, "source");
}

struct WeightAddresses {
    Address weight;
    Address wmb;
    Address wgs;
};

WeightAddresses weight_addresses(const OperationContext& context, const ConvDlaOperation& conv) {
    WeightAddresses addresses;
    const auto find = [&](const DlaCube& cube, const char* what) {
        return bytes_address(context, cube, cube.size, what);
    };
    if (conv.operation.weight_format == 1) {
        context.require(context.npu.cdma.weight_compression,
                        "weights are compressed, which this NPU does not read");
        addresses.wmb = find(conv.surfaces.wmb, "weight mask (WMB)");
        addresses.wgs = find(conv.surfaces.wgs, "sizes of weight groups (WGS)");
    }
    if (conv.surfaces.weight.address != -1) {
        addresses.weight = find(conv.surfaces.weight, "weights");
    }
    return addresses;
}

void check(const OperationContext& context, const DlaConv& conv) {
    precision_code(context, conv.input_precision, "in_precision");
    precision_code(context, conv.output_precision, "out_precision");
    context.require(conv.mode <= 1,
                    fmt::format("conv_mode is {}: direct is 0, Winograd 1", conv.mode));
    context.require(
        conv.weight_format <= 1,
        fmt::format("weight_format is {}: plain is 0, compressed 1", conv.weight_format));
    context.require(
        conv.data_format <= loadable_feature,
        fmt::format("data_format {} is neither a pixel format nor feature (36)", conv.data_format));
    context.require(conv.pixel_mapping == 0,
                    fmt::format("pixel_mapping is {}: pitch linear is 0", conv.pixel_mapping));
    context.require(conv.mean_format <= 1,
                    fmt::format("mean_format is {}: off is 0, on 1", conv.mean_format));
    context.require(conv.output_convertor.scale == 1 && conv.output_convertor.offset == 0,
                    fmt::format("out_cvt has scale {} and offset {}: the accumulator takes 1 and 0",
                                conv.output_convertor.scale, conv.output_convertor.offset));
}

/// The group of all five blocks must be idle.
void await_idle(const OperationContext& context) {
    const std::uint32_t status = context.group == 0 ? 0x3 : 0x30000;  // STATUS_0, STATUS_1
    for (const std::string_view block : conv_block_names) {
        context.script.poll(block, "S_STATUS", status, 0);
    }
}

void write_cacc(const OperationContext& context, const ConvDlaOperation& conv) {
    RegisterScript& script = context.script;
    const DlaCube& output = conv.surfaces.destination;
    script.write(cacc_name, "D_MISC_CFG",
                 {{"CONV_MODE", conv.operation.mode},
                  {"PROC_PRECISION", static_cast<std::uint32_t>(conv.operation.output_precision)}});
    script.write(
        cacc_name, "D_DATAOUT_SIZE_0",
        {{"DATAOUT_WIDTH", less_one(output.width)}, {"DATAOUT_HEIGHT", less_one(output.height)}});
    script.write(cacc_name, "D_DATAOUT_SIZE_1", {{"DATAOUT_CHANNEL", less_one(output.channel)}});
    // the SDP receives the sums on the fly; an address for them has no effect
    const Address address = output.type <= DlaMemory::Sram && output.address != -1
                                ? context.address(output.address, output.offset, 0, "destination")
                                : Address(0);
    script.write(cacc_name, "D_DATAOUT_ADDR", low_half(address));
    script.write(cacc_name, "D_BATCH_NUMBER", less_one(conv.operation.batch));
    script.write(cacc_name, "D_LINE_STRIDE", output.line_stride);
    script.write(cacc_name, "D_SURF_STRIDE", output.surface_stride);
    const bool packed = output.width == 1 && output.height == 1;
    context.require(!packed || output.line_stride == context.atom(),
                    fmt::format("the destination is one pixel, and its line stride {} is not {}",
                                output.line_stride, context.atom()));
    script.write(cacc_name, "D_DATAOUT_MAP",
                 {{"LINE_PACKED", packed ? 1U : 0U}, {"SURF_PACKED", packed ? 1U : 0U}});
    script.write(cacc_name, "D_CLIP_CFG", conv.operation.output_convertor.truncate);
}

void write_cmac(const OperationContext& context, const DlaConv& conv) {
    for (const std::string_view block : {cmac_a_name, cmac_b_name}) {
        context.script.write(
            block, "D_MISC_CFG",
            {{"CONV_MODE", conv.mode},
             {"PROC_PRECISION", static_cast<std::uint32_t>(conv.output_precision)}});
    }
}

void write_misc(RegisterScript& script, std::string_view block, const DlaConv& conv,
                DlaPrecision input) {
    script.write(block, "D_MISC_CFG",
                 {{"CONV_MODE", conv.mode},
                  {"IN_PRECISION", static_cast<std::uint32_t>(input)},
                  {"PROC_PRECISION", static_cast<std::uint32_t>(conv.output_precision)},
                  {"DATA_REUSE", bit(conv.data_reuse)},
                  {"WEIGHT_REUSE", bit(conv.weight_reuse)},
                  {"SKIP_DATA_RLS", bit(conv.skip_data_release)},
                  {"SKIP_WEIGHT_RLS", bit(conv.skip_weight_release)}});
}

void write_banks(RegisterScript& script, std::string_view block, const DlaConv& conv) {
    script.write(
        block, "D_BANK",
        {{"DATA_BANK", less_one(conv.data_banks)}, {"WEIGHT_BANK", less_one(conv.weight_banks)}});
}

void write_csc_sizes(RegisterScript& script, const ConvDlaOperation& conv) {
    const DlaConv& operation = conv.operation;
    const DlaCube& output = conv.surfaces.destination;
    script.write(csc_name, "D_DATAIN_SIZE_EXT_0",
                 {{"DATAIN_WIDTH_EXT", less_one(operation.input_width_csc)},
                  {"DATAIN_HEIGHT_EXT", less_one(operation.input_height_csc)}});
    script.write(csc_name, "D_DATAIN_SIZE_EXT_1",
                 {{"DATAIN_CHANNEL_EXT", less_one(operation.input_channel_csc)}});
    script.write(csc_name, "D_BATCH_NUMBER", {{"BATCHES", less_one(operation.batch)}});
    script.write(csc_name, "D_POST_Y_EXTENSION", {{"Y_EXTENSION", operation.post_extension}});
    script.write(csc_name, "D_ENTRY_PER_SLICE",
                 {{"ENTRIES", less_one(operation.entries_per_slice)}});
    script.write(csc_name, "D_WEIGHT_FORMAT", {{"WEIGHT_FORMAT", operation.weight_format}});
    script.write(csc_name, "D_WEIGHT_SIZE_EXT_0",
                 {{"WEIGHT_WIDTH_EXT", less_one(operation.kernel_width_csc)},
                  {"WEIGHT_HEIGHT_EXT", less_one(operation.kernel_height_csc)}});
    script.write(csc_name, "D_WEIGHT_SIZE_EXT_1",
                 {{"WEIGHT_CHANNEL_EXT", less_one(operation.kernel_channel_csc)},
                  {"WEIGHT_KERNEL", less_one(output.channel)}});
    script.write(csc_name, "D_WEIGHT_BYTES", conv.surfaces.weight.size);
    script.write(csc_name, "D_WMB_BYTES", conv.surfaces.wmb.size);
    script.write(csc_name, "D_DATAOUT_SIZE_0",
                 {{"DATAOUT_WIDTH", less_one(operation.input_width_cmac)},
                  {"DATAOUT_HEIGHT", less_one(operation.input_height_cmac)}});
    script.write(csc_name, "D_DATAOUT_SIZE_1", {{"DATAOUT_CHANNEL", less_one(output.channel)}});
    script.write(csc_name, "D_ATOMICS",
                 {{"ATOMICS", less_one(std::uint32_t{output.width} * output.height)}});
    script.write(csc_name, "D_RELEASE", {{"RLS_SLICES", less_one(operation.release)}});
}

void write_csc(RegisterScript& script, const ConvDlaOperation& conv) {
    const DlaConv& operation = conv.operation;
    write_misc(script, csc_name, operation, operation.output_precision);
    script.write(csc_name, "D_DATAIN_FORMAT", {{"DATAIN_FORMAT", is_feature(operation) ? 0U : 1U}});
    write_csc_sizes(script, conv);
    const bool direct = operation.mode == 0;  // a transformed kernel has none of these
    script.write(csc_name, "D_CONV_STRIDE_EXT",
                 {{"CONV_X_STRIDE_EXT", direct ? less_one(operation.stride_x) : 0},
                  {"CONV_Y_STRIDE_EXT", direct ? less_one(operation.stride_y) : 0}});
    script.write(csc_name, "D_DILATION_EXT",
                 {{"X_DILATION_EXT", less_one(operation.dilation_x)},
                  {"Y_DILATION_EXT", less_one(operation.dilation_y)}});
    script.write(csc_name, "D_ZERO_PADDING",
                 {{"PAD_LEFT", direct ? std::uint32_t{operation.pad_left} : 0},
                  {"PAD_TOP", direct ? std::uint32_t{operation.pad_top} : 0}});
    script.write(csc_name, "D_ZERO_PADDING_VALUE", static_cast<std::uint16_t>(operation.pad_value));
    write_banks(script, csc_name, operation);
    script.write(csc_name, "D_PRA_CFG", operation.pra_truncate);
}

void write_cdma_input(const OperationContext& context, const ConvDlaOperation& conv,
                      Address input) {
    RegisterScript& script = context.script;
    const DlaConv& operation = conv.operation;
    const DlaCube& source = conv.surfaces.source;
    const bool feature = is_feature(operation);
    script.write(cdma_name, "D_DATAIN_FORMAT",
                 {{"DATAIN_FORMAT", feature ? 0U : 1U},
                  {"PIXEL_FORMAT", feature ? 0U : std::uint32_t{operation.data_format}},
                  {"PIXEL_MAPPING", 0},
                  {"PIXEL_SIGN_OVERRIDE", operation.pixel_override}});
    script.write(
        cdma_name, "D_DATAIN_SIZE_0",
        {{"DATAIN_WIDTH", less_one(source.width)}, {"DATAIN_HEIGHT", less_one(source.height)}});
    script.write(cdma_name, "D_DATAIN_SIZE_1", {{"DATAIN_CHANNEL", less_one(source.channel)}});
    script.write(cdma_name, "D_DATAIN_SIZE_EXT_0",
                 {{"DATAIN_WIDTH_EXT", less_one(operation.input_width_csc)},
                  {"DATAIN_HEIGHT_EXT", less_one(operation.input_height_csc)}});
    script.write(cdma_name, "D_DAIN_RAM_TYPE", {{"DATAIN_RAM_TYPE", ram_type(source)}});
    script.write(cdma_name, "D_DAIN_ADDR_HIGH_0", high_half(input));
    script.write(cdma_name, "D_DAIN_ADDR_LOW_0", low_half(input));
    const Address second(input.value + static_cast<std::uint64_t>(conv.surfaces.offset_u));
    script.write(cdma_name, "D_DAIN_ADDR_HIGH_1", high_half(second));
    script.write(cdma_name, "D_DAIN_ADDR_LOW_1", low_half(second));
    script.write(cdma_name, "D_LINE_STRIDE", source.line_stride);
    script.write(cdma_name, "D_SURF_STRIDE", source.surface_stride);
    script.write(cdma_name, "D_LINE_UV_STRIDE", conv.surfaces.uv_line_stride);
    const std::uint64_t line = source.width * context.atom();
    script.write(cdma_name, "D_DAIN_MAP",
                 {{"LINE_PACKED", source.line_stride == line ? 1U : 0U},
                  {"SURF_PACKED", source.surface_stride == line * source.height ? 1U : 0U}});
    script.write(cdma_name, "D_BATCH_NUMBER", {{"BATCHES", less_one(operation.batch)}});
    script.write(cdma_name, "D_BATCH_STRIDE", operation.batch_stride);
    script.write(cdma_name, "D_ENTRY_PER_SLICE",
                 {{"ENTRIES", less_one(operation.entries_per_slice)}});
    script.write(cdma_name, "D_FETCH_GRAIN", {{"GRAINS", less_one(operation.fetch_grain)}});
}

void write_cdma_weights(RegisterScript& script, const ConvDlaOperation& conv,
                        const WeightAddresses& addresses) {
    const DlaConv& operation = conv.operation;
    const DlaCube& weight = conv.surfaces.weight;
    script.write(cdma_name, "D_WEIGHT_FORMAT", {{"WEIGHT_FORMAT", operation.weight_format}});
    script.write(cdma_name, "D_WEIGHT_SIZE_0",
                 {{"BYTE_PER_KERNEL", less_one(operation.bytes_per_kernel)}});
    script.write(cdma_name, "D_WEIGHT_SIZE_1",
                 {{"WEIGHT_KERNEL", less_one(conv.surfaces.destination.channel)}});
    script.write(cdma_name, "D_WEIGHT_RAM_TYPE", {{"WEIGHT_RAM_TYPE", ram_type(weight)}});
    script.write(cdma_name, "D_WEIGHT_ADDR_HIGH", high_half(addresses.weight));
    script.write(cdma_name, "D_WEIGHT_ADDR_LOW", low_half(addresses.weight));
    script.write(cdma_name, "D_WEIGHT_BYTES", weight.size);
    if (operation.weight_format == 1) {
        script.write(cdma_name, "D_WGS_ADDR_HIGH", high_half(addresses.wgs));
        script.write(cdma_name, "D_WGS_ADDR_LOW", low_half(addresses.wgs));
        script.write(cdma_name, "D_WMB_ADDR_HIGH", high_half(addresses.wmb));
        script.write(cdma_name, "D_WMB_ADDR_LOW", low_half(addresses.wmb));
        script.write(cdma_name, "D_WMB_BYTES", conv.surfaces.wmb.size);
    }
}

void write_cdma_convertor(RegisterScript& script, const DlaConv& conv) {
    const auto half = [](std::int16_t number) -> std::uint32_t {
        return static_cast<std::uint16_t>(number);
    };
    script.write(cdma_name, "D_MEAN_FORMAT", {{"MEAN_FORMAT", conv.mean_format}});
    if (conv.mean_format == 1) {
        script.write(cdma_name, "D_MEAN_GLOBAL_0",
                     {{"MEAN_RY", half(conv.mean_ry)}, {"MEAN_GU", half(conv.mean_gu)}});
        script.write(cdma_name, "D_MEAN_GLOBAL_1",
                     {{"MEAN_BV", half(conv.mean_bv)}, {"MEAN_AX", half(conv.mean_ax)}});
    }
    if (conv.input_convertor.enable == 0) {
        script.write(cdma_name, "D_CVT_CFG", {{"CVT_EN", 0}});
        return;
    }
    script.write(cdma_name, "D_CVT_CFG",
                 {{"CVT_EN", 1}, {"CVT_TRUNCATE", conv.input_convertor.truncate}});
    script.write(cdma_name, "D_CVT_OFFSET",
                 static_cast<std::uint32_t>(conv.input_convertor.offset));
    script.write(cdma_name, "D_CVT_SCALE",
                 static_cast<std::uint32_t>(std::int32_t{conv.input_convertor.scale}));
}

}  // namespace

void ConvDlaOperation::write(const OperationContext& context) const {
    RegisterScript& script = context.script;
    check(context, operation);
    const WeightAddresses weights = weight_addresses(context, *this);
    const Address input = input_address(context, *this);
    await_idle(context);
    write_cacc(context, *this);
    write_cmac(context, operation);
    write_csc(script, *this);
    write_misc(script, cdma_name, operation, operation.input_precision);
    write_cdma_input(context, *this, input);
    write_cdma_weights(script, *this, weights);
    write_cdma_convertor(script, operation);
    script.write(cdma_name, "D_CONV_STRIDE",
                 {{"CONV_X_STRIDE", less_one(operation.stride_x)},
                  {"CONV_Y_STRIDE", less_one(operation.stride_y)}});
    script.write(cdma_name, "D_ZERO_PADDING",
                 {{"PAD_LEFT", operation.pad_left},
                  {"PAD_RIGHT", operation.pad_right},
                  {"PAD_TOP", operation.pad_top},
                  {"PAD_BOTTOM", operation.pad_bottom}});
    script.write(cdma_name, "D_ZERO_PADDING_VALUE",
                 static_cast<std::uint16_t>(operation.pad_value));
    write_banks(script, cdma_name, operation);
}

}  // namespace npuscope
