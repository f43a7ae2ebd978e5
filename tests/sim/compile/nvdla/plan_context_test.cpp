// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/plan_context.h"

#include <gtest/gtest.h>

#include <random>

namespace npuscope::plan_context_test {
namespace {

constexpr Address base(0x80000000);

TEST(PlanMemory, ConstantsComeFirstAndResultsBehindThem) {
    PlanMemory map(base, Bytes(300));
    EXPECT_EQ(map.place_constant(Bytes(100)), base);
    EXPECT_EQ(map.place_constant(Bytes(200)), base + Bytes(256));
    EXPECT_EQ(map.place_result(Bytes(10)).address, base + Bytes(512));
    EXPECT_EQ(map.used(), Bytes(768));
}

TEST(PlanMemory, BytesGivenBackNameTheirReaders) {
    PlanMemory map(base, Bytes(0));
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

TEST(PlanMemory, TheLastFreePlaceGrowsInsteadOfBeingLeftBehind) {
    PlanMemory map(base, Bytes(0));
    const ArenaPlace first = map.place_result(Bytes(256));
    map.give_back(first, {0});
    EXPECT_EQ(map.place_result(Bytes(1024)).address, base);
    EXPECT_EQ(map.used(), Bytes(1024));
}

TEST(PlanMemory, PlacesInUseNeverOverlap) {
    std::mt19937 random(7);
    PlanMemory map(base, Bytes(0));
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

struct Lived {
    const char* name;
    std::uint32_t kilobytes;
    std::size_t first;
    std::size_t last;
    std::uint32_t readers;
};

Plan plan_of(const std::vector<Lived>& results) {
    Plan plan;
    plan.operations.resize(10);
    for (const Lived& result : results) {
        PlannedLayer layer;
        layer.name = result.name;
        layer.stored.cube = packed_cube(Address(0), {8, result.kilobytes, 128}, Bytes(8));
        layer.first_operation = result.first;
        layer.operations = 1;
        layer.last_reader = result.last;
        layer.readers = result.readers;
        plan.layers.push_back(layer);
    }
    return plan;
}

using Names = std::set<std::string>;

TEST(SramChoice, TakesWhatIsReadMostThenTheLargerOnes) {
    const Plan plan = plan_of({{"once", 4, 0, 5, 1}, {"twice", 2, 1, 5, 2}, {"big", 5, 2, 5, 1}});
    EXPECT_EQ(results_for_sram(plan, Bytes(2 * 1024)), Names{"twice"});
    EXPECT_EQ(results_for_sram(plan, Bytes(7 * 1024)), (Names{"twice", "big"}));
    EXPECT_EQ(results_for_sram(plan, Bytes(6 * 1024)), (Names{"twice", "once"}));
    EXPECT_EQ(results_for_sram(plan, Bytes(11 * 1024)), (Names{"twice", "big", "once"}));
}

TEST(SramChoice, TheRoomIsUsedAgainWhenTheLastReaderIsThrough) {
    const Plan plan = plan_of({{"a", 4, 0, 1, 1}, {"b", 4, 2, 3, 1}, {"c", 4, 3, 4, 1}});
    EXPECT_EQ(results_for_sram(plan, Bytes(4 * 1024)), (Names{"a", "b"}));
    EXPECT_EQ(results_for_sram(plan, Bytes(8 * 1024)), (Names{"a", "b", "c"}));
}

TEST(SramChoice, LeavesTheOutputToTheHost) {
    EXPECT_EQ(results_for_sram(plan_of({{"output", 1, 0, 0, 0}}), Bytes(1 << 20)), Names{});
}

}  // namespace
}  // namespace npuscope::plan_context_test
