// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "models/base/register_rows.h"
#include "models/conv/conv_fields.h"
#include "models/conv/conv_registers.h"

namespace npuscope {
namespace {

// Registers of NVDLA_CDMA: the convolution DMA.
// source: NVDLA register specification, nv_small, NVDLA_CDMA.rdl
constexpr RegisterText cdma_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"S_ARBITER", 0x08, {rw("ARB_WEIGHT", 0, 4, 0xf), rw("ARB_WMB", 16, 4, 3)}},
    {"S_CBUF_FLUSH_STATUS", 0x0c, {ro("FLUSH_DONE", 0, 1)}},
    {"D_OP_ENABLE", 0x10, {rw("OP_EN", 0, 1)}},
    {"D_MISC_CFG",
     0x14,
     {rw("CONV_MODE", 0, 1), rw("IN_PRECISION", 8, 2, 1), rw("PROC_PRECISION", 12, 2, 1),
      rw("DATA_REUSE", 16, 1), rw("WEIGHT_REUSE", 20, 1), rw("SKIP_DATA_RLS", 24, 1),
      rw("SKIP_WEIGHT_RLS", 28, 1)}},
    {"D_DATAIN_FORMAT",
     0x18,
     {rw("DATAIN_FORMAT", 0, 1), rw("PIXEL_FORMAT", 8, 6, 0xc), rw("PIXEL_MAPPING", 16, 1),
      rw("PIXEL_SIGN_OVERRIDE", 20, 1)}},
    {"D_DATAIN_SIZE_0", 0x1c, {rw("DATAIN_WIDTH", 0, 13), rw("DATAIN_HEIGHT", 16, 13)}},
    {"D_DATAIN_SIZE_1", 0x20, {rw("DATAIN_CHANNEL", 0, 13)}},
    {"D_DATAIN_SIZE_EXT_0", 0x24, {rw("DATAIN_WIDTH_EXT", 0, 13), rw("DATAIN_HEIGHT_EXT", 16, 13)}},
    {"D_PIXEL_OFFSET", 0x28, {rw("PIXEL_X_OFFSET", 0, 5), rw("PIXEL_Y_OFFSET", 16, 3)}},
    {"D_DAIN_RAM_TYPE", 0x2c, {rw("DATAIN_RAM_TYPE", 0, 1)}},
    {"D_DAIN_ADDR_HIGH_0", 0x30, {rw("DATAIN_ADDR_HIGH_0", 0, 32)}},
    {"D_DAIN_ADDR_LOW_0", 0x34, {rw("DATAIN_ADDR_LOW_0", 0, 32)}},
    {"D_DAIN_ADDR_HIGH_1", 0x38, {rw("DATAIN_ADDR_HIGH_1", 0, 32)}},
    {"D_DAIN_ADDR_LOW_1", 0x3c, {rw("DATAIN_ADDR_LOW_1", 0, 32)}},
    {"D_LINE_STRIDE", 0x40, {rw("LINE_STRIDE", 0, 32)}},
    {"D_LINE_UV_STRIDE", 0x44, {rw("UV_LINE_STRIDE", 0, 32)}},
    {"D_SURF_STRIDE", 0x48, {rw("SURF_STRIDE", 0, 32)}},
    {"D_DAIN_MAP", 0x4c, {rw("LINE_PACKED", 0, 1), rw("SURF_PACKED", 16, 1)}},
    {"D_RESERVED_X_CFG", 0x50, {rw("RSV_PER_LINE", 0, 10), rw("RSV_PER_UV_LINE", 16, 10)}},
    {"D_RESERVED_Y_CFG", 0x54, {rw("RSV_HEIGHT", 0, 3), rw("RSV_Y_INDEX", 16, 5)}},
    {"D_BATCH_NUMBER", 0x58, {rw("BATCHES", 0, 5)}},
    {"D_BATCH_STRIDE", 0x5c, {rw("BATCH_STRIDE", 0, 32)}},
    {"D_ENTRY_PER_SLICE", 0x60, {rw("ENTRIES", 0, 14)}},
    {"D_FETCH_GRAIN", 0x64, {rw("GRAINS", 0, 12)}},
    {"D_WEIGHT_FORMAT", 0x68, {rw("WEIGHT_FORMAT", 0, 1)}},
    {"D_WEIGHT_SIZE_0", 0x6c, {rw("BYTE_PER_KERNEL", 0, 18)}},
    {"D_WEIGHT_SIZE_1", 0x70, {rw("WEIGHT_KERNEL", 0, 13)}},
    {"D_WEIGHT_RAM_TYPE", 0x74, {rw("WEIGHT_RAM_TYPE", 0, 1)}},
    {"D_WEIGHT_ADDR_HIGH", 0x78, {rw("WEIGHT_ADDR_HIGH", 0, 32)}},
    {"D_WEIGHT_ADDR_LOW", 0x7c, {rw("WEIGHT_ADDR_LOW", 0, 32)}},
    {"D_WEIGHT_BYTES", 0x80, {rw("WEIGHT_BYTES", 0, 32)}},
    {"D_WGS_ADDR_HIGH", 0x84, {rw("WGS_ADDR_HIGH", 0, 32)}},
    {"D_WGS_ADDR_LOW", 0x88, {rw("WGS_ADDR_LOW", 0, 32)}},
    {"D_WMB_ADDR_HIGH", 0x8c, {rw("WMB_ADDR_HIGH", 0, 32)}},
    {"D_WMB_ADDR_LOW", 0x90, {rw("WMB_ADDR_LOW", 0, 32)}},
    {"D_WMB_BYTES", 0x94, {rw("WMB_BYTES", 0, 28)}},
    {"D_MEAN_FORMAT", 0x98, {rw("MEAN_FORMAT", 0, 1)}},
    {"D_MEAN_GLOBAL_0", 0x9c, {rw("MEAN_RY", 0, 16), rw("MEAN_GU", 16, 16)}},
    {"D_MEAN_GLOBAL_1", 0xa0, {rw("MEAN_BV", 0, 16), rw("MEAN_AX", 16, 16)}},
    {"D_CVT_CFG", 0xa4, {rw("CVT_EN", 0, 1), rw("CVT_TRUNCATE", 4, 6)}},
    {"D_CVT_OFFSET", 0xa8, {rw("CVT_OFFSET", 0, 16)}},
    {"D_CVT_SCALE", 0xac, {rw("CVT_SCALE", 0, 16)}},
    {"D_CONV_STRIDE", 0xb0, {rw("CONV_X_STRIDE", 0, 3), rw("CONV_Y_STRIDE", 16, 3)}},
    {"D_ZERO_PADDING",
     0xb4,
     {rw("PAD_LEFT", 0, 5), rw("PAD_RIGHT", 8, 6), rw("PAD_TOP", 16, 5), rw("PAD_BOTTOM", 24, 6)}},
    {"D_ZERO_PADDING_VALUE", 0xb8, {rw("PAD_VALUE", 0, 16)}},
    {"D_BANK", 0xbc, {rw("DATA_BANK", 0, 5), rw("WEIGHT_BANK", 16, 5)}},
    {"D_NAN_FLUSH_TO_ZERO", 0xc0, {rw("NAN_TO_ZERO", 0, 1)}},
    {"D_NAN_INPUT_DATA_NUM", 0xc4, {ro("NAN_DATA_NUM", 0, 32)}},
    {"D_NAN_INPUT_WEIGHT_NUM", 0xc8, {ro("NAN_WEIGHT_NUM", 0, 32)}},
    {"D_INF_INPUT_DATA_NUM", 0xcc, {ro("INF_DATA_NUM", 0, 32)}},
    {"D_INF_INPUT_WEIGHT_NUM", 0xd0, {ro("INF_WEIGHT_NUM", 0, 32)}},
    {"D_PERF_ENABLE", 0xd4, {rw("DMA_EN", 0, 1)}},
    {"D_PERF_DAT_READ_STALL", 0xd8, {ro("DAT_RD_STALL", 0, 32)}},
    {"D_PERF_WT_READ_STALL", 0xdc, {ro("WT_RD_STALL", 0, 32)}},
    {"D_PERF_DAT_READ_LATENCY", 0xe0, {ro("DAT_RD_LATENCY", 0, 32)}},
    {"D_PERF_WT_READ_LATENCY", 0xe4, {ro("WT_RD_LATENCY", 0, 32)}},
    {"D_CYA", 0xe8, {rw("CYA", 0, 32)}},
};
constexpr auto cdma_rows = to_rows(cdma_text);

