// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "sim/loadable/descriptor_bytes.h"

namespace npuscope::descriptors_test {
namespace {

std::vector<std::uint8_t> counted(std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
    return bytes;
}

/// Bytes that stay as they are when they are read and written again; the rest of the entry is 0.
template <class Struct>
std::size_t bytes_kept(std::size_t size) {
    const std::vector<std::uint8_t> before = counted(size);
    const auto after = descriptor_bytes(read_descriptor<Struct>(before, dla_current_version), size);
    std::size_t kept = 0;
    while (kept < size && before[kept] == after[kept]) {
        ++kept;
    }
    EXPECT_TRUE(std::all_of(after.begin() + static_cast<std::ptrdiff_t>(kept), after.end(),
                            [](std::uint8_t byte) { return byte == 0; }));
    return kept;
}

TEST(Descriptors, EveryByteOfAStructIsReadAndWrittenInItsPlace) {
    EXPECT_EQ(bytes_kept<DlaNetwork>(dla_network_bytes), 40U);
    EXPECT_EQ(bytes_kept<DlaCommonOperation>(dla_common_bytes), 36U);
    EXPECT_EQ(bytes_kept<DlaSdp>(dla_operation_bytes), 116U);
    EXPECT_EQ(bytes_kept<DlaConv>(dla_operation_bytes), 92U);
    EXPECT_EQ(bytes_kept<DlaPdp>(dla_operation_bytes), 52U);
    EXPECT_EQ(bytes_kept<DlaCdp>(dla_operation_bytes), 24U);
    EXPECT_EQ(bytes_kept<DlaRubik>(dla_operation_bytes), 4U);
    EXPECT_EQ(bytes_kept<DlaBdmaSurfaces>(dla_surfaces_bytes), 644U);
    EXPECT_EQ(bytes_kept<DlaConvSurfaces>(dla_surfaces_bytes), 5U * 32U + 12U);
    EXPECT_EQ(bytes_kept<DlaSdpSurfaces>(dla_surfaces_bytes), 5U * 32U);
    EXPECT_EQ(bytes_kept<DlaLut>(dla_lut_bytes), 700U);
}

TEST(Descriptors, CubesHaveAnOffsetSinceVersion12) {
    std::vector<std::uint8_t> bytes = counted(dla_surfaces_bytes);
    const auto before = read_descriptor<DlaTwoSurfaces>(bytes, {0, 11, 0});
    const auto since = read_descriptor<DlaTwoSurfaces>(bytes, {0, 12, 0});
    EXPECT_EQ(before.source.offset, 0U);
    EXPECT_EQ(before.source.size, 0x08070605U);
    EXPECT_EQ(since.source.offset, 0x08070605U);
    EXPECT_EQ(since.source.size, 0x0c0b0a09U);
    EXPECT_EQ(before.destination.address, 0x201f);
    EXPECT_EQ(since.destination.address, 0x2423);
}

}  // namespace
}  // namespace npuscope::descriptors_test
