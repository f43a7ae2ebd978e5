// SPDX-License-Identifier: Apache-2.0
#include "models/conv/conv_registers.h"

#include <bit>
#include <concepts>
#include <type_traits>

#include "models/base/register_rows.h"
#include "models/conv/conv_fields.h"

namespace npuscope {
namespace {

/// A part of a job that is read, or one that is filled.
template <class Job, class Part>
concept PartOf = std::same_as<std::remove_const_t<Job>, Part>;

// Registers of NVDLA_CSC: the convolution sequence controller.
// source: NVDLA register specification, nv_small, NVDLA_CSC.rdl
constexpr RegisterText csc_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_MISC_CFG",
     0x0c,
     {rw("CONV_MODE", 0, 1), rw("IN_PRECISION", 8, 2, 1), rw("PROC_PRECISION", 12, 2, 1),
      rw("DATA_REUSE", 16, 1), rw("WEIGHT_REUSE", 20, 1), rw("SKIP_DATA_RLS", 24, 1),
      rw("SKIP_WEIGHT_RLS", 28, 1)}},
    {"D_DATAIN_FORMAT", 0x10, {rw("DATAIN_FORMAT", 0, 1)}},
    {"D_DATAIN_SIZE_EXT_0", 0x14, {rw("DATAIN_WIDTH_EXT", 0, 13), rw("DATAIN_HEIGHT_EXT", 16, 13)}},
    {"D_DATAIN_SIZE_EXT_1", 0x18, {rw("DATAIN_CHANNEL_EXT", 0, 13)}},
    {"D_BATCH_NUMBER", 0x1c, {rw("BATCHES", 0, 5)}},
    {"D_POST_Y_EXTENSION", 0x20, {rw("Y_EXTENSION", 0, 2)}},
    {"D_ENTRY_PER_SLICE", 0x24, {rw("ENTRIES", 0, 14)}},
    {"D_WEIGHT_FORMAT", 0x28, {rw("WEIGHT_FORMAT", 0, 1)}},
    {"D_WEIGHT_SIZE_EXT_0", 0x2c, {rw("WEIGHT_WIDTH_EXT", 0, 5), rw("WEIGHT_HEIGHT_EXT", 16, 5)}},
    {"D_WEIGHT_SIZE_EXT_1", 0x30, {rw("WEIGHT_CHANNEL_EXT", 0, 13), rw("WEIGHT_KERNEL", 16, 13)}},
    {"D_WEIGHT_BYTES", 0x34, {rw("WEIGHT_BYTES", 0, 32)}},
    {"D_WMB_BYTES", 0x38, {rw("WMB_BYTES", 0, 28)}},
    {"D_DATAOUT_SIZE_0", 0x3c, {rw("DATAOUT_WIDTH", 0, 13), rw("DATAOUT_HEIGHT", 16, 13)}},
    {"D_DATAOUT_SIZE_1", 0x40, {rw("DATAOUT_CHANNEL", 0, 13)}},
    {"D_ATOMICS", 0x44, {rw("ATOMICS", 0, 21, 1)}},
    {"D_RELEASE", 0x48, {rw("RLS_SLICES", 0, 12, 1)}},
    {"D_CONV_STRIDE_EXT", 0x4c, {rw("CONV_X_STRIDE_EXT", 0, 3), rw("CONV_Y_STRIDE_EXT", 16, 3)}},
    {"D_DILATION_EXT", 0x50, {rw("X_DILATION_EXT", 0, 5), rw("Y_DILATION_EXT", 16, 5)}},
    {"D_ZERO_PADDING", 0x54, {rw("PAD_LEFT", 0, 5), rw("PAD_TOP", 16, 5)}},
    {"D_ZERO_PADDING_VALUE", 0x58, {rw("PAD_VALUE", 0, 16)}},
    {"D_BANK", 0x5c, {rw("DATA_BANK", 0, 5), rw("WEIGHT_BANK", 16, 5)}},
    {"D_PRA_CFG", 0x60, {rw("PRA_TRUNCATE", 0, 2)}},
    {"D_CYA", 0x64, {rw("CYA", 0, 32)}},
};
constexpr auto csc_rows = to_rows(csc_text);

constexpr FieldName row_group_field{"D_POST_Y_EXTENSION", "Y_EXTENSION"};

/// Channel post-extension: 0, 1 and 2 for 1, 2 and 4 rows at once.
template <class Visitor, class Number>
void describe_row_group(Visitor& visit, Number& row_group) {
    auto code = static_cast<std::uint32_t>(std::countr_zero(row_group));
    visit.field(row_group_field.register_name, row_group_field.field_name, code);
    if constexpr (Visitor::decodes) {
        visit.refuse_unless(code <= 2, row_group_field, "this row group is not available",
                            "use 0, 1 or 2 for 1, 2 or 4 rows");
        row_group = 1U << code;
    }
}