constexpr FieldName pixel_format_field{"D_DATAIN_FORMAT", "PIXEL_FORMAT"};

// --- the input: types and conversion ------------------------------------------------------------

/// The types that the conversion may convert from and to.
void require_precisions(RegisterDecoder& registers, const CdmaJob& job) {
    const FieldName field{"D_MISC_CFG", "PROC_PRECISION"};
    ConvertedInput input = feature_input(job.in_precision);
    if (job.mode == ConvMode::Image) {
        input = job.in_precision == Precision::Fp16 ? ConvertedInput::FloatImage
                                                    : ConvertedInput::IntegerImage;
    }
    registers.require_valid(precision_cell(ConvertingUnit::Convolution, input, job.precision),
                            field);
    if (job.in_precision != job.precision && !job.conversion.enabled) {
        registers.refuse_as(
            field,
            fmt::format(
                "{} has IN_PRECISION {} and PROC_PRECISION {}, but {} disables the conversion",
                spelled(registers.unit(), field.register_name), precision_name(job.in_precision),
                precision_name(job.precision), spelled(registers.unit(), "D_CVT_CFG")),
            "set CVT_EN");
    }
}

template <class Visitor, class Conversion>
void describe_conversion(Visitor& visit, Conversion& conversion, ConvMode mode) {
    visit.flag("D_CVT_CFG", "CVT_EN", conversion.enabled);
    visit.field("D_CVT_CFG", "CVT_TRUNCATE", conversion.truncate);
    visit.signed_field("D_CVT_OFFSET", "CVT_OFFSET", conversion.offset);
    visit.signed_field("D_CVT_SCALE", "CVT_SCALE", conversion.scale);
    if (mode == ConvMode::Image) {
        visit.flag("D_MEAN_FORMAT", "MEAN_FORMAT", conversion.use_mean);
        visit.signed_field("D_MEAN_GLOBAL_0", "MEAN_RY", conversion.mean[0]);
        visit.signed_field("D_MEAN_GLOBAL_0", "MEAN_GU", conversion.mean[1]);
        visit.signed_field("D_MEAN_GLOBAL_1", "MEAN_BV", conversion.mean[2]);
        visit.signed_field("D_MEAN_GLOBAL_1", "MEAN_AX", conversion.mean[3]);
        visit.flag("D_DATAIN_FORMAT", "PIXEL_SIGN_OVERRIDE", conversion.signed_input);
    }
}

