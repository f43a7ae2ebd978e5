// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cmac_registers.h"

#include "models/conv/conv_fields.h"

namespace npuscope {
namespace {

template <class Visitor, class Job>
void describe(Visitor& visit, Job& job, const ConvFeatures& features) {
    visit.precision({"D_MISC_CFG", "PROC_PRECISION"}, features.datapath, job.precision);
    conv::describe_winograd(visit, job.winograd, features);
}

}  // namespace

std::optional<CmacJob> decode_cmac(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings) {
    RegisterDecoder decoder(registers, findings);
    CmacJob job;
    describe(decoder, job, features);
    return unless_refused(job, findings);
}

}  // namespace npuscope
