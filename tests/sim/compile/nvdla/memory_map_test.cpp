// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/memory_map.h"

#include <gtest/gtest.h>

#include <random>

namespace npuscope {
namespace {

constexpr Address base(0x80000000);

TEST(MemoryMap, ConstantsComeFirstAndResultsBehindThem) {
    MemoryMap map(base, Bytes(300));
    EXPECT_EQ(map.place_constant(Bytes(100)), base);
    EXPECT_EQ(map.place_constant(Bytes(200)), base + Bytes(256));
    EXPECT_EQ(map.place_result(Bytes(10)).address, base + Bytes(512));
    EXPECT_EQ(map.used(), Bytes(768));
}

TEST(MemoryMap, BytesGivenBackNameTheirReaders) {
    MemoryMap map(base, Bytes(0));
    const ArenaPlace first = map.place_result(Bytes(1024));
    const ArenaPlace second = map.place_result(Bytes(1024));
    map.give_back(first, {3, 1});
    const ArenaPlace half = map.place_result(Bytes(512));
    EXPECT_EQ(half.address, first.address);
    EXPECT_EQ(half.readers, (std::vector<std::size_t>{1, 3}));
    map.give_back(second, {5});
    const ArenaPlace joined = map.place_result(Bytes(1500));
    EXPECT_EQ(joined.address, first.address + Bytes(512));
    EXPECT_EQ(joined.readers, (std::vector<std::size_t>{1, 3, 5}));
    EXPECT_EQ(map.used(), Bytes(2048));
}

TEST(MemoryMap, TheLastFreePlaceGrowsInsteadOfBeingLeftBehind) {
    MemoryMap map(base, Bytes(0));
    const ArenaPlace first = map.place_result(Bytes(256));
    map.give_back(first, {0});
    EXPECT_EQ(map.place_result(Bytes(1024)).address, base);
    EXPECT_EQ(map.used(), Bytes(1024));
}

TEST(MemoryMap, PlacesInUseNeverOverlap) {
    std::mt19937 random(7);
    MemoryMap map(base, Bytes(0));
    std::vector<ArenaPlace> used;
    for (int round = 0; round < 3000; ++round) {
        if (!used.empty() && random() % 2 == 0) {
            const std::size_t which = random() % used.size();
            map.give_back(used[which], {static_cast<std::size_t>(round)});
            used.erase(used.begin() + static_cast<std::ptrdiff_t>(which));
            continue;
        }
        const ArenaPlace place = map.place_result(Bytes(1 + random() % 5000));
        for (const ArenaPlace& other : used) {
            ASSERT_TRUE(place.address + place.bytes <= other.address ||
                        other.address + other.bytes <= place.address);
        }
        used.push_back(place);
    }
}

}  // namespace
}  // namespace npuscope
