// SPDX-License-Identifier: Apache-2.0
#include "models/conv/csc_math.h"

#include <utility>

#include "models/base/check.h"
#include "models/conv/image_weights.h"

namespace npuscope {

WeightKernels sequenced_kernels(const ConvJob& job, const WeightKernels& stored) {
    return std::visit(
        [&job](const auto& kernels) -> WeightKernels {
            NPU_CHECK(kernels.shape == job.weights.shape, "the kernels are not those of the job");
            return job.mode() == ConvMode::Image ? restore_columns(kernels, job.kernels.channels)
                                                 : kernels;
        },
        stored);
}

std::uint64_t useful_macs(const ConvJob& job) {
    const std::uint64_t outputs =
        std::uint64_t{job.output().height} * job.output().width * job.batches();
    const std::uint64_t products = outputs * job.kernels.elements();
    // a patch of 4 x 4 products makes four outputs
    return job.mode() == ConvMode::Winograd ? products / 4 : products;
}

}  // namespace npuscope
