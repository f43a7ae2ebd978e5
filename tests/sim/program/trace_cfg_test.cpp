// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim/program/read_program.h"
#include "tests/sim/program/program_samples.h"
#include "tests/support/temp_folder.h"

namespace npuscope::trace_cfg_test {
namespace {

using sample::message_of;
using sample::parse;

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

TEST(TraceCfg, MemoryStatements) {
    const auto init = only<InitMemory>("mem_init(pri_mem, 0x80000000, 0x4000, ALL_ZERO);");
    EXPECT_EQ(init.memory, MemoryPort::Primary);
    EXPECT_EQ(init.address, Address(0x80000000));
    EXPECT_EQ(init.bytes, Bytes(0x4000));
    EXPECT_EQ(init.fill, FillPattern::AllZero);
    const auto load = only<LoadMemory>("mem_load(sec_mem, 4096, \"in/a.dat\");");
    EXPECT_EQ(load.memory, MemoryPort::Secondary);
    EXPECT_EQ(load.address, Address(4096));
    EXPECT_EQ(load.file, "in/a.dat");
    EXPECT_EQ(load.image.bytes, (std::vector<std::uint8_t>{1, 2}));
}

TEST(TraceCfg, RegisterStatements) {
    const auto write = only<WriteRegister>("reg_write(NVDLA_CDMA.D_OP_ENABLE_0, 0x1);");
    EXPECT_EQ(write.name, "NVDLA_CDMA.D_OP_ENABLE_0");
    EXPECT_EQ(write.address, 0x5010U);
    EXPECT_EQ(write.value, 1U);
    const auto poll = only<PollRegister>("poll_reg_equal(NVDLA_CDMA.S_POINTER_0, 3);");
    EXPECT_EQ(poll.address, 0x5004U);
    EXPECT_EQ(poll.mask, 0xffffffffU);
    EXPECT_EQ(poll.expected, 3U);
    EXPECT_EQ(only<ReadRegister>("reg_read_check(NVDLA_CDMA.S_POINTER_0, 3);").expected, 3U);
    EXPECT_EQ(only<ReadRegister>("reg_read_check(NVDLA_CDMA.S_POINTER_0, 3);").mask, 0xffffffffU);
    EXPECT_EQ(only<ReadRegister>("reg_read(NVDLA_CDMA.S_POINTER_0, value);").mask, 0U);
}

TEST(TraceCfg, InterruptAndSyncStatements) {
    const auto notify = only<NotifyOnInterrupt>("intr_notify(SDP_0, sync_id_0);");
    EXPECT_EQ(notify.unit, "SDP_0");
    EXPECT_EQ(notify.sync, "sync_id_0");
    const auto any = only<NotifyOnInterrupt>("intr_notify(sync_id_0);");
    EXPECT_EQ(any.unit, "");
    EXPECT_EQ(any.sync, "sync_id_0");
    EXPECT_EQ(only<SyncWait>("sync_wait(NVDLA_CSC, s1);").unit, "NVDLA_CSC");
    EXPECT_EQ(only<SyncNotify>("sync_notify(NVDLA_CSC, s1);").sync, "s1");
}

TEST(TraceCfg, CheckStatements) {
    const auto crc = only<CheckCrc>("check_crc(sync_id_0, 1, 0x90000000, 0x1500, 0x8C467827);");
    EXPECT_EQ(crc.sync, "sync_id_0");
    EXPECT_EQ(crc.memory, MemoryPort::Primary);
    EXPECT_EQ(crc.address, Address(0x90000000));
    EXPECT_EQ(crc.bytes, Bytes(0x1500));
    EXPECT_EQ(crc.crc, 0x8c467827U);
    const auto golden = only<CheckImage>("check_file(s, pri_mem, 0x10, 6, \"gold.dat\");");
    EXPECT_EQ(golden.bytes, Bytes(6));
    EXPECT_EQ(golden.file, "gold.dat");
    EXPECT_EQ(golden.image.runs.at(0).offset, 4U);
    EXPECT_EQ(only<CheckNothing>("check_nothing(s);").sync, "s");
}

TEST(TraceCfg, WhiteSpaceAndCommentsDoNotMatterAndPlacesAreKept) {
    const Program program = parse(
        "// a comment\r\n"
        "\treg_write ( NVDLA_CDMA.S_POINTER_0 ,0x0 ) ;// behind\r\n"
        "\n"
        "#hash\n"
        "check_nothing(a);check_nothing(b);");
    ASSERT_EQ(program.statements.size(), 3U);
    EXPECT_EQ(program.name, "t");
    EXPECT_EQ(program.statements[0].place, (Place{"t.cfg", 2, 2}));
    EXPECT_EQ(program.statements[1].place, (Place{"t.cfg", 5, 1}));
    EXPECT_EQ(program.statements[2].place, (Place{"t.cfg", 5, 18}));
}

TEST(TraceCfg, EveryMistakeNamesItsPlaceAndWhatWasExpected) {
    const std::pair<const char*, const char*> rows[] = {
        {"reg_write(NVDLA_CDMA.S_POINTER_0, 0x0)\nx",
         "t.cfg:1:39: expected ';', found the end of the line"},
        {"reg_write(NVDLA_CDMA.S_POINTER_0 0x0);", "t.cfg:1:34: expected ',', found '0x0);'"},
        {"reg_write(NVDLA_CDMA.S_POINTER_0, 0x0;", "t.cfg:1:38: expected ')', found ';'"},
        {"reg_write NVDLA", "t.cfg:1:11: expected '(', found 'NVDLA'"},
        {"reg_wirte(NVDLA_CDMA.S_POINTER_0, 0);",
         "t.cfg:1:1: unknown call 'reg_wirte' (did you mean 'reg_write'?)"},
        {"\n;", "t.cfg:2:1: expected a call such as reg_write(...);, found ';'"},
        {"reg_write(NVDLA_CDMA.S_POINTR_0, 0);",
         "t.cfg:1:11: unknown register 'NVDLA_CDMA.S_POINTR_0' "
         "(did you mean 'NVDLA_CDMA.S_POINTER_0'?)"},
        {"reg_write(NVDLA_CDMA.S_POINTER_0, 0x100000000);",
         "t.cfg:1:35: value 0x100000000 does not fit into 32 bits"},
        {"reg_write(NVDLA_CDMA.S_POINTER_0, 010);",
         "t.cfg:1:35: expected a number (a value), found '010);' "
         "(a decimal number does not start with 0)"},
        {"reg_write(NVDLA_CDMA.S_POINTER_0, );",
         "t.cfg:1:35: expected a number (a value), found ');'"},
        {"mem_init(pri_men, 0, 0, ALL_ZERO);",
         "t.cfg:1:10: unknown memory 'pri_men' (use pri_mem (or 1) or sec_mem (or 0))"},
        {"mem_init(1, 0, 8, ALL_ZEROS);",
         "t.cfg:1:19: unknown pattern 'ALL_ZEROS' (did you mean 'ALL_ZERO'?)"},
        {"mem_init(1, 0xffffffffffffffff, 2, ALL_ZERO);",
         "t.cfg:1:33: the region ends beyond the 64-bit address space"},
        {"mem_load(1, 0xfffffffffffffffe, \"a.dat\");",
         "t.cfg:1:1: 'a.dat' loaded at 0xfffffffffffffffe ends beyond the 64-bit address space"},
        {"mem_load(1, 0, a.dat);",
         "t.cfg:1:16: expected the name of a memory image in double quotes, found 'a.dat);'"},
        {"mem_load(1, 0, \"a.dat);",
         "t.cfg:1:16: expected the name of a memory image in double quotes, found '\"a.dat);'"},
        {"mem_load(1, 0, \"missing.dat\");", "t.cfg:1:1: cannot read 'missing.dat'"},
        {"mem_init(1, 0, 0x40000001, ONES);",
         "t.cfg:1:1: mem_init fills 1073741825 bytes with a pattern, but at most 1073741824 are "
         "possible (fill "
         "only what the program reads, or with ALL_ZERO, which takes no memory)"},
        {"mem_init(1, 0, 0, ALL_ZERO);", "t.cfg:1:16: the range is empty (give its size in bytes)"},
        {"check_crc(s, 1, 0, 0, 0);", "t.cfg:1:20: the range is empty (give its size in bytes)"},
        {"// nothing\n", "t.cfg: the program has no statements (give a register program)"},
        {"check_crc(s, 1, 0x90000000",
         "t.cfg:1:27: the file ends where ',' was expected (the file is cut short)"}};
    for (const auto& [text, message] : rows) {
        EXPECT_EQ(complaint(text), message);
    }
}

TEST(TraceCfg, ImagesAreFoundBesideTheProgram) {
    const TempFolder folder;
    std::ofstream(folder / "p.cfg") << "mem_load(1, 0x10, \"a.dat\");\n";
    std::ofstream(folder / "a.dat") << "0x07 0x08\n";
    const Program program = read_program(folder / "p.cfg", sample::names());
    EXPECT_EQ(std::get<LoadMemory>(program.statements.at(0).action).image.bytes,
              (std::vector<std::uint8_t>{7, 8}));
    std::filesystem::remove(folder / "a.dat");
    const std::string cfg = (folder / "p.cfg").string();
    EXPECT_EQ(message_of([&] { read_program(folder / "p.cfg", sample::names()); }),
              cfg + ":1:1: cannot read '" + (folder / "a.dat").string() +
                  "': No such file or directory (put the file there, or correct its name)");
}

TEST(TraceCfg, AnImageToCompareHasAllBytes) {
    const TempFolder folder;
    std::ofstream(folder / "p.cfg") << "check_file(s, 1, 0x10, 3, \"a.dat\");\n";
    std::ofstream(folder / "a.dat") << "0x07 0x08\n";
    EXPECT_EQ(message_of([&] { read_program(folder / "p.cfg", sample::names()); }),
              (folder / "p.cfg").string() +
                  ":1:1: 'a.dat' has 2 bytes, but 3 are to be compared (give the whole image, or "
                  "the number of bytes that it has)");
}

TEST(TraceCfg, JobsHaveDescriptorsAndNodesTimes) {
    const Program program = parse_trace_cfg(
        "launch_job(\"conv 1\", \"PWCONV\", 0x1001801, 7); wait_for_jobs();"
        "run_node(\"soft/max\", \"Softmax\", 1200, 34);"
        "run_node(\"part\", \"\", 0, 0, reads, 0x10, 2, writes, 0x20, 3, writes, 0x30, 4);",
        "t.cfg", sample::names(), {});
    ASSERT_EQ(program.statements.size(), 4U);
    const auto& launch = std::get<LaunchJob>(program.statements[0].action);
    const auto& job = dynamic_cast<const WrittenJob&>(*launch.job);
    EXPECT_EQ(job.name, "conv 1");
    EXPECT_EQ(job.kind, "PWCONV");
    EXPECT_EQ(job.descriptor, (std::vector<std::uint8_t>{1, 0x18, 0, 1, 7, 0, 0, 0}));
    EXPECT_TRUE(std::holds_alternative<WaitForJobs>(program.statements[1].action));
    const auto& node = std::get<RunNode>(program.statements[2].action);
    EXPECT_EQ(node.op, "Softmax");
    EXPECT_EQ(node.cycles, Cycles(1200));
    EXPECT_EQ(node.macs, 34U);
    const auto& part = std::get<RunNode>(program.statements[3].action);
    EXPECT_EQ(part.op, "");
    EXPECT_EQ(part.reads, (std::vector<ByteRun>{{Address(0x10), Bytes(2)}}));
    EXPECT_EQ(part.writes,
              (std::vector<ByteRun>{{Address(0x20), Bytes(3)}, {Address(0x30), Bytes(4)}}));
    EXPECT_TRUE(program.zeroed_memory);
}

}  // namespace
}  // namespace npuscope::trace_cfg_test
