// SPDX-License-Identifier: Apache-2.0
#include "models/layout/packed_surface.h"

#include <gtest/gtest.h>

#include "models/base/check.h"

namespace npuscope {
namespace {

TEST(PackedSurface, MapsHaveChannelsFastest) {
    Tensor<std::int32_t> map({2, 1, 2});
    map.values = {1, 2, -1, 255};  // channel 0, then channel 1
    EXPECT_EQ(store_map(map), (std::vector<std::uint8_t>{1, 255, 2, 255}));
    map.values = {1, 2, -1, -128};
    EXPECT_EQ(load_map(store_map(map), map.shape, true), map);
    map.values = {1, 2, 200, 255};
    EXPECT_EQ(load_map(store_map(map), map.shape, false), map);
}

TEST(PackedSurface, NarrowWeightsShareBytesLowBitsFirst) {
    Kernels<std::int8_t> kernels({2, 3, 1, 1});
    kernels.values = {1, -1, -2, 0, 1, -1};  // kernel 0: 1 -1 -2; kernel 1: 0 1 -1
    // order C K: 1 0 -1 1 | -2 -1
    EXPECT_EQ(store_weights(kernels, 2), (std::vector<std::uint8_t>{0b01110001, 0b1110}));
    EXPECT_EQ(store_weights(kernels, 4), (std::vector<std::uint8_t>{0x01, 0x1f, 0xfe}));
    EXPECT_EQ(store_weights(kernels, 8),
              (std::vector<std::uint8_t>{0x01, 0x00, 0xff, 0x01, 0xfe, 0xff}));
}

TEST(PackedSurface, WeightsOfEveryWidthSurvive) {
    for (const unsigned bits : {2U, 4U, 8U}) {
        Kernels<std::int8_t> kernels({3, 5, 2, 3});
        const int limit = 1 << (bits - 1);
        for (std::size_t i = 0; i < kernels.values.size(); ++i) {
            kernels.values[i] =
                static_cast<std::int8_t>(static_cast<int>(i * 37) % (2 * limit) - limit);
        }
        const auto bytes = store_weights(kernels, bits);
        EXPECT_EQ(bytes.size(), packed_bytes(90, bits));
        EXPECT_EQ(load_weights(bytes, kernels.shape, bits).values, kernels.values);
    }
}

TEST(PackedSurface, WeightsBeyondTheirWidthAreOurMistake) {
    Kernels<std::int8_t> kernels({1, 1, 1, 1}, 2);
    EXPECT_THROW(store_weights(kernels, 2), InternalError);
}

}  // namespace
}  // namespace npuscope