// --- weights ------------------------------------------------------------------------------------

/// The SRAM at the secondary port, or main memory.
template <class Visitor, class Flag>
void describe_ram_type(Visitor& visit, const FieldName& name, Flag& secondary,
                       const ConvFeatures& features) {
    visit.inverse_flag(name.register_name, name.field_name, secondary);
    if constexpr (Visitor::decodes) {
        visit.refuse_unless(!secondary || features.secondary_port, name,
                            "the secondary memory port is not available",
                            "use the primary port (MCIF, 1)");
    }
}

void check_weights(RegisterDecoder& registers, const CdmaJob& job, bool compressed,
                   const ConvFeatures& features) {
    registers.require_surface("D_WEIGHT_SIZE_1", {job.kernels, job.bytes_per_kernel});
    // whole entries without the trailing zeros work as well; source: nv_small RTL
    const std::uint64_t used = (job.bytes_per_kernel * job.kernels).value;
    registers.align("D_WEIGHT_BYTES",
                    {.kind = DataKind::Weights,
                     .part = AlignedPart::Size,
                     .memory_atom = features.datapath.memory_atom,
                     .also = compressed ? 0 : round_up(used, features.cbuf_entry.value)});
}

template <class Visitor, class Job>
void describe_weights(Visitor& visit, Job& job, const ConvFeatures& features) {
    const AlignmentNeed start{DataKind::Weights, AlignedPart::Start, features.datapath.memory_atom};
    const AlignmentNeed size{DataKind::Weights, AlignedPart::Size, features.datapath.memory_atom};
    visit.align("D_WEIGHT_ADDR_LOW", start);
    visit.address("D_WEIGHT_ADDR_HIGH", "D_WEIGHT_ADDR_LOW", job.weight_address);
    visit.size_in_bytes("D_WEIGHT_SIZE_0", "BYTE_PER_KERNEL", job.bytes_per_kernel);
    visit.size("D_WEIGHT_SIZE_1", "WEIGHT_KERNEL", job.kernels);
    visit.bytes("D_WEIGHT_BYTES", job.weight_bytes);
    bool compressed = job.compression.has_value();
    conv::describe_compression(visit, compressed, features);
    if constexpr (Visitor::decodes) {
        check_weights(visit, job, compressed, features);
        if (compressed) {
            job.compression.emplace();
        }
    }
    if (job.compression) {
        visit.align("D_WMB_ADDR_LOW", start);
        visit.align("D_WGS_ADDR_LOW", start);
        visit.align("D_WMB_BYTES", size);
        visit.address("D_WMB_ADDR_HIGH", "D_WMB_ADDR_LOW", job.compression->mask);
        visit.bytes("D_WMB_BYTES", job.compression->mask_bytes);
        visit.address("D_WGS_ADDR_HIGH", "D_WGS_ADDR_LOW", job.compression->sizes);
    }
}

