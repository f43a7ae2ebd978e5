// SPDX-License-Identifier: Apache-2.0
#include "models/conv/csc_math.h"

#include <gtest/gtest.h>

#include <numeric>

namespace npuscope {
namespace {

TEST(CscMath, DirectKernelsAreTakenAsStored) {
    ConvJob job;
    job.weights = direct_weights({2, 3, 2, 2}, {});
    job.kernels = job.weights.shape;
    Kernels<std::int8_t> stored(job.weights.shape);
    std::iota(stored.values.begin(), stored.values.end(), std::int8_t{0});
    const WeightKernels sequenced = sequenced_kernels(job, stored);
    EXPECT_EQ(std::get<Kernels<std::int8_t>>(sequenced).values, stored.values);
}

TEST(CscMath, ImageKernelsGetTheirColumnsBack) {
    Kernels<std::int8_t> kernels({2, 3, 2, 4});
    std::iota(kernels.values.begin(), kernels.values.end(), std::int8_t{0});
    ConvJob job;
    job.parts.csc.mode = ConvMode::Image;
    job.weights = direct_weights({2, 12, 2, 1}, {});
    job.kernels = kernels.shape;
    const WeightKernels sequenced = sequenced_kernels(job, extend_channels(kernels));
    EXPECT_EQ(std::get<Kernels<std::int8_t>>(sequenced).values, kernels.values);
}

TEST(CscMath, SixteenBitImageKernelsGetTheirColumnsBackToo) {
    Kernels<std::int16_t> kernels({1, 4, 3, 2});
    std::iota(kernels.values.begin(), kernels.values.end(), std::int16_t{-300});
    ConvJob job;
    job.parts.csc.mode = ConvMode::Image;
    job.weights = direct_weights({1, 8, 3, 1}, {}, Bytes(2));
    job.kernels = kernels.shape;
    const WeightKernels sequenced = sequenced_kernels(job, extend_channels(kernels));
    EXPECT_EQ(std::get<Kernels<std::int16_t>>(sequenced).values, kernels.values);
}

TEST(CscMath, UsefulMacsCountEveryTapOfEveryOutput) {
    ConvJob job;
    job.parts.csc.output = {16, 5, 7};
    job.kernels = {16, 3, 3, 2};
    EXPECT_EQ(useful_macs(job), 5U * 7 * 16 * 3 * 3 * 2);
    job.parts.csc.batches = 3;
    EXPECT_EQ(useful_macs(job), 3U * 5 * 7 * 16 * 3 * 3 * 2);
}

TEST(CscMath, AWinogradPatchOfSixteenProductsStandsForFourOutputsOfNineTaps) {
    ConvJob job;
    job.parts.csc.mode = ConvMode::Winograd;
    job.parts.csc.output = {8, 4, 4};
    job.kernels = {8, 32, 4, 4};
    EXPECT_EQ(useful_macs(job), 4U * 4 * 9 * 8 * 32);
    EXPECT_EQ(macs_per_cell(ConvMode::Winograd), 2.25);
    EXPECT_EQ(macs_per_cell(ConvMode::Direct), 1);
}

}  // namespace
}  // namespace npuscope
