// SPDX-License-Identifier: Apache-2.0
// Moves of BDMA and RUBIK beyond any sensible use: large ones proceed portion by portion, nonsense
// is refused at once, and checking reports the same as running.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/check/check_report.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "tests/sim/message_of.h"
#include "tests/support/full_layer_session.h"

namespace npuscope {
namespace {

using Writes = std::vector<std::pair<std::string, std::uint32_t>>;

constexpr std::uint32_t source = 0x80000000;
constexpr std::uint32_t destination = 0xC0000000;

/// Lines of `line` bytes from source to destination, packed at both sides.
Writes copy(std::uint32_t line, std::uint32_t lines) {
    return {{"NVDLA_GLB.S_INTR_MASK_0", 0},        {"NVDLA_BDMA.CFG_SRC_ADDR_LOW_0", source},
            {"NVDLA_BDMA.CFG_SRC_ADDR_HIGH_0", 0}, {"NVDLA_BDMA.CFG_DST_ADDR_LOW_0", destination},
            {"NVDLA_BDMA.CFG_DST_ADDR_HIGH_0", 0}, {"NVDLA_BDMA.CFG_LINE_0", line / 32 - 1},
            {"NVDLA_BDMA.CFG_CMD_0", 3},           {"NVDLA_BDMA.CFG_LINE_REPEAT_0", lines - 1},
            {"NVDLA_BDMA.CFG_SRC_LINE_0", line},   {"NVDLA_BDMA.CFG_DST_LINE_0", line},
            {"NVDLA_BDMA.CFG_SURF_REPEAT_0", 0},   {"NVDLA_BDMA.CFG_OP_0", 1},
            {"NVDLA_BDMA.CFG_LAUNCH0_0", 1}};
}

/// Such copies one after the other, started by a single launch: bytes of a line, and lines.
Writes copies(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& all) {
    Writes writes;
    std::uint32_t done = 0;
    for (const auto& [line, lines] : all) {
        for (auto [name, value] : copy(line, lines)) {
            const bool base =
                name == "NVDLA_BDMA.CFG_SRC_ADDR_LOW_0" || name == "NVDLA_BDMA.CFG_DST_ADDR_LOW_0";
            if (name != "NVDLA_BDMA.CFG_LAUNCH0_0") {
                writes.emplace_back(name, value + (base ? done : 0));
            }
        }
        done += line * lines;
    }
    writes.emplace_back("NVDLA_BDMA.CFG_LAUNCH0_0", 1);
    return writes;
}

/// A feature cube of int8 to planes.
Writes split(std::uint32_t size) {
    return {{"NVDLA_GLB.S_INTR_MASK_0", 0},
            {"NVDLA_RBK.D_MISC_CFG_0", 1},
            {"NVDLA_RBK.D_DAIN_RAM_TYPE_0", 1},
            {"NVDLA_RBK.D_DAOUT_RAM_TYPE_0", 1},
            {"NVDLA_RBK.D_DATAIN_SIZE_0_0", (size - 1) << 16U | (size - 1)},
            {"NVDLA_RBK.D_DATAIN_SIZE_1_0", 31},
            {"NVDLA_RBK.D_DAIN_ADDR_LOW_0", source},
            {"NVDLA_RBK.D_DAIN_LINE_STRIDE_0", size * 32},
            {"NVDLA_RBK.D_DAIN_SURF_STRIDE_0", size * size * 32},
            {"NVDLA_RBK.D_DAOUT_ADDR_LOW_0", destination},
            {"NVDLA_RBK.D_DAOUT_LINE_STRIDE_0", size},
            {"NVDLA_RBK.D_DAOUT_PLANAR_STRIDE_0", size * size},
            {"NVDLA_RBK.D_OP_ENABLE_0", 1}};
}

/// A cube of this many lines of ten atoms to one of the same shape.
Writes contract(std::uint32_t lines) {
    return {{"NVDLA_GLB.S_INTR_MASK_0", 0},
            {"NVDLA_RBK.D_MISC_CFG_0", 0},
            {"NVDLA_RBK.D_DAIN_RAM_TYPE_0", 1},
            {"NVDLA_RBK.D_DAOUT_RAM_TYPE_0", 1},
            {"NVDLA_RBK.D_DATAIN_SIZE_0_0", (lines - 1) << 16U | 9U},
            {"NVDLA_RBK.D_DATAIN_SIZE_1_0", 31},
            {"NVDLA_RBK.D_DATAOUT_SIZE_1_0", 31},
            {"NVDLA_RBK.D_DAIN_ADDR_LOW_0", source},
            {"NVDLA_RBK.D_DAIN_LINE_STRIDE_0", 320},
            {"NVDLA_RBK.D_DAIN_SURF_STRIDE_0", lines * 320},
            {"NVDLA_RBK.D_DAOUT_ADDR_LOW_0", destination},
            {"NVDLA_RBK.D_DAOUT_LINE_STRIDE_0", 320},
            {"NVDLA_RBK.D_DAOUT_SURF_STRIDE_0", lines * 320},
            {"NVDLA_RBK.D_CONTRACT_STRIDE_0_0", lines * 320},
            {"NVDLA_RBK.D_CONTRACT_STRIDE_1_0", 320},
            {"NVDLA_RBK.D_OP_ENABLE_0", 1}};
}

class MoveTest : public testing::Test {
 protected:
    Program program_of(const Writes& writes, std::size_t bytes) const {
        LayerProgram move;
        move.images = {{source, std::vector<std::uint8_t>(bytes)}};
        for (std::size_t i = 0; i < bytes; ++i) {
            move.images[0].bytes[i] = static_cast<std::uint8_t>(i % 251);
        }
        move.registers = writes;
        move.expected = {destination, move.images[0].bytes};
        return npuscope::program_of({move}, system_);
    }
    std::string refusal(const Program& program) const {
        return sample::message_of([&] { run_program(program, system_, {}); });
    }
    std::string checked(const Program& program) const {
        std::string text;
        for (const Diagnostic& found :
             check_program(program, {nvdla_npu(system_), system_.memory}).findings) {
            text += found.id + ": " + found.sentence + "\n";
        }
        return text;
    }

