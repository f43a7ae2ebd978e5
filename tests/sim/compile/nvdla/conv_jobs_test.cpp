// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/conv_jobs.h"

#include <gtest/gtest.h>

#include <cmath>

namespace npuscope {
namespace {

TEST(Rescale, BringsEverySumBackToTheSameSpread) {
    for (const std::uint64_t products : {1U, 9U, 64U, 147U, 4608U, 25088U}) {
        const Rescale rescale = rescale_sum(products);
        const double factor =
            std::ldexp(rescale.convertor.scale, -static_cast<int>(rescale.convertor.shift));
        const double spread = 74.0 * 28.0 * std::sqrt(static_cast<double>(products)) * factor;
        EXPECT_NEAR(spread, 32.0, 0.05) << products;
        EXPECT_GT(rescale.convertor.scale, 1 << 12);
        EXPECT_LT(rescale.convertor.shift, 64U);
    }
}

TEST(Rescale, GivesAResidualAboutItsOwnSize) {
    for (const std::uint64_t products : {1U, 64U, 4608U}) {
        const Rescale rescale = rescale_sum(products);
        const double factor =
            std::ldexp(rescale.convertor.scale, static_cast<int>(rescale.residual_shift) -
                                                    static_cast<int>(rescale.convertor.shift));
        EXPECT_GT(factor, 0.5);
        EXPECT_LT(factor, 1.1);
    }
}

TEST(Rescale, BiasFitsSixteenBits) {
    for (const std::uint64_t products : {1U, 64U, 1000000U}) {
        EXPECT_GT(rescale_sum(products).bias_limit, 0);
        EXPECT_LE(rescale_sum(products).bias_limit, 4096);
    }
}

}  // namespace
}  // namespace npuscope
