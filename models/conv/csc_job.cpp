// SPDX-License-Identifier: Apache-2.0
#include "models/conv/csc_job.h"

#include <fmt/format.h>

#include "models/conv/conv_registers.h"

namespace npuscope {

namespace {

std::uint32_t read_row_group(const RegisterValues& registers) {
    const std::uint32_t code = registers.field("D_POST_Y_EXTENSION", "Y_EXTENSION");
    if (code > 2) {
        refuse(registers, "D_POST_Y_EXTENSION", fmt::format("row group code {} is", code),
               "use 0, 1 or 2 for 1, 2 or 4 rows");
    }
    return 1U << code;
}

}  // namespace

CscJob csc_job(const RegisterValues& registers, const ConvFeatures& features) {
    CscJob job;
    job.mode = read_mode(registers, features);
    job.compressed = read_compressed(registers, features);
    job.batches = read_batches(registers, features);
    read_precision(registers, "IN_PRECISION", features.datapath);
    job.precision = read_precision(registers, "PROC_PRECISION", features.datapath);
    job.reuse = read_reuse(registers);
    job.input = {registers.size("D_DATAIN_SIZE_EXT_1", "DATAIN_CHANNEL_EXT"),
                 registers.size("D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT"),
                 registers.size("D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT")};
    job.kernels = {registers.size("D_WEIGHT_SIZE_EXT_1", "WEIGHT_KERNEL"),
                   registers.size("D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT"),
                   registers.size("D_WEIGHT_SIZE_EXT_0", "WEIGHT_HEIGHT_EXT"),
                   registers.size("D_WEIGHT_SIZE_EXT_0", "WEIGHT_WIDTH_EXT")};
    job.row_group = read_row_group(registers);
    job.entries_per_slice = registers.size("D_ENTRY_PER_SLICE", "ENTRIES");
    job.weight_bytes = Bytes(registers.raw("D_WEIGHT_BYTES"));
    if (job.compressed) {
        job.mask_bytes = Bytes(registers.raw("D_WMB_BYTES"));
    }
    job.output = read_output(registers);
    job.atomics = registers.size("D_ATOMICS", "ATOMICS");
    job.release_slices = registers.size("D_RELEASE", "RLS_SLICES");
    job.stride_y = registers.size("D_CONV_STRIDE_EXT", "CONV_Y_STRIDE_EXT");
    job.stride_x = registers.size("D_CONV_STRIDE_EXT", "CONV_X_STRIDE_EXT");
    if (job.mode == ConvMode::Winograd) {
        job.patch_truncate = registers.field("D_PRA_CFG", "PRA_TRUNCATE");
    }
    if (job.mode != ConvMode::Image) {  // images are not dilated, source: nv_small RTL
        job.dilation_y = registers.size("D_DILATION_EXT", "Y_DILATION_EXT");
        job.dilation_x = registers.size("D_DILATION_EXT", "X_DILATION_EXT");
        job.pad_left = registers.field("D_ZERO_PADDING", "PAD_LEFT");
    }
    job.pad_top = registers.field("D_ZERO_PADDING", "PAD_TOP");
    job.pad_value =
        static_cast<std::uint16_t>(registers.field("D_ZERO_PADDING_VALUE", "PAD_VALUE"));
    job.banks = read_banks(registers);
    return job;
}

}  // namespace npuscope
