// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/plan_files.h"

#include <gtest/gtest.h>

#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/program/read_program.h"
#include "tests/sim/compile/nvdla/sample_networks.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

TEST(SaveProgram, IsReadBackAsItWas) {
    const TempFolder folder;
    const Program saved = plan_program(plan_network(sample::mixed_network(), {}));
    OutputFolder out(folder.path());
    save_program(saved, out, {});
    out.commit();
    const Program read = read_program(folder, RegisterNames(nvdla_register_blocks()));
    ASSERT_EQ(read.statements.size(), saved.statements.size());
    EXPECT_EQ(trace_text(read).substr(trace_text(read).find('\n')),
              trace_text(saved).substr(trace_text(saved).find('\n')));
    for (std::size_t i = 0; i < read.statements.size(); ++i) {
        if (const auto* load = std::get_if<LoadMemory>(&saved.statements[i].action)) {
            EXPECT_EQ(std::get<LoadMemory>(read.statements[i].action).image, load->image);
        }
    }
}

TEST(SaveProgram, NamesPutNoStatementsIntoTheProgram) {
    const std::string name = "a\nreg_write(NVDLA_CDMA.D_BANK_0, 1);\n// \"b\"\x1b";
    Program program;
    program.name = name;
    const auto add = [&](Action action) { program.statements.push_back({{}, std::move(action)}); };
    add(BeginLayer{.name = name, .kind = name});
    add(RunNode{.name = name, .op = name});
    const std::string text = trace_text(program);
    const Program read = parse_trace_cfg(text, "a.cfg", RegisterNames(nvdla_register_blocks()), {});
    EXPECT_EQ(read.statements.size(), 1U) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

TEST(SaveProgram, SpellsEveryStatement) {
    Program program;
    program.name = "all";
    const auto add = [&](Action action) { program.statements.push_back({{}, std::move(action)}); };
    add(InitMemory{MemoryPort::Primary, Address(0x80000000), Bytes(64), FillPattern::AFive});
    add(WriteRegister{"NVDLA_CDMA.D_BANK_0", 0x30bc, 0x10002});
    add(PollRegister{"NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0", 0x300c, 0xffffffff, 1});
    add(NotifyOnInterrupt{"SDP_1", "sync_id_4"});
    add(NotifyOnInterrupt{"", "sync_id_5"});
    add(SyncWait{"SDP", "sync_id_4"});
    add(CheckCrc{"sync_id_4", MemoryPort::Primary, Address(0x90000000), Bytes(32), 0x1234});
    add(RunNode{.name = "power",
                .op = "Power",
                .cycles = Cycles(7),
                .reads = {{Address(0x80), Bytes(16)}},
                .writes = {{Address(0x90), Bytes(32)}}});
    EXPECT_EQ(trace_text(program),
              "// all\n"
              "mem_init(pri_mem, 0x80000000, 0x40, AFIVE);\n"
              "reg_write(NVDLA_CDMA.D_BANK_0, 0x10002);\n"
              "poll_reg_equal(NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0, 0x1);\n"
              "intr_notify(SDP_1, sync_id_4);\n"
              "intr_notify(sync_id_5);\n"
              "sync_wait(SDP, sync_id_4);\n"
              "check_crc(sync_id_4, 1, 0x90000000, 0x20, 0x1234);\n"
              "run_node(\"power\", \"Power\", 7, 0, reads, 0x80, 0x10, writes, 0x90, 0x20);\n");
}

}  // namespace
}  // namespace npuscope