// --- feature data -------------------------------------------------------------------------------

template <class Visitor, class Cube>
void describe_feature_place(Visitor& visit, Cube& cube, Bytes atom) {
    visit.align("D_DAIN_ADDR_LOW_0", {DataKind::Feature, AlignedPart::Start, atom});
    visit.align("D_LINE_STRIDE", {DataKind::Feature, AlignedPart::LineStride, atom});
    visit.align("D_SURF_STRIDE", {DataKind::Feature, AlignedPart::SurfaceStride, atom});
    visit.address("D_DAIN_ADDR_HIGH_0", "D_DAIN_ADDR_LOW_0", cube.base);
    visit.bytes("D_LINE_STRIDE", cube.line_stride);
    visit.bytes("D_SURF_STRIDE", cube.surface_stride);
    if (cube.batch_lines > 0) {
        visit.align("D_BATCH_STRIDE", {DataKind::Feature, AlignedPart::SurfaceStride, atom});
        visit.bytes("D_BATCH_STRIDE", cube.batch_stride);
    }
}

template <class Visitor, class Winograd>
void describe_winograd_input(Visitor& visit, Winograd& winograd) {
    visit.field("D_ZERO_PADDING", "PAD_TOP", winograd.pad_top);
    visit.field("D_ZERO_PADDING", "PAD_BOTTOM", winograd.pad_bottom);
    visit.size("D_CONV_STRIDE", "CONV_Y_STRIDE", winograd.stride_y);
    visit.size("D_CONV_STRIDE", "CONV_X_STRIDE", winograd.stride_x);
    visit.size("D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT", winograd.extended_height);
    visit.size("D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT", winograd.extended_width);
}

template <class Visitor, class Job>
void describe_feature(Visitor& visit, Job& job, const ConvFeatures& features) {
    if constexpr (Visitor::decodes) {
        job.feature.shape = job.input;
        job.feature.atom = features.datapath.memory_atom;
        job.feature.element = Bytes(bytes_of(job.in_precision));
        if (job.batches > 1) {
            job.feature.batch_lines = job.input.height;
            job.feature.shape.height *= job.batches;
        }
    }
    describe_feature_place(visit, job.feature, features.datapath.memory_atom);
    if constexpr (Visitor::decodes) {
        visit.require_surface("D_DATAIN_SIZE_0", {job.feature.lines(), job.feature.line_bytes()});
    }
    visit.flag("D_DAIN_MAP", "LINE_PACKED", job.line_packed);
    visit.flag("D_DAIN_MAP", "SURF_PACKED", job.surface_packed);
    if (job.mode == ConvMode::Winograd) {
        describe_winograd_input(visit, job.winograd);
    }
    if (!visit.unused(job.mode == ConvMode::Winograd || !job.line_packed)) {
        visit.size("D_FETCH_GRAIN", "GRAINS", job.lines_per_fetch);
    }
}

