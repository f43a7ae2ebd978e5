// SPDX-License-Identifier: Apache-2.0
#include "sim/program/call_reader.h"

#include <gtest/gtest.h>

#include "tests/sim/program/program_samples.h"

namespace npuscope {
namespace {

const std::string file = "t.cfg";

TEST(CallReader, MemoriesHaveANameAndANumber) {
    const RegisterNames names = sample::names();
    EXPECT_EQ(CallReader("pri_mem", file, names).take_memory(), MemoryPort::Primary);
    EXPECT_EQ(CallReader("1", file, names).take_memory(), MemoryPort::Primary);
    EXPECT_EQ(CallReader(" sec_mem", file, names).take_memory(), MemoryPort::Secondary);
    EXPECT_EQ(CallReader("0", file, names).take_memory(), MemoryPort::Secondary);
}

TEST(CallReader, EveryPatternNameIsKnown) {
    const RegisterNames names = sample::names();
    EXPECT_EQ(CallReader("ALL_ZERO", file, names).take_pattern(), FillPattern::AllZero);
    EXPECT_EQ(CallReader("ONES", file, names).take_pattern(), FillPattern::Ones);
    EXPECT_EQ(CallReader("AFIVE", file, names).take_pattern(), FillPattern::AFive);
    EXPECT_EQ(CallReader("FIVEA", file, names).take_pattern(), FillPattern::FiveA);
    EXPECT_EQ(CallReader("ADDR", file, names).take_pattern(), FillPattern::LowAddress);
}

TEST(CallReader, CallsFollowEachOtherOverCommentsAndLines) {
    const RegisterNames names = sample::names();
    CallReader call("// first\n  a ( ) ; b();", file, names);
    EXPECT_EQ(call.begin_call(), "a");
    EXPECT_EQ(call.place(), (Place{file, 2, 3}));
    call.end_call();
    EXPECT_EQ(call.begin_call(), "b");
    call.end_call();
    EXPECT_EQ(call.begin_call(), std::nullopt);
}

}  // namespace
}  // namespace npuscope
