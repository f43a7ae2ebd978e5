// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cacc_registers.h"

#include "models/conv/conv_fields.h"

namespace npuscope {
namespace {

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

std::optional<CaccJob> decode_cacc(const RegisterValues& registers, const ConvFeatures& features,
                                   Diagnostics& findings) {
    RegisterDecoder decoder(registers, findings);
    CaccJob job;
    describe(decoder, job, features);
    return unless_refused(job, findings);
}

}  // namespace npuscope
