// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim/program/read_program.h"
#include "tests/sim/program/program_samples.h"
#include "tests/support/temp_folder.h"

namespace npuscope::trace_txn_test {
namespace {

using sample::message_of;

Program parse(const std::string& text) { return sample::parse_txn(text); }

/// The only action of a program of one statement.
template <class Kind>
Kind only(const std::string& text) {
    const Program program = parse(text);
    EXPECT_EQ(program.statements.size(), 1U) << text;
    return std::get<Kind>(program.statements.at(0).action);
}

std::string complaint(const std::string& text) {
    return message_of([&] { parse(text); });
}

TEST(TraceTxn, RegistersAreNamedFromTheirWordAddress) {
    // S_POINTER is at 0x5004, D_OP_ENABLE at 0x5010
    const auto write = only<WriteRegister>("write_reg 0xffff1401 0x1 #NVDLA_CDMA.S_POINTER_0\n");
    EXPECT_EQ(write.name, "NVDLA_CDMA.S_POINTER_0");
    EXPECT_EQ(write.address, 0x5004U);
    EXPECT_EQ(write.value, 1U);
    const auto read = only<ReadRegister>("read_reg 0xffff1404 0xff 0x12");
    EXPECT_EQ(read.name, "NVDLA_CDMA.D_OP_ENABLE_0");
    EXPECT_EQ(read.mask, 0xffU);
    EXPECT_EQ(read.expected, 0x12U);
    EXPECT_EQ(read.comparison, Comparison::Equal);
    EXPECT_EQ(read.attempts, kTxnReadAttempts);
}

TEST(TraceTxn, ReadsMayCompareAndCountTheirAttempts) {
    const auto most = only<ReadRegister>("read_reg 0xffff1404 0xff <= 0x12 7");
    EXPECT_EQ(most.comparison, Comparison::AtMost);
    EXPECT_EQ(most.attempts, 7U);
    EXPECT_TRUE(most.holds(0xf0012));
    EXPECT_FALSE(most.holds(0x13));
    const auto least = only<ReadRegister>("read_reg 0xffff1404 0xff >= 0x12");
    EXPECT_TRUE(least.holds(0x13));
    EXPECT_FALSE(least.holds(0xf0011));
    const auto equal = only<ReadRegister>("read_reg 0xffff1404 0xff == 0x12 0");
    EXPECT_TRUE(equal.holds(0xf0012));
    EXPECT_FALSE(equal.holds(0x13));
    EXPECT_EQ(equal.attempts, 1U);
}

TEST(TraceTxn, MemoryIsLoadedFromTheFirstBytesOfAFile) {
    // the sample image has bytes 1 and 2 at offset 4
    const auto load = only<LoadMemory>("load_mem 0x80000000 5 in.dat # comment");
    EXPECT_EQ(load.address, Address(0x80000000));
    EXPECT_EQ(load.file, "in.dat");
    EXPECT_EQ(load.image.runs, (std::vector<MemoryImage::Run>{{4, 0, 1}}));
    EXPECT_TRUE(only<LoadMemory>("load_mem 0 4 in.dat").image.runs.empty());
}

TEST(TraceTxn, DumpsAreComparedAtOnce) {
    const auto check = only<CheckImage>("dump_mem 0x80000000 6 out.dat");
    EXPECT_TRUE(check.sync.empty());
    EXPECT_EQ(check.bytes, Bytes(6));
    EXPECT_EQ(check.file, "out.dat");
    EXPECT_EQ(check.image.bytes, (std::vector<std::uint8_t>{1, 2}));
}

TEST(TraceTxn, WordsOfMemoryStandLowestByteFirst) {
    const auto load = only<LoadMemory>("write_mem 0x80000000 0x12345678");
    EXPECT_EQ(load.image.bytes, (std::vector<std::uint8_t>{0x78, 0x56, 0x34, 0x12}));
    EXPECT_EQ(load.image.end(), 4U);
    const auto read = only<ReadMemory>("read_mem 0x80000000 0xffff 0x12");
    EXPECT_EQ(read.address, Address(0x80000000));
    EXPECT_EQ(read.mask, 0xffffU);
    EXPECT_EQ(read.expected, 0x12U);
}

TEST(TraceTxn, StatementsKeepTheirPlaceAndMemoryStartsWithZeros) {
    const Program program = parse("# first\n\nwait\n  wait # again\n");
    ASSERT_EQ(program.statements.size(), 2U);
    EXPECT_TRUE(program.zeroed_memory);
    EXPECT_EQ(to_string(program.statements[1].place), "t.txn:4:3");
    EXPECT_TRUE(std::holds_alternative<WaitForInterrupt>(program.statements[1].action));
}

TEST(TraceTxn, WrongTextIsRefusedWithItsPlace) {
    EXPECT_EQ(complaint("wait\nwrite_rge 0xffff1401 1"),
              "t.txn:2:1: unknown statement 'write_rge' (did you mean 'write_reg'?)");
    EXPECT_EQ(complaint("write_reg 0xffff1402 1"),
              "t.txn:1:11: no register at 0xffff1402 (that is byte address 0x5008; `npuscope list "
              "registers --map nv_full` prints the map)");
    EXPECT_EQ(complaint("write_reg 0x5004 1"),
              "t.txn:1:11: no register at 0x5004 (registers are at 0xffff0000 + byte address / 4)");
    EXPECT_EQ(complaint("write_reg 0xffff1401 0x100000000"),
              "t.txn:1:22: 0x100000000 does not fit 32 bits (a value)");
    EXPECT_EQ(complaint("write_reg 0xffff1401 1 2"),
              "t.txn:1:24: expected the end of the line, found '2'");
    EXPECT_EQ(complaint("load_mem 0x80000000 0 in.dat"),
              "t.txn:1:21: the range is empty (give its size in bytes)");
    EXPECT_EQ(complaint("load_mem 0x80000000 8 in.dat"),
              "t.txn:1:23: 'in.dat' has 0x6 bytes, but the statement needs 0x8 (is the file cut "
              "short? Correct it, or the statement's size)");
    EXPECT_EQ(complaint("load_mem 0xffffffffffffffff 2 in.dat"),
              "t.txn:1:29: 0x2 bytes at 0xffffffffffffffff end beyond the 64-bit address space");
    EXPECT_EQ(complaint("load_mem 0 4 missing.dat"), "t.txn:1:14: cannot read 'missing.dat'");
    EXPECT_EQ(complaint("load_mem 0 4\n"),
              "t.txn:1:13: expected the name of a file, found the end "
              "of the line");
    EXPECT_EQ(complaint("# nothing\n"),
              "t.txn: the program has no statements (give a register program)");
}

TEST(TraceTxn, WithoutImagesFilesAreNotAskedFor) {
    const Program program =
        parse_trace_txn("load_mem 0 8 missing.dat", "t.txn", sample::names(), {});
    EXPECT_TRUE(std::get<LoadMemory>(program.statements.at(0).action).image.runs.empty());
}

TEST(TraceTxn, PlusargsNameTheAttempts) {
    EXPECT_EQ(parse_poll_retries("+a +read_reg_poll_retries=10 +continue_on_fail\n", "p"), 10U);
    EXPECT_EQ(parse_poll_retries("+continue_on_fail\n", "p"), kTxnReadAttempts);
    EXPECT_EQ(message_of([] { parse_poll_retries("+read_reg_poll_retries=x", "p"); }),
              "p:1:24: expected a number (how often a register is read), found 'x'");
}

TEST(TraceTxn, FolderGivesImagesAndAttempts) {
    const TempFolder own;
    const std::filesystem::path folder = own / "trace_txn_folder";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "input.txn") << "load_mem 0x80000000 2 in.dat\n"
                                           "read_reg 0xffff1404 1 1\n";
    std::ofstream(folder / "in.dat") << "0x11 0x22 0x33\n";
    std::ofstream(folder / "plusargs.txt") << "+read_reg_poll_retries=9\n";
    const Program program = read_program(folder / "input.txn", sample::names());
    EXPECT_EQ(program.name, "trace_txn_folder");
    const auto& load = std::get<LoadMemory>(program.statements.at(0).action);
    EXPECT_EQ(load.image.end(), 2U);
    EXPECT_EQ(std::get<ReadRegister>(program.statements.at(1).action).attempts, 9U);
}

}  // namespace
}  // namespace npuscope::trace_txn_test