/// What only some modes use.
template <class Visitor, class Job>
void describe_modes(Visitor& visit, Job& job) {
    if (!visit.unused(!job.compressed)) {
        visit.bytes("D_WMB_BYTES", job.mask_bytes);
    }
    if (!visit.unused(job.mode != ConvMode::Winograd)) {
        visit.field("D_PRA_CFG", "PRA_TRUNCATE", job.patch_truncate);
    }
    if (!visit.unused(job.mode == ConvMode::Image)) {  // not dilated; source: nv_small RTL
        visit.size("D_DILATION_EXT", "Y_DILATION_EXT", job.dilation_y);
        visit.size("D_DILATION_EXT", "X_DILATION_EXT", job.dilation_x);
        visit.field("D_ZERO_PADDING", "PAD_LEFT", job.pad_left);
    }
}

template <class Visitor, PartOf<CscJob> Job>
void describe(Visitor& visit, Job& job, const ConvFeatures& features) {
    conv::describe_mode(visit, job.mode, features);
    conv::describe_compression(visit, job.compressed, features);
    conv::describe_batches(visit, job.batches, features);
    Precision input = job.precision;  // the sequencer checks it and uses the other one
    visit.precision({"D_MISC_CFG", "IN_PRECISION"}, features.datapath, input);
    visit.precision({"D_MISC_CFG", "PROC_PRECISION"}, features.datapath, job.precision);
    conv::describe_reuse(visit, job.reuse);
    visit.shape({"D_DATAIN_SIZE_EXT_1", "DATAIN_CHANNEL_EXT"},
                {"D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT"},
                {"D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT"}, job.input);
    visit.size("D_WEIGHT_SIZE_EXT_1", "WEIGHT_KERNEL", job.kernels.kernels);
    visit.size("D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT", job.kernels.channels);
    visit.size("D_WEIGHT_SIZE_EXT_0", "WEIGHT_HEIGHT_EXT", job.kernels.rows);
    visit.size("D_WEIGHT_SIZE_EXT_0", "WEIGHT_WIDTH_EXT", job.kernels.columns);
    describe_row_group(visit, job.row_group);
    visit.size("D_ENTRY_PER_SLICE", "ENTRIES", job.entries_per_slice);
    visit.bytes("D_WEIGHT_BYTES", job.weight_bytes);
    conv::describe_output(visit, job.output);
    visit.size("D_ATOMICS", "ATOMICS", job.atomics);
    visit.size("D_RELEASE", "RLS_SLICES", job.release_slices);
    visit.size("D_CONV_STRIDE_EXT", "CONV_Y_STRIDE_EXT", job.stride_y);
    visit.size("D_CONV_STRIDE_EXT", "CONV_X_STRIDE_EXT", job.stride_x);
    visit.field("D_ZERO_PADDING", "PAD_TOP", job.pad_top);
    visit.field("D_ZERO_PADDING_VALUE", "PAD_VALUE", job.pad_value);
    conv::describe_banks(visit, job.banks);
    describe_modes(visit, job);
}

// Registers of NVDLA_CMAC_A and NVDLA_CMAC_B: both halves of the MAC array.
// source: NVDLA register specification, nv_small, NVDLA_CMAC_A.rdl, NVDLA_CMAC_B.rdl
constexpr RegisterText cmac_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_MISC_CFG", 0x0c, {rw("CONV_MODE", 0, 1), rw("PROC_PRECISION", 12, 2, 1)}},
};
constexpr auto cmac_rows = to_rows(cmac_text);

template <class Visitor, PartOf<CmacJob> Job>
void describe(Visitor& visit, Job& job, const ConvFeatures& features) {
    visit.precision({"D_MISC_CFG", "PROC_PRECISION"}, features.datapath, job.precision);
    conv::describe_winograd(visit, job.winograd, features);
}

// Registers of NVDLA_CACC: the convolution accumulator.
// source: NVDLA register specification, nv_small, NVDLA_CACC.rdl
constexpr RegisterText cacc_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_MISC_CFG", 0x0c, {rw("CONV_MODE", 0, 1), rw("PROC_PRECISION", 12, 2, 1)}},
    {"D_DATAOUT_SIZE_0", 0x10, {rw("DATAOUT_WIDTH", 0, 13), rw("DATAOUT_HEIGHT", 16, 13)}},
    {"D_DATAOUT_SIZE_1", 0x14, {rw("DATAOUT_CHANNEL", 0, 13)}},
    {"D_DATAOUT_ADDR", 0x18, {rw("DATAOUT_ADDR", 0, 32)}},
    {"D_BATCH_NUMBER", 0x1c, {rw("BATCHES", 0, 5)}},
    {"D_LINE_STRIDE", 0x20, {rw("LINE_STRIDE", 0, 24)}},
    {"D_SURF_STRIDE", 0x24, {rw("SURF_STRIDE", 0, 24)}},
    {"D_DATAOUT_MAP", 0x28, {rw("LINE_PACKED", 0, 1), rw("SURF_PACKED", 16, 1)}},
    {"D_CLIP_CFG", 0x2c, {rw("CLIP_TRUNCATE", 0, 5)}},
    {"D_OUT_SATURATION", 0x30, {ro("SAT_COUNT", 0, 32)}},
    {"D_CYA", 0x34, {rw("CYA", 0, 32)}},
};
constexpr auto cacc_rows = to_rows(cacc_text);

