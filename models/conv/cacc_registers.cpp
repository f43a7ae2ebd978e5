// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cacc_registers.h"

#include "models/base/register_rows.h"
#include "models/conv/conv_fields.h"

namespace npuscope {
namespace {

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

template <class Visitor, class Job>
void describe(Visitor& visit, Job& job, const ConvFeatures& features) {
    conv::describe_winograd(visit, job.winograd, features);
    conv::describe_batches(visit, job.batches, features);
    visit.precision({"D_MISC_CFG", "PROC_PRECISION"}, features.datapath, job.precision);
    conv::describe_output(visit, job.output);
    visit.field("D_CLIP_CFG", "CLIP_TRUNCATE", job.clip_truncate);
    visit.flag("D_DATAOUT_MAP", "LINE_PACKED", job.line_packed);
    visit.flag("D_DATAOUT_MAP", "SURF_PACKED", job.surface_packed);
}

}  // namespace

constinit const RegisterBlock cacc_block{"NVDLA_CACC", 0x7000, cacc_rows};

std::optional<CaccJob> decode_cacc(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings) {
    RegisterDecoder decoder(registers, findings);
    CaccJob job;
    describe(decoder, job, features);
    return unless_refused(job, findings);
}

RegisterValues encode_cacc(const CaccJob& job, const FeatureCube& output) {
    RegisterEncoder encoder(cacc_block);
    describe(encoder, job, {});
    encoder.bytes("D_DATAOUT_ADDR", Bytes(output.base.value & 0xffffffffU));
    encoder.bytes("D_LINE_STRIDE", output.line_stride);
    encoder.bytes("D_SURF_STRIDE", output.surface_stride);
    return encoder.values();
}

}  // namespace npuscope
