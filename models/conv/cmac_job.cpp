// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cmac_job.h"

#include "models/conv/conv_registers.h"

namespace npuscope {

CmacJob cmac_job(const RegisterValues& registers, const ConvFeatures& features) {
    return {read_precision(registers, "PROC_PRECISION", features.datapath),
            read_winograd(registers, features)};
}

}  // namespace npuscope
