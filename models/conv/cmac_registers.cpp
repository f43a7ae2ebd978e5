// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cmac_registers.h"

#include "models/base/register_rows.h"
#include "models/conv/conv_fields.h"

namespace npuscope {
namespace {

// Registers of NVDLA_CMAC_A and NVDLA_CMAC_B: both halves of the MAC array.
// source: NVDLA register specification, nv_small, NVDLA_CMAC_A.rdl, NVDLA_CMAC_B.rdl
constexpr RegisterText cmac_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_MISC_CFG", 0x0c, {rw("CONV_MODE", 0, 1), rw("PROC_PRECISION", 12, 2, 1)}},
};
constexpr auto cmac_rows = to_rows(cmac_text);

template <class Visitor, class Job>
void describe(Visitor& visit, Job& job, const ConvFeatures& features) {
    visit.precision({"D_MISC_CFG", "PROC_PRECISION"}, features.datapath, job.precision);
    conv::describe_winograd(visit, job.winograd, features);
}

}  // namespace

constinit const RegisterBlock cmac_a_block{"NVDLA_CMAC_A", 0x5000, cmac_rows};
constinit const RegisterBlock cmac_b_block{"NVDLA_CMAC_B", 0x6000, cmac_rows};

std::optional<CmacJob> decode_cmac(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings) {
    RegisterDecoder decoder(registers, findings);
    CmacJob job;
    describe(decoder, job, features);
    return unless_refused(job, findings);
}

RegisterValues encode_cmac(const RegisterBlock& block, const CmacJob& job) {
    RegisterEncoder encoder(block);
    describe(encoder, job, {});
    return encoder.values();
}

}  // namespace npuscope