// --- images -------------------------------------------------------------------------------------

/// The precision that a format delivers before any conversion.
Precision format_precision(const PixelFormat& format) {
    if (format.floating) {
        return Precision::Fp16;
    }
    return format.code_bits == 8 ? Precision::Int8 : Precision::Int16;
}

/// What the image's other registers must have for its format.
void check_format(RegisterDecoder& registers, const CdmaJob& job, const ConvFeatures& features) {
    const PixelFormat& format = *job.pixels.format;
    const Precision precision = format_precision(format);
    registers.refuse_unless(features.datapath.supports(precision), pixel_format_field,
                            fmt::format("pixel format {} ({}) is not available", format.name,
                                        format.floating ? "fp16" : "16-bit elements"),
                            "use a format of 8-bit components");
    const FieldName mapping{"D_DATAIN_FORMAT", "PIXEL_MAPPING"};
    registers.refuse_unless(
        registers.values().field(mapping.register_name, mapping.field_name) == 0, mapping,
        "block linear images are not available",
        "store the image line by line and use PIXEL_MAPPING 0 (pitch linear)");
    const std::string selector = spelled(registers.unit(), "D_DATAIN_FORMAT");
    if (job.input.channels != format.channels) {
        registers.refuse_as(
            {"D_DATAIN_SIZE_1", "DATAIN_CHANNEL"},
            fmt::format("{} gives {} channel{}, but {} selects {}, which has {}",
                        spelled(registers.unit(), "D_DATAIN_SIZE_1"), job.input.channels,
                        job.input.channels == 1 ? "" : "s", selector, format.name, format.channels),
            fmt::format("set DATAIN_CHANNEL to {}", format.channels - 1));
    }
    if (job.in_precision != precision) {
        registers.refuse_as(
            {"D_MISC_CFG", "IN_PRECISION"},
            fmt::format("{} has IN_PRECISION {}, but {} selects {}, whose elements are {}",
                        spelled(registers.unit(), "D_MISC_CFG"), precision_name(job.in_precision),
                        selector, format.name, precision_name(precision)),
            fmt::format("set IN_PRECISION to {}", static_cast<unsigned>(precision)));
    }
}

/// Supported by no hardware: line offsets are for other mappings, reserved lines for nothing.
/// source: nv_full RTL, assertions of NV_NVDLA_CDMA_IMG_{ctrl,sg}.v; nothing reads D_RESERVED_*
void refuse_unread_fields(RegisterDecoder& registers) {
    const auto expect_zero = [&](const FieldName& name, const std::string& remedy) {
        registers.refuse_unless(registers.values().field(name.register_name, name.field_name) == 0,
                                name, "this feature is not available", remedy);
    };
    expect_zero({"D_PIXEL_OFFSET", "PIXEL_Y_OFFSET"},
                "write 0, and advance the start address by whole lines");
    for (const std::string_view field : {"RSV_PER_LINE", "RSV_PER_UV_LINE"}) {
        expect_zero({"D_RESERVED_X_CFG", field}, "write 0: the hardware does not implement it");
    }
    for (const std::string_view field : {"RSV_HEIGHT", "RSV_Y_INDEX"}) {
        expect_zero({"D_RESERVED_Y_CFG", field}, "write 0: the hardware does not implement it");
    }
}

