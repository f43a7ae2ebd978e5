// SPDX-License-Identifier: Apache-2.0
// What a whole run does with programs that are right, and with each way of being wrong. The program
// is a copy of a cube by SDP: 2 x 2 pixels of 8 channels, passed through unchanged.
#include "sim/run/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/program/read_program.h"

namespace npuscope {
namespace {

const std::string copy_program = R"(
mem_init(pri_mem, 0x80000000, 0x40, ALL_ZERO);
mem_load(pri_mem, 0x80000000, "input.dat");
mem_init(pri_mem, 0x90000000, 0x40, ALL_ZERO);
reg_write(NVDLA_SDP.S_POINTER_0, 0x0);
reg_write(NVDLA_SDP.D_DATA_CUBE_WIDTH_0, 0x1);
reg_write(NVDLA_SDP.D_DATA_CUBE_HEIGHT_0, 0x1);
reg_write(NVDLA_SDP.D_DATA_CUBE_CHANNEL_0, 0x7);
reg_write(NVDLA_SDP.D_DST_BASE_ADDR_LOW_0, 0x90000000);
reg_write(NVDLA_SDP.D_DST_LINE_STRIDE_0, 0x10);
reg_write(NVDLA_SDP.D_DST_SURFACE_STRIDE_0, 0x20);
reg_write(NVDLA_SDP.D_DP_BS_CFG_0, 0x1);
reg_write(NVDLA_SDP.D_DP_BN_CFG_0, 0x1);
reg_write(NVDLA_SDP.D_DP_EW_CFG_0, 0x1);
reg_write(NVDLA_SDP.D_FEATURE_MODE_CFG_0, 0x0);
reg_write(NVDLA_SDP.D_DST_DMA_CFG_0, 0x1);
reg_write(NVDLA_SDP.D_CVT_SCALE_0, 0x1);
reg_write(NVDLA_SDP_RDMA.S_POINTER_0, 0x0);
reg_write(NVDLA_SDP_RDMA.D_DATA_CUBE_WIDTH_0, 0x1);
reg_write(NVDLA_SDP_RDMA.D_DATA_CUBE_HEIGHT_0, 0x1);
reg_write(NVDLA_SDP_RDMA.D_DATA_CUBE_CHANNEL_0, 0x7);
reg_write(NVDLA_SDP_RDMA.D_SRC_BASE_ADDR_LOW_0, 0x80000000);
reg_write(NVDLA_SDP_RDMA.D_SRC_LINE_STRIDE_0, 0x10);
reg_write(NVDLA_SDP_RDMA.D_SRC_SURFACE_STRIDE_0, 0x20);
reg_write(NVDLA_SDP_RDMA.D_BRDMA_CFG_0, 0x1);
reg_write(NVDLA_SDP_RDMA.D_NRDMA_CFG_0, 0x1);
reg_write(NVDLA_SDP_RDMA.D_ERDMA_CFG_0, 0x1);
reg_write(NVDLA_SDP_RDMA.D_FEATURE_MODE_CFG_0, 0x0);
reg_write(NVDLA_SDP_RDMA.D_SRC_DMA_CFG_0, 0x1);
reg_write(NVDLA_SDP_RDMA.D_OP_ENABLE_0, 0x1);
reg_write(NVDLA_SDP.D_OP_ENABLE_0, 0x1);
intr_notify(SDP_0, done);
check_crc(done, pri_mem, 0x90000000, 0x20, 0x91267e8a);
)";

/// The bytes 0, 1, 2 ... 31; CRC-32 0x91267e8a.
MemoryImage counting_image(const std::string& /*file*/, const Place& /*place*/) {
    std::string text;
    for (int i = 0; i < 32; ++i) {
        text += "0x" + std::string(1, "0123456789abcdef"[i / 16]) +
                std::string(1, "0123456789abcdef"[i % 16]) + ' ';
    }
    return parse_memory_text("{offset:0x0, size:32, payload:" + text + "}", "input.dat");
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), with);
}

Result run(const std::string& text, const SystemConfig& system = nvdla_system(),
           const RunOptions& options = {}) {
    const Program program =
        parse_trace_cfg(text, "copy.cfg", RegisterNames(nvdla_register_blocks()), counting_image);
    return run_program(program, system, options);
}