    SystemConfig system_ = nv_full_system();
};

TEST_F(MoveTest, ALargeCopyGoesPortionByPortion) {
    const std::uint32_t line = 1U << 17U;
    const std::uint32_t lines = 150;  // 18.75 MiB
    const Result result =
        run_program(program_of(copy(line, lines), std::size_t{line} * lines), system_, {});
    EXPECT_EQ(result.status(), RunStatus::Pass);
    EXPECT_TRUE(result.findings.empty());
    EXPECT_EQ(read_bytes(result, "bdma"), Bytes(std::size_t{line} * lines));
}

TEST_F(MoveTest, ManyShortLinesGoPortionByPortionAsWell) {
    const Result result = run_program(program_of(copy(32, 70000), 32 * 70000), system_, {});
    EXPECT_EQ(result.status(), RunStatus::Pass);
    EXPECT_TRUE(result.findings.empty());
}

TEST_F(MoveTest, TimeIsWorkUnlessMemoryDelaysIt) {
    const auto causes_of = [this](std::uint64_t interval, const Writes& writes) {
        system_.memory.beat_interval = Cycles(interval);
        const Result result = run_program(program_of(writes, 1U << 16U), system_, {});
        EXPECT_EQ(result.operations.size(), 1U);
        const OperationRecord& record = result.operations.front();
        EXPECT_EQ(record.causes.sum(), record.cycles());
        return record.causes;
    };
    const std::uint64_t beats = (1U << 16U) / 64;  // of nv_full's bus
    const CauseCycles fast = causes_of(1, copy(1U << 12U, 16));
    EXPECT_GE(fast[Cause::Work], Cycles(beats));
    EXPECT_LT(fast[Cause::Work], Cycles(beats + 64));
    EXPECT_LT(fast[Cause::Memory], Cycles(beats / 2));  // each burst's command takes a cycle
    const CauseCycles slow = causes_of(8, copy(1U << 12U, 16));
    EXPECT_GT(slow[Cause::Memory], Cycles(6 * beats));
    EXPECT_LT(slow[Cause::Work], Cycles(beats + 64));
    const CauseCycles reshaped = causes_of(8, contract(200));
    EXPECT_GT(reshaped[Cause::Memory], reshaped[Cause::Work]);
}

// source: nv_full RTL, simulated: 292 and 592 cycles
TEST_F(MoveTest, CommandsOfALaunchAreReadWithoutAGap) {
    const auto copied_at = [this](Cycles latency) {
        system_.memory.read_latency = latency;
        return run_program(program_of(copies({{320, 11}, {96, 2}, {160, 8}}), 4992), system_, {});
    };
    const Result result = copied_at(Cycles(200));
    EXPECT_EQ(result.status(), RunStatus::Pass);
    EXPECT_EQ(result.cycles, copied_at(Cycles(50)).cycles + Cycles(300));
}

// source: nv_full RTL, simulated: 214 and 262 cycles; ten atoms are read out in ten cycles, and
// five beats replace those of two lines earlier
TEST_F(MoveTest, BeatsEnterTheRegisterFileACycleApart) {
    const auto contracted = [this](std::uint32_t lines) {
        return run_program(program_of(contract(lines), std::size_t{lines} * 320), system_, {});
    };
    const Result result = contracted(4);
    EXPECT_EQ(result.status(), RunStatus::Pass);
    EXPECT_EQ(contracted(8).cycles, result.cycles + Cycles(48));
}

TEST_F(MoveTest, SizesBeyondAnyUseAreRefusedAtOnce) {
    Program program = program_of(copy(1U << 18U, 1U << 24U), 64);
    EXPECT_THAT(refusal(program), testing::HasSubstr("NVDLA_BDMA.CFG_LINE_REPEAT_0: a surface of "
                                                     "16777216 lines of 262144 bytes"));
    EXPECT_THAT(checked(program), testing::HasSubstr("register_value: NVDLA_BDMA.CFG_LINE_REPEAT"));
    program = program_of(split(8192), 64);
    EXPECT_THAT(refusal(program), testing::HasSubstr("NVDLA_RBK.D_DATAIN_SIZE_0_0: a surface of "
                                                     "8192 lines of 262144 bytes"));
    EXPECT_THAT(checked(program), testing::HasSubstr("register_value: NVDLA_RBK.D_DATAIN_SIZE_0"));
}

TEST_F(MoveTest, AMoveOutsideMemoryIsFoundWithoutRunning) {
    Writes writes = copy(64, 2);
    writes[1].second = 0x1000;
    EXPECT_THAT(checked(program_of(writes, 128)),
                testing::HasSubstr("out_of_bounds: source of bdma 0 covers 128 bytes at 0x1000"));
    writes = split(32);
    for (auto& [name, value] : writes) {
        value = name == "NVDLA_RBK.D_DAOUT_ADDR_LOW_0" ? 0x1000 : value;
    }
    EXPECT_THAT(checked(program_of(writes, 32768)),
                testing::HasSubstr("out_of_bounds: output of rubik 0 covers"));
}

}  // namespace
}  // namespace npuscope
