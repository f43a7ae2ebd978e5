// SPDX-License-Identifier: Apache-2.0
#include "models/csc/csc_math.h"

#include <utility>

#include "models/base/check.h"
#include "models/data/image_weights.h"

namespace npuscope {

Kernels<std::int8_t> sequenced_kernels(const ConvJob& job, Kernels<std::int8_t> stored) {
    NPU_CHECK(stored.shape == job.weights.shape, "the kernels are not those of the job");
    if (job.mode() == ConvMode::Direct) {
        return stored;
    }
    return restore_columns(stored, job.kernels.channels);
}

std::uint64_t useful_macs(const ConvJob& job) {
    return std::uint64_t{job.output().height} * job.output().width * job.kernels.elements();
}

}  // namespace npuscope
