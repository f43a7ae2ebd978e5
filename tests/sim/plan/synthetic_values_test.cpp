// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/synthetic_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "models/base/check.h"

namespace npuscope {
namespace {

WeightLayout layout(const KernelShape& shape) { return direct_weights(shape, DatapathConfig{}); }

TEST(SyntheticValues, FollowSeedAndStream) {
    const auto bytes_of = [](RandomStream stream) {
        std::vector<std::uint8_t> bytes(61);
        fill_random(bytes, stream);
        return bytes;
    };
    EXPECT_EQ(bytes_of({1, 2}), bytes_of({1, 2}));
    EXPECT_NE(bytes_of({1, 2}), bytes_of({1, 3}));
    EXPECT_NE(bytes_of({1, 2}), bytes_of({2, 2}));
}

TEST(SyntheticValues, AreSpreadOverAllBytes) {
    std::vector<std::uint8_t> bytes(100'000);
    fill_random(bytes, {});
    EXPECT_EQ(std::set<std::uint8_t>(bytes.begin(), bytes.end()).size(), 256U);
}

TEST(SyntheticValues, WeightsEndInZeros) {
    const WeightLayout weights = layout({5, 3, 3, 1});
    std::vector<std::uint8_t> bytes(weights.stored_bytes().value + 3, 0xee);
    fill_weights(weights, bytes, {});
    EXPECT_TRUE(std::all_of(bytes.begin() + 45, bytes.end(), [](auto byte) { return byte == 0; }));
}

TEST(SyntheticValues, AMaskForcesZerosAtItsKernelsAndChannels) {
    const WeightLayout weights = layout({20, 20, 2, 3});
    std::vector<std::uint8_t> bytes(weights.stored_bytes().value);
    fill_weights(weights, bytes, {},
                 [](std::uint32_t kernel, std::uint32_t channel) { return kernel == channel; });
    const Kernels<std::int8_t> kernels = decode_weights<std::int8_t>(weights, bytes);
    std::size_t used = 0;
    for (std::uint32_t k = 0; k < 20; ++k) {
        for (std::uint32_t c = 0; c < 20; ++c) {
            for (std::uint32_t tap = 0; tap < 6; ++tap) {
                const std::int8_t weight = kernels.at(k, c, tap / 3, tap % 3);
                EXPECT_TRUE(k == c || weight == 0);
                used += weight != 0 ? 1 : 0;
            }
        }
    }
    EXPECT_GT(used, 100U);
}

TEST(SyntheticValues, BiasesStayInTheirLimitAndUnusedLanesAreZero) {
    std::vector<std::uint8_t> bytes(48, 0xee);
    fill_bias({3, 8, 4, 10}, bytes, {}, 100);
    for (std::size_t i = 0; i < 24; ++i) {
        const auto value = static_cast<std::int16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
        EXPECT_LE(std::abs(value), i % 8 < 4 && i < 18 ? 100 : 0) << i;
    }
}

TEST(SyntheticValues, MustHaveRoom) {
    std::vector<std::uint8_t> bytes(10);
    EXPECT_THROW(fill_weights(layout({8, 8, 1, 1}), bytes, {}), InternalError);
    EXPECT_THROW(fill_bias({1, 8, 8, 8}, bytes, {}, 1), InternalError);
}

}  // namespace
}  // namespace npuscope