void decode_format(RegisterDecoder& registers, CdmaJob& job, const ConvFeatures& features) {
    job.pixels.format = find_pixel_format(
        registers.values().field(pixel_format_field.register_name, pixel_format_field.field_name));
    if (job.pixels.format == nullptr) {
        registers.refuse(pixel_format_field, "this pixel format is not available",
                         "use a code of a pixel format of NVDLA's page \"In-memory data formats\", "
                         "e.g. 0 (T_R8) "
                         "or 12 (T_A8B8G8R8); `npuscope list layouts` describes them");
        return;
    }
    check_format(registers, job, features);
}

template <class Visitor, class Surface>
void describe_pixel_planes(Visitor& visit, Surface& pixels, Bytes atom) {
    const AlignmentNeed start{DataKind::Pixels, AlignedPart::Start, atom};
    const AlignmentNeed stride{DataKind::Pixels, AlignedPart::LineStride, atom};
    visit.align("D_DAIN_ADDR_LOW_0", start);
    visit.align("D_LINE_STRIDE", stride);
    visit.address("D_DAIN_ADDR_HIGH_0", "D_DAIN_ADDR_LOW_0", pixels.base[0]);
    visit.bytes("D_LINE_STRIDE", pixels.line_stride[0]);
    if (pixels.format->planes == 2) {
        visit.align("D_DAIN_ADDR_LOW_1", start);
        visit.align("D_LINE_UV_STRIDE", stride);
        visit.address("D_DAIN_ADDR_HIGH_1", "D_DAIN_ADDR_LOW_1", pixels.base[1]);
        visit.bytes("D_LINE_UV_STRIDE", pixels.line_stride[1]);
    }
}

void decode_pixels(RegisterDecoder& registers, CdmaJob& job, const ConvFeatures& features) {
    refuse_unread_fields(registers);
    decode_format(registers, job, features);
    if (registers.refused()) {
        return;
    }
    PixelSurface& pixels = job.pixels;
    pixels.atom = features.datapath.memory_atom;
    pixels.height = job.input.height;
    pixels.width = job.input.width;
    registers.field("D_PIXEL_OFFSET", "PIXEL_X_OFFSET", pixels.x_offset);
    registers.require_surface("D_DATAIN_SIZE_0",
                              {pixels.height, Bytes(4) * bytes_of(job.precision) * pixels.width});
    describe_pixel_planes(registers, pixels, pixels.atom);
    const std::uint64_t limit = pixels.atom / pixels.format->pixel_bytes(0);
    if (pixels.x_offset >= limit) {
        registers.refuse_as(
            {"D_PIXEL_OFFSET", "PIXEL_X_OFFSET"},
            fmt::format("{}: X offset {} is not below {}, the pixels of one atom",
                        spelled(registers.unit(), "D_PIXEL_OFFSET"), pixels.x_offset, limit),
            "advance the start address by whole atoms instead");
    }
}

// --- the whole job ------------------------------------------------------------------------------

template <class Visitor, class Job>
void describe_input(Visitor& visit, Job& job, const ConvFeatures& features) {
    conv::describe_mode(visit, job.mode, features);
    conv::describe_batches(visit, job.batches, features);
    visit.precision({"D_MISC_CFG", "IN_PRECISION"}, features.datapath, job.in_precision);
    visit.precision({"D_MISC_CFG", "PROC_PRECISION"}, features.datapath, job.precision);
    conv::describe_reuse(visit, job.reuse);
    visit.shape({"D_DATAIN_SIZE_1", "DATAIN_CHANNEL"}, {"D_DATAIN_SIZE_0", "DATAIN_HEIGHT"},
                {"D_DATAIN_SIZE_0", "DATAIN_WIDTH"}, job.input);
    describe_conversion(visit, job.conversion, job.mode);
    if constexpr (Visitor::decodes) {
        require_precisions(visit, job);
    }
    visit.flag("D_NAN_FLUSH_TO_ZERO", "NAN_TO_ZERO", job.flush_nan);
    visit.flag("D_PERF_ENABLE", "DMA_EN", job.count_performance);
    visit.size("D_ENTRY_PER_SLICE", "ENTRIES", job.entries_per_slice);
    conv::describe_banks(visit, job.banks);
    describe_ram_type(visit, {"D_DAIN_RAM_TYPE", "DATAIN_RAM_TYPE"}, job.data_in_secondary,
                      features);
    describe_ram_type(visit, {"D_WEIGHT_RAM_TYPE", "WEIGHT_RAM_TYPE"}, job.weight_in_secondary,
                      features);
}

