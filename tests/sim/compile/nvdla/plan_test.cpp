// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/plan.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

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
}  // namespace npuscope
