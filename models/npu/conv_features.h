// SPDX-License-Identifier: Apache-2.0
// What convolutions are decoded and checked against on one NPU.
#pragma once

#include "models/conv/conv_job.h"
#include "models/npu/npu_config.h"

namespace npuscope {

inline ConvFeatures conv_features(const NpuConfig& npu) {
    return {.datapath = npu.datapath,
            .cbuf_banks = npu.cbuf.banks,
            .cbuf_entry = npu.cbuf.bank_width,
            .secondary_port = npu.mcif.secondary_port,
            .weight_compression = npu.cdma.weight_compression,
            .winograd = npu.cdma.winograd,
            .max_batch = npu.cdma.max_batch};
}

}  // namespace npuscope
