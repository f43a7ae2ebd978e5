// SPDX-License-Identifier: Apache-2.0
#include "models/csc/csc_math.h"

#include <gtest/gtest.h>

#include <numeric>

#include "models/data/image_weights.h"

namespace npuscope {
namespace {

TEST(CscMath, DirectKernelsAreTakenAsStored) {
    ConvJob job;
    job.weights = direct_weights({2, 3, 2, 2}, {});
    job.kernels = job.weights.shape;
    Kernels<std::int8_t> stored(job.weights.shape);
    std::iota(stored.values.begin(), stored.values.end(), std::int8_t{0});
    EXPECT_EQ(sequenced_kernels(job, stored).values, stored.values);
}

TEST(CscMath, ImageKernelsGetTheirColumnsBack) {
    Kernels<std::int8_t> kernels({2, 3, 2, 4});
    std::iota(kernels.values.begin(), kernels.values.end(), std::int8_t{0});
    ConvJob job;
    job.parts.csc.mode = ConvMode::Image;
    job.weights = direct_weights({2, 12, 2, 1}, {});
    job.kernels = kernels.shape;
    EXPECT_EQ(sequenced_kernels(job, extend_channels(kernels)).values, kernels.values);
}

TEST(CscMath, UsefulMacsCountEveryTapOfEveryOutput) {
    ConvJob job;
    job.parts.csc.output = {16, 5, 7};
    job.kernels = {16, 3, 3, 2};
    EXPECT_EQ(useful_macs(job), 5U * 7 * 16 * 3 * 3 * 2);
}

}  // namespace
}  // namespace npuscope
