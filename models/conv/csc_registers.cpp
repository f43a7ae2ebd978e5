// SPDX-License-Identifier: Apache-2.0
#include "models/conv/csc_registers.h"

#include <bit>

#include "models/conv/conv_fields.h"

namespace npuscope {
namespace {

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
    if (job.compressed) {
        visit.bytes("D_WMB_BYTES", job.mask_bytes);
    }
    if (job.mode == ConvMode::Winograd) {
        visit.field("D_PRA_CFG", "PRA_TRUNCATE", job.patch_truncate);
    }
    if (job.mode != ConvMode::Image) {  // images are not dilated, source: nv_small RTL
        visit.size("D_DILATION_EXT", "Y_DILATION_EXT", job.dilation_y);
        visit.size("D_DILATION_EXT", "X_DILATION_EXT", job.dilation_x);
        visit.field("D_ZERO_PADDING", "PAD_LEFT", job.pad_left);
    }
}

template <class Visitor, class Job>
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

}  // namespace

std::optional<CscJob> decode_csc(const RegisterValues& registers, const ConvFeatures& features,
                                 Diagnostics& findings) {
    RegisterDecoder decoder(registers, findings);
    CscJob job;
    describe(decoder, job, features);
    return unless_refused(job, findings);
}

}  // namespace npuscope
