// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/program/read_program.h"
#include "tests/sim/program/program_samples.h"

namespace npuscope {
namespace {

Program parsed(const std::string& text) {
    return parse_trace_cfg(text, "t.cfg", sample::names(),
                           [](const std::string&, const Place&) { return MemoryImage{}; });
}

InitMemory filled(const std::string& memory, const std::string& pattern) {
    return std::get<InitMemory>(parsed(fmt::format("mem_init({}, 0x0, 0x10, {});", memory, pattern))
                                    .statements.front()
                                    .action);
}

TEST(CallReader, MemoriesHaveANameAndANumber) {
    EXPECT_EQ(filled("pri_mem", "ONES").memory, MemoryPort::Primary);
    EXPECT_EQ(filled("1", "ONES").memory, MemoryPort::Primary);
    EXPECT_EQ(filled(" sec_mem", "ONES").memory, MemoryPort::Secondary);
    EXPECT_EQ(filled("0", "ONES").memory, MemoryPort::Secondary);
}

TEST(CallReader, EveryPatternNameIsKnown) {
    EXPECT_EQ(filled("1", "ALL_ZERO").fill, FillPattern::AllZero);
    EXPECT_EQ(filled("1", "ONES").fill, FillPattern::Ones);
    EXPECT_EQ(filled("1", "AFIVE").fill, FillPattern::AFive);
    EXPECT_EQ(filled("1", "FIVEA").fill, FillPattern::FiveA);
    EXPECT_EQ(filled("1", "ADDR").fill, FillPattern::LowAddress);
}

TEST(CallReader, CallsFollowEachOtherOverCommentsAndLines) {
    const Program program = parsed("// first\n  check_nothing ( a ) ; check_nothing(b);");
    ASSERT_EQ(program.statements.size(), 2U);
    EXPECT_EQ(program.statements[0].place, (Place{"t.cfg", 2, 3}));
    EXPECT_EQ(std::get<CheckNothing>(program.statements[0].action).sync, "a");
    EXPECT_EQ(std::get<CheckNothing>(program.statements[1].action).sync, "b");
}

}  // namespace
}  // namespace npuscope