/// Columns that the DMA itself inserts.
template <class Visitor, class Job>
void describe_padding(Visitor& visit, Job& job) {
    visit.field("D_ZERO_PADDING", "PAD_LEFT", job.pad_left);
    visit.field("D_ZERO_PADDING", "PAD_RIGHT", job.pad_right);
    visit.field("D_ZERO_PADDING_VALUE", "PAD_VALUE", job.pad_value);
}

/// Windows and padding in the DMA's registers although only the sequencer uses them, except in
/// Winograd mode: padding on the right and below as far as windows reach.
void encode_sequencer_view(RegisterEncoder& registers, const CdmaJob& job, const CscJob& csc) {
    const auto padding_after = [](std::uint32_t reached, std::uint32_t before, std::uint32_t size) {
        return reached > before + size ? reached - before - size : 0;
    };
    registers.size("D_CONV_STRIDE", "CONV_X_STRIDE", csc.stride_x);
    registers.size("D_CONV_STRIDE", "CONV_Y_STRIDE", csc.stride_y);
    registers.size("D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT", job.input.width);
    registers.size("D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT", job.input.height);
    registers.field("D_ZERO_PADDING", "PAD_LEFT", csc.pad_left);
    registers.field("D_ZERO_PADDING", "PAD_TOP", csc.pad_top);
    registers.field("D_ZERO_PADDING", "PAD_RIGHT",
                    padding_after(reached_columns(csc), csc.pad_left, csc.input.width));
    registers.field("D_ZERO_PADDING", "PAD_BOTTOM",
                    padding_after(reached_lines(csc), csc.pad_top, csc.input.height));
    registers.field("D_ZERO_PADDING_VALUE", "PAD_VALUE", csc.pad_value);
}

}  // namespace

constinit const RegisterBlock cdma_block{"NVDLA_CDMA", 0x3000, cdma_rows};

const RegisterBlock& wide_cdma_block() {
    constexpr std::array<std::string_view, 3> sizes{"D_CONV_STRIDE", "D_ZERO_PADDING", "D_BANK"};
    static const WideBlock wide(cdma_block, sizes);
    return wide.block();
}

std::optional<CdmaJob> decode_cdma(const RegisterValues& values, const ConvFeatures& features,
                                   Diagnostics& findings) {
    RegisterDecoder registers(values, findings);
    CdmaJob job;
    describe_input(registers, job, features);
    describe_weights(registers, job, features);
    if (job.mode != ConvMode::Direct) {
        describe_padding(registers, job);
    }
    if (job.mode == ConvMode::Image) {
        decode_pixels(registers, job, features);
        registers.size("D_FETCH_GRAIN", "GRAINS", job.lines_per_fetch);
    } else {
        describe_feature(registers, job, features);
    }
    return unless_refused(job, findings);
}

RegisterValues encode_cdma(const CdmaJob& job, const CscJob& csc) {
    RegisterEncoder registers(wide_cdma_block());
    describe_input(registers, job, {});
    describe_weights(registers, job, {});
    if (job.mode != ConvMode::Winograd) {
        encode_sequencer_view(registers, job, csc);
    }
    if (job.mode != ConvMode::Direct) {
        describe_padding(registers, job);
    }
    const bool image = job.mode == ConvMode::Image;
    registers.field(pixel_format_field.register_name, pixel_format_field.field_name,
                    image ? job.pixels.format->code : 0U);
    if (image) {
        registers.field("D_PIXEL_OFFSET", "PIXEL_X_OFFSET", job.pixels.x_offset);
        describe_pixel_planes(registers, job.pixels, job.pixels.atom);
        registers.size("D_FETCH_GRAIN", "GRAINS", job.lines_per_fetch);
    } else {
        describe_feature(registers, job, {});
    }
    return registers.values();
}

}  // namespace npuscope