template <class Visitor, PartOf<CaccJob> Job>
void describe(Visitor& visit, Job& job, const ConvFeatures& features) {
    conv::describe_winograd(visit, job.winograd, features);
    conv::describe_batches(visit, job.batches, features);
    visit.precision({"D_MISC_CFG", "PROC_PRECISION"}, features.datapath, job.precision);
    conv::describe_output(visit, job.output);
    visit.field("D_CLIP_CFG", "CLIP_TRUNCATE", job.clip_truncate);
    visit.flag("D_DATAOUT_MAP", "LINE_PACKED", job.line_packed);
    visit.flag("D_DATAOUT_MAP", "SURF_PACKED", job.surface_packed);
}

template <class Job>
std::optional<Job> decode(const RegisterValues& registers, const ConvFeatures& features,
                          Diagnostics& findings) {
    RegisterDecoder decoder(registers, findings);
    Job job;
    describe(decoder, job, features);
    return unless_refused(job, findings);
}

template <class Job>
RegisterEncoder encode(const RegisterBlock& block, const Job& job) {
    RegisterEncoder encoder(block);
    describe(encoder, job, {});
    return encoder;
}

}  // namespace

constinit const RegisterBlock csc_block{"NVDLA_CSC", 0x4000, csc_rows};

const RegisterBlock& wide_csc_block() {
    constexpr std::array<std::string_view, 5> sizes{"D_WEIGHT_SIZE_EXT_0", "D_CONV_STRIDE_EXT",
                                                    "D_DILATION_EXT", "D_ZERO_PADDING", "D_BANK"};
    static const WideBlock wide(csc_block, sizes);
    return wide.block();
}

std::optional<CscJob> decode_csc(const RegisterValues& registers, const ConvFeatures& features,
                                 Diagnostics& findings) {
    return decode<CscJob>(registers, features, findings);
}

RegisterValues encode_csc(const CscJob& job) { return encode(wide_csc_block(), job).values(); }

constinit const RegisterBlock cmac_a_block{"NVDLA_CMAC_A", 0x5000, cmac_rows};
constinit const RegisterBlock cmac_b_block{"NVDLA_CMAC_B", 0x6000, cmac_rows};

std::optional<CmacJob> decode_cmac(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings) {
    return decode<CmacJob>(registers, features, findings);
}

RegisterValues encode_cmac(const RegisterBlock& block, const CmacJob& job) {
    return encode(block, job).values();
}

constinit const RegisterBlock cacc_block{"NVDLA_CACC", 0x7000, cacc_rows};

std::optional<CaccJob> decode_cacc(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings) {
    return decode<CaccJob>(registers, features, findings);
}

RegisterValues encode_cacc(const CaccJob& job, const FeatureCube& output) {
    RegisterEncoder encoder = encode(cacc_block, job);
    encoder.bytes("D_DATAOUT_ADDR", Bytes(output.base.value & 0xffffffffU));
    encoder.bytes("D_LINE_STRIDE", output.line_stride);
    encoder.bytes("D_SURF_STRIDE", output.surface_stride);
    return encoder.values();
}

std::optional<ConvParts> decode_conv(const ConvRegisters& registers, const ConvFeatures& features,
                                     Diagnostics& findings) {
    const auto cdma = decode_cdma(registers.cdma, features, findings);
    const auto csc = cdma ? decode_csc(registers.csc, features, findings) : std::nullopt;
    const auto cmac_a = csc ? decode_cmac(registers.cmac_a, features, findings) : std::nullopt;
    const auto cmac_b = cmac_a ? decode_cmac(registers.cmac_b, features, findings) : std::nullopt;
    const auto cacc = cmac_b ? decode_cacc(registers.cacc, features, findings) : std::nullopt;
    if (!cacc) {
        return std::nullopt;
    }
    return ConvParts{.cdma = *cdma, .csc = *csc, .cmac = {*cmac_a, *cmac_b}, .cacc = *cacc};
}

std::vector<RegisterValues> encode_conv(const ConvParts& parts, const FeatureCube& output) {
    return {encode_cacc(parts.cacc, output), encode_cmac(cmac_a_block, parts.cmac[0]),
            encode_cmac(cmac_b_block, parts.cmac[1]), encode_csc(parts.csc),
            encode_cdma(parts.cdma, parts.csc)};
}

}  // namespace npuscope
