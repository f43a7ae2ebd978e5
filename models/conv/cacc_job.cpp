// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cacc_job.h"

#include "models/conv/conv_registers.h"

namespace npuscope {

CaccJob cacc_job(const RegisterValues& registers, const ConvFeatures& features) {
    CaccJob job;
    job.winograd = read_winograd(registers, features);
    job.batches = read_batches(registers, features);
    job.precision = read_precision(registers, "PROC_PRECISION", features.datapath);
    job.output = read_output(registers);
    job.clip_truncate = registers.field("D_CLIP_CFG", "CLIP_TRUNCATE");
    job.line_packed = registers.field("D_DATAOUT_MAP", "LINE_PACKED") != 0;
    job.surface_packed = registers.field("D_DATAOUT_MAP", "SURF_PACKED") != 0;
    return job;
}

}  // namespace npuscope