std::string message_of(const std::string& text) {
    try {
        run(text);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

TEST(Session, copies_a_cube_and_counts_what_it_moved) {
    const Result result = run(copy_program);
    EXPECT_EQ(result.status(), RunStatus::Pass);
    ASSERT_EQ(result.checks.size(), 1U);
    EXPECT_EQ(result.checks.front().actual, "0x91267e8a");
    EXPECT_EQ(result.total_traffic().read_beats, 4U);
    EXPECT_EQ(result.total_traffic().write_bytes, Bytes(32));
    ASSERT_EQ(result.operations.size(), 1U);
    EXPECT_EQ(result.operations.front().unit, "sdp");
    EXPECT_GT(result.cycles, Cycles(100));  // two latencies of 50
}

TEST(Session, gives_the_same_result_again_in_one_process) {
    const Result first = run(copy_program);
    const Result second = run(copy_program);
    EXPECT_EQ(first.cycles, second.cycles);
    EXPECT_EQ(first.simulated_cycles, second.simulated_cycles);
}

TEST(Session, costs_two_latencies_of_memory) {
    SystemConfig slow = nvdla_system();
    slow.memory.read_latency = Cycles(150);
    EXPECT_EQ(run(copy_program, slow).cycles - run(copy_program).cycles, Cycles(200));
}

TEST(Session, fails_when_the_crc_differs_and_names_both) {
    const Result result = run(replaced(copy_program, "0x91267e8a", "0x91267e8b"));
    EXPECT_EQ(result.status(), RunStatus::Fail);
    EXPECT_EQ(result.checks.front().expected, "0x91267e8b");
    EXPECT_EQ(result.checks.front().actual, "0x91267e8a");
    EXPECT_EQ(result.checks.front().place.line, 33U);
}

/// The finding of a rule; an empty one where there is none.
Diagnostic finding_of(const Result& result, const std::string& id) {
    const auto found = std::ranges::find(result.findings, id, &Diagnostic::id);
    return found == result.findings.end() ? Diagnostic{} : *found;
}

TEST(Session, finds_a_read_of_bytes_that_nobody_wrote) {
    const Result result =
        run(replaced(copy_program, "NVDLA_SDP_RDMA.D_SRC_BASE_ADDR_LOW_0, 0x80000000",
                     "NVDLA_SDP_RDMA.D_SRC_BASE_ADDR_LOW_0, 0x80000030"));
    EXPECT_EQ(result.status(), RunStatus::Fail);
    const Diagnostic found = finding_of(result, "uninitialised_read");
    EXPECT_EQ(found.address, Address(0x80000040));
    EXPECT_EQ(found.operation, "sdp 0");
}

TEST(Session, finds_a_write_outside_every_region) {
    const Result result = run(replaced(copy_program, "NVDLA_SDP.D_DST_BASE_ADDR_LOW_0, 0x90000000",
                                       "NVDLA_SDP.D_DST_BASE_ADDR_LOW_0, 0x10000000"));
    EXPECT_EQ(result.status(), RunStatus::Fail);
    ASSERT_FALSE(result.findings.empty());
    EXPECT_EQ(result.findings.front().id, "outside_memory");
}

TEST(Session, finds_a_write_to_registers_in_use) {
    const Result result =
        run(replaced(copy_program, "intr_notify(SDP_0, done);",
                     "reg_write(NVDLA_SDP.D_CVT_SCALE_0, 0x2);\nintr_notify(SDP_0, done);"));
    EXPECT_EQ(result.status(), RunStatus::Fail);
    ASSERT_FALSE(result.findings.empty());
    EXPECT_EQ(result.findings.front().id, "register_in_use");
}

TEST(Session, refuses_a_misaligned_stride_where_the_program_wrote_it) {
    const std::string message = message_of(
        replaced(copy_program, "D_SRC_LINE_STRIDE_0, 0x10", "D_SRC_LINE_STRIDE_0, 0x14"));
    EXPECT_NE(message.find("copy.cfg:23:"), std::string::npos) << message;
    EXPECT_NE(message.find("NVDLA_SDP_RDMA.D_SRC_LINE_STRIDE"), std::string::npos) << message;
    EXPECT_NE(message.find("multiple of 8"), std::string::npos) << message;
}

TEST(Session, refuses_memory_statements_outside_every_region) {
    const std::string message = message_of(
        replaced(copy_program, "mem_init(pri_mem, 0x90000000", "mem_init(pri_mem, 0x1000"));
    EXPECT_NE(message.find("copy.cfg:4:"), std::string::npos) << message;
    EXPECT_NE(message.find("outside every memory region"), std::string::npos) << message;
}

TEST(Session, refuses_an_interrupt_that_does_not_exist) {
    const std::string message =
        message_of(replaced(copy_program, "intr_notify(SDP_0", "intr_notify(SPD_0"));
    EXPECT_NE(message.find("SPD_0"), std::string::npos) << message;
}

std::vector<std::string> errors_of(const Result& result) {
    std::vector<std::string> ids;
    for (const Diagnostic& finding : result.findings) {
        if (finding.severity == Severity::Error) {
            ids.push_back(finding.id);
        }
    }
    return ids;
}

using Ids = std::vector<std::string>;

TEST(Session, fails_when_the_awaited_interrupt_never_comes) {
    const Result result = run(replaced(copy_program, "intr_notify(SDP_0", "intr_notify(PDP_0"));
    EXPECT_EQ(errors_of(result), Ids{"never_ends"});
    ASSERT_EQ(result.checks.size(), 1U);
    EXPECT_FALSE(result.checks.front().reached);
    EXPECT_FALSE(result.checks.front().pass);
}

TEST(Session, fails_when_a_check_is_never_reached) {
    const Result result =
        run(replaced(copy_program, "intr_notify(SDP_0, done)", "intr_notify(SDP_0, other)"));
    EXPECT_EQ(result.status(), RunStatus::Fail);
    EXPECT_EQ(errors_of(result), Ids{"check_not_made"});
    EXPECT_EQ(finding_of(result, "check_not_made").place.line, 33U);
}

TEST(Session, fails_when_an_operation_has_not_ended) {
    const Result result =
        run(replaced(copy_program, "intr_notify(SDP_0, done)", "sync_notify(NVDLA_SDP, done)"));
    EXPECT_EQ(finding_of(result, "unfinished").place.line, 31U);
}

TEST(Session, fails_when_the_awaited_interrupt_is_masked) {
    const Result result =
        run("reg_write(NVDLA_GLB.S_INTR_MASK_0, 0x1);" + copy_program + "sync_wait(HOST, done);\n" +
            "mem_init(pri_mem, 0x90000000, 0x40, ALL_ZERO);");
    EXPECT_EQ(errors_of(result), (Ids{"interrupt_masked", "not_executed"}));
    EXPECT_EQ(result.findings.front().register_name, "NVDLA_GLB.S_INTR_MASK_0");
}

TEST(Session, is_unchecked_where_nothing_is_expected) {
    const std::size_t check = copy_program.find("check_crc");
    const Result result = run(copy_program.substr(0, check));
    EXPECT_EQ(result.status(), RunStatus::Unchecked);
}

TEST(Session, AReadWithoutAnExpectationComparesNothing) {
    const Result result = run(copy_program.substr(0, copy_program.find("check_crc")) +
                              "sync_wait(NVDLA_SDP, done);\n"
                              "reg_read(NVDLA_SDP.D_DATA_CUBE_CHANNEL_0, channels);\n");
    EXPECT_EQ(result.status(), RunStatus::Unchecked);
    ASSERT_EQ(result.checks.size(), 1U);
    EXPECT_TRUE(result.checks[0].skipped);
    EXPECT_EQ(result.checks[0].actual, "0x7");
}

TEST(Session, AReadDmaThatNothingTakesFromIsTold) {
    const Result result =
        run(replaced(copy_program, "SDP_RDMA.D_NRDMA_CFG_0, 0x1", "SDP_RDMA.D_NRDMA_CFG_0, 0x0"));
    ASSERT_EQ(result.findings.size(), 1U);
    EXPECT_EQ(result.findings[0].id, "operand_unused");
    EXPECT_EQ(result.findings[0].severity, Severity::Warning);
}

TEST(Session, ARegisterThatWasNeverWrittenHasThePlaceOfItsEnable) {
    const std::string text =
        replaced(copy_program, "reg_write(NVDLA_SDP_RDMA.D_DATA_CUBE_CHANNEL_0, 0x7);", "");
    try {
        run(text);
        FAIL() << "no error";
    } catch (const ConfigError& error) {
        const std::string before = text.substr(0, text.find("NVDLA_SDP.D_OP_ENABLE"));
        EXPECT_EQ(error.place().line, 1U + std::ranges::count(before, '\n'));
    }
}

TEST(Session, stops_when_an_operation_never_starts) {
    const std::string message =
        message_of(replaced(copy_program, "reg_write(NVDLA_SDP.D_OP_ENABLE_0, 0x1);", ""));
    EXPECT_NE(message.find("deadlock"), std::string::npos) << message;
    EXPECT_NE(message.find("SDP_0"), std::string::npos) << message;
    EXPECT_NE(message.find("NVDLA_SDP.D_OP_ENABLE_0: NVDLA_SDP is not enabled in register "
                           "group 0"),
              std::string::npos)
        << message;
}

TEST(Session, an_operation_that_the_last_statement_starts_is_unfinished) {
    const Result result = run("reg_write(NVDLA_PDP.D_OP_ENABLE_0, 0x1);\n");
    EXPECT_EQ(result.status(), RunStatus::Fail);
    EXPECT_TRUE(std::ranges::any_of(result.findings, [](const Diagnostic& one) {
        return one.severity == Severity::Error && one.place.line == 1;
    }));
}

TEST(Session, names_the_write_of_the_group_that_an_error_is_about) {
    // the next operation's registers, in the other group, are written before the first one starts
    const std::string stride = "reg_write(NVDLA_SDP.D_DST_LINE_STRIDE_0, 0x10);";
    const std::string message = message_of(replaced(
        replaced(copy_program, stride, "reg_write(NVDLA_SDP.D_DST_LINE_STRIDE_0, 0x11);"),
        "reg_write(NVDLA_SDP_RDMA.D_OP_ENABLE_0, 0x1);",
        "reg_write(NVDLA_SDP_RDMA.D_OP_ENABLE_0, 0x1);\nreg_write(NVDLA_SDP.S_POINTER_0, 0x1);\n" +
            stride + "\nreg_write(NVDLA_SDP.S_POINTER_0, 0x0);"));
    EXPECT_EQ(message.find("copy.cfg:10:1: NVDLA_SDP.D_DST_LINE_STRIDE_0 = 0x11"), 0U) << message;
}

TEST(Session, stops_a_poll_that_never_succeeds) {
    const std::string message = message_of(
        replaced(copy_program, "intr_notify(SDP_0, done);",
                 "poll_reg_equal(NVDLA_SDP.D_CVT_SCALE_0, 0x7);\nintr_notify(SDP_0, done);"));
    EXPECT_NE(message.find("NVDLA_SDP.D_CVT_SCALE_0 never read as 0x7"), std::string::npos)
        << message;
}

TEST(Session, stops_at_the_cycle_limit) {
    RunOptions options;
    options.max_cycles = Cycles(90);
    try {
        run(copy_program, nvdla_system(), options);
        FAIL() << "the limit was ignored";
    } catch (const MachineStopped& stopped) {
        const std::string message = stopped.what();
        EXPECT_NE(message.find("cycle limit"), std::string::npos);
        EXPECT_NE(message.find("an operation was still running"), std::string::npos) << message;
    }
}

TEST(Session, ALimitOfCyclesWithinAPollStopsTheMachine) {
    RunOptions options;
    options.max_cycles = Cycles(5000);  // the flush of the buffer takes 8,192
    EXPECT_THROW(
        run("poll_reg_equal(NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0, 0x1);\n", nvdla_system(), options),
        MachineStopped);
}

}  // namespace
}  // namespace npuscope
