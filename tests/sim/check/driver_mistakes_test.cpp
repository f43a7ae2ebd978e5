// SPDX-License-Identifier: Apache-2.0
// Mistakes of drivers about the end of operations, read DMAs and memory ports, one at a time, and
// what is unusual but right. A copy by the SDP, or programs that real hardware ran.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "models/conv/conv_registers.h"
#include "models/npu/register_blocks.h"
#include "models/sdp/sdp_registers.h"
#include "sim/check/check_report.h"
#include "sim/check/value_rules.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"
#include "tests/sim/check/damaged_program.h"

namespace npuscope::driver_mistakes_test {
namespace {

namespace fs = std::filesystem;
using sample::finds;
using sample::kinds_of;

fs::path source() { return NPUSCOPE_SOURCE; }

const std::string copy_program = R"(mem_load(pri_mem, 0x80000000, "input.dat");
reg_write(NVDLA_GLB.S_INTR_MASK_0, 0x3f03fc);
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
reg_write(NVDLA_SDP.D_CVT_SHIFT_0, 0x0);
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
)";
const std::string enables = R"(reg_write(NVDLA_SDP_RDMA.D_OP_ENABLE_0, 0x1);
reg_write(NVDLA_SDP.D_OP_ENABLE_0, 0x1);
)";
const std::string request = "intr_notify(SDP_0, done);\n";
const std::string comparison = "check_crc(done, pri_mem, 0x90000000, 0x20, 0x91267e8a);\n";

MemoryImage bytes_of_32(const std::string& /*file*/, const Place& /*place*/) {
    std::string text;
    for (int i = 0; i < 32; ++i) {
        text += "0x01 ";
    }
    return parse_memory_text("{offset:0x0, size:32, payload:" + text + "}", "input.dat");
}

CheckReport checked(const Program& program, const std::string& npu) {
    const auto config = read_preset<NpuConfig>(find_preset(source() / "configs", "npu", npu));
    const auto memory =
        read_preset<MemoryConfig>(find_preset(source() / "configs", "memory", "dram_50"));
    return check_program(program, {config, memory});
}

CheckReport checked(const std::string& text) {
    const RegisterNames names(nvdla_register_blocks());
    return checked(parse_trace_cfg(text, "t.cfg", names, bytes_of_32), "nv_small");
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return at == std::string::npos ? text : text.replace(at, old.size(), by);
}

/// A program of tests/golden.
Program golden(const std::string& folder, const std::string& npu) {
    const auto config = read_preset<NpuConfig>(find_preset(source() / "configs", "npu", npu));
    return read_program(source() / "tests/golden" / folder,
                        RegisterNames(nvdla_register_blocks(config.csb.address_map)));
}

TEST(DriverMistakes, TheCopyItselfIsRight) {
    const CheckReport report = checked(copy_program + enables + request + comparison);
    EXPECT_TRUE(report.clean()) << kinds_of(report);
}

TEST(DriverMistakes, AComparisonMayStandBeforeTheOperationWhoseEndItWaitsFor) {
    const CheckReport report = checked(copy_program + request + comparison + enables);
    EXPECT_TRUE(report.clean()) << kinds_of(report);
}

TEST(DriverMistakes, AnIdThatTheHostRaisesIsNoEndOfAnOperation) {
    const CheckReport report =
        checked(copy_program + enables + "sync_notify(NVDLA_SDP, done);\n" + comparison);
    EXPECT_TRUE(finds(report, "compared_early")) << kinds_of(report);
}

TEST(DriverMistakes, AComparisonThatWaitsForAnEarlierOperationIsTooEarly) {
    std::string second = replaced(copy_program, "0x90000000", "0x90001000");
    second = second.substr(second.find("reg_write(NVDLA_SDP.S_POINTER"));
    second = replaced(replaced(second, "SDP.S_POINTER_0, 0x0", "SDP.S_POINTER_0, 0x1"),
                      "SDP_RDMA.S_POINTER_0, 0x0", "SDP_RDMA.S_POINTER_0, 0x1");
    const std::string first = copy_program + enables + request + comparison + second + enables;
    const std::string compare = "pri_mem, 0x90001000, 0x20, 0x91267e8a);\n";
    EXPECT_TRUE(checked(first + "intr_notify(SDP_1, more);\ncheck_crc(more, " + compare).clean());
    const CheckReport report =
        checked(first + "intr_notify(SDP_1, more);\ncheck_crc(done, " + compare);
    EXPECT_TRUE(finds(report, "compared_early")) << kinds_of(report);
}

TEST(DriverMistakes, AWaitBeforeTheOperationIsEnabledNeverEnds) {
    const std::string wait = "sync_wait(NVDLA_SDP, done);\n";
    EXPECT_TRUE(checked(copy_program + enables + request + wait + comparison).clean());
    const CheckReport report = checked(copy_program + request + wait + enables + comparison);
    EXPECT_TRUE(finds(report, "never_ends")) << kinds_of(report);
}

TEST(DriverMistakes, ABytewiseRepeatedLoadIsNone) {
    const std::string load = copy_program.substr(0, copy_program.find('\n') + 1);
    const CheckReport report = checked(load + copy_program + enables + request + comparison);
    EXPECT_TRUE(report.clean()) << kinds_of(report);
    const CheckReport other = checked(replaced(load, "input.dat", "other.dat") + copy_program +
                                      enables + request + comparison);
    EXPECT_TRUE(finds(other, "load_overlap")) << kinds_of(other);
}

TEST(DriverMistakes, AFetchForAStageThatIsBypassedIsTold) {
    const CheckReport report =
        checked(replaced(copy_program, "D_NRDMA_CFG_0, 0x1", "D_NRDMA_CFG_0, 0x0") + enables +
                request + comparison);
    EXPECT_TRUE(finds(report, "operand_unused", "NVDLA_SDP_RDMA.D_NRDMA_CFG")) << kinds_of(report);
}

TEST(DriverMistakes, ARamTypeWithoutItsPortIsRefused) {
    for (const std::string name : {"NVDLA_SDP.D_DST_DMA_CFG", "NVDLA_SDP_RDMA.D_SRC_DMA_CFG"}) {
        const CheckReport report =
            checked(replaced(copy_program, name + "_0, 0x1", name + "_0, 0x0") + enables + request +
                    comparison);
        EXPECT_TRUE(finds(report, "register_value", name)) << kinds_of(report);
    }
}

TEST(DriverMistakes, FillingAResultBeforeItIsReadLosesIt) {
    const std::string fill = "mem_init(pri_mem, 0x90000000, 0x40, ALL_ZERO);\n";
    const std::string wait = request + "sync_wait(NVDLA_SDP, done);\n";
    EXPECT_TRUE(finds(checked(copy_program + enables + wait + fill + comparison), "result_lost"));
    const CheckReport report = checked(copy_program + enables + fill + wait + comparison);
    EXPECT_TRUE(finds(report, "race")) << kinds_of(report);
    EXPECT_TRUE(checked(fill + copy_program + enables + wait + comparison).clean());
}

TEST(DriverMistakes, TheNextInterruptOfAnyUnitMayBeAFetch) {
    Program program = golden("rtl/pw_4x2x64_k64", "nv_small");
    for (Statement& statement : program.statements) {
        if (auto* notify = std::get_if<NotifyOnInterrupt>(&statement.action)) {
            notify->unit.clear();
        }
    }
    EXPECT_TRUE(checked(program, "nv_small").clean());  // all others are masked
    sample::change_writes(program, "NVDLA_GLB.S_INTR_MASK", [](std::uint32_t) { return 0; });
    const CheckReport report = checked(program, "nv_small");
    EXPECT_TRUE(finds(report, "compared_early")) << kinds_of(report);
}

TEST(DriverMistakes, AReadDmaThatHasNothingToReadEndsAtOnce) {
    Program program = golden("rtl/pw_4x2x64_k64", "nv_small");
    const auto enable = std::ranges::find_if(program.statements, [](const Statement& statement) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        return write != nullptr && write->name == "NVDLA_CDMA.D_OP_ENABLE_0";
    });
    ASSERT_NE(enable, program.statements.end());
    const RegisterNames names(nvdla_register_blocks());
    const Program more = parse_trace_cfg(R"(reg_write(NVDLA_SDP_RDMA.D_FEATURE_MODE_CFG_0, 0x1);
reg_write(NVDLA_SDP_RDMA.D_OP_ENABLE_0, 0x1);
)",
                                         "t.cfg", names, {});
    program.statements.insert(enable + 1, more.statements.begin(), more.statements.end());
    const CheckReport report = checked(program, "nv_small");
    EXPECT_TRUE(report.clean()) << kinds_of(report);
    // the stage is bypassed: what is fetched is never taken
    auto& other = program.statements;
    const Program fetch =
        parse_trace_cfg("reg_write(NVDLA_SDP_RDMA.D_BRDMA_CFG_0, 0x2a);\n", "t.cfg", names, {});
    other.insert(other.begin(), fetch.statements.begin(), fetch.statements.end());
    const CheckReport hangs = checked(program, "nv_small");
    EXPECT_TRUE(finds(hangs, "operand_unused", "NVDLA_SDP_RDMA.D_OP_ENABLE")) << kinds_of(hangs);
    EXPECT_FALSE(finds(hangs, "never_starts")) << kinds_of(hangs);
}

TEST(DriverMistakes, ALaunchOfTheBdmaWithoutACommandIsTold) {
    Program program = golden("nv_full/bdma_2_3d", "nv_full");
    EXPECT_TRUE(checked(program, "nv_full").clean());
    sample::change_writes(program, "NVDLA_BDMA.CFG_OP", [](std::uint32_t) { return 0; });
    const CheckReport report = checked(program, "nv_full");
    EXPECT_TRUE(finds(report, "bdma_empty")) << kinds_of(report);
    EXPECT_TRUE(finds(report, "never_ends")) << kinds_of(report);
}

/// Two copies of 32 bytes, not launched yet.
const std::string two_copies = R"(mem_load(pri_mem, 0x80000000, "input.dat");
mem_load(pri_mem, 0x80000020, "input.dat");
reg_write(NVDLA_GLB.S_INTR_MASK_0, 0x0);
reg_write(NVDLA_BDMA.CFG_CMD_0, 0x3);
reg_write(NVDLA_BDMA.CFG_LINE_0, 0x0);
reg_write(NVDLA_BDMA.CFG_LINE_REPEAT_0, 0x0);
reg_write(NVDLA_BDMA.CFG_SURF_REPEAT_0, 0x0);
reg_write(NVDLA_BDMA.CFG_SRC_ADDR_LOW_0, 0x80000000);
reg_write(NVDLA_BDMA.CFG_DST_ADDR_LOW_0, 0x90000000);
reg_write(NVDLA_BDMA.CFG_OP_0, 0x1);
reg_write(NVDLA_BDMA.CFG_SRC_ADDR_LOW_0, 0x80000020);
reg_write(NVDLA_BDMA.CFG_DST_ADDR_LOW_0, 0x90000020);
reg_write(NVDLA_BDMA.CFG_OP_0, 0x1);
)";

CheckReport checked_copies(const std::string& end) {
    const RegisterNames names(nvdla_register_blocks(AddressMap::NvFull));
    return checked(parse_trace_cfg(two_copies + end, "t.cfg", names, bytes_of_32), "nv_full");
}

TEST(DriverMistakes, TheInterruptOfTheBdmaFollowsAllCommandsOfItsLaunch) {
    const std::string launch = "reg_write(NVDLA_BDMA.CFG_LAUNCH1_0, 0x1);\n";
    const std::string wanted = "intr_notify(BDMA_1, done);\n";
    const std::string compare = "check_crc(done, pri_mem, 0x90000000, 0x40, 0x12345678);\n";
    for (const std::string& end : {launch + wanted, wanted + launch}) {
        const CheckReport report = checked_copies(end + compare);
        EXPECT_TRUE(report.clean()) << kinds_of(report);
    }
    const std::string poll = "poll_reg_equal(NVDLA_GLB.S_INTR_STATUS_0, 0x80, 0x80);\n";
    const std::string host = "sync_notify(NVDLA_BDMA, done);\n";
    const CheckReport polled = checked_copies(launch + poll + host + compare);
    EXPECT_TRUE(polled.clean()) << kinds_of(polled);
    EXPECT_TRUE(finds(checked_copies(launch + host + compare), "compared_early"));
    const std::string again = "intr_notify(BDMA_1, twice);\nsync_wait(NVDLA_BDMA, twice);\n";
    EXPECT_TRUE(finds(checked_copies(launch + wanted + again), "never_ends"));
}

TEST(DriverMistakes, ALineThatTheBdmaRepeatsIsNoMistake) {
    Program program = golden("nv_full/bdma_2_3d", "nv_full");
    sample::change_writes(program, "NVDLA_BDMA.CFG_SRC_LINE", [](std::uint32_t) { return 0; });
    sample::change_writes(program, "NVDLA_BDMA.CFG_SRC_SURF", [](std::uint32_t) { return 0; });
    for (const Diagnostic& found : checked(program, "nv_full").findings) {
        EXPECT_FALSE(found.id == "lines_overlap" && found.severity != Severity::Note)
            << found.sentence;
    }
}

TEST(DriverMistakes, AWaitOfATraceOfWordsMayComeTooSoon) {
    Program program = golden("nv_full/conv_i16_00", "nv_full");
    EXPECT_TRUE(checked(program, "nv_full").clean());
    const auto is_wait = [](const Statement& statement) {
        return std::holds_alternative<WaitForInterrupt>(statement.action);
    };
    const auto wait = std::ranges::find_if(program.statements, is_wait);
    ASSERT_NE(wait, program.statements.end());
    Program early = program;
    const auto at = early.statements.begin() + (wait - program.statements.begin());
    std::iter_swap(at, at - 1);
    EXPECT_TRUE(finds(checked(early, "nv_full"), "never_ends"));
    sample::change_writes(program, "NVDLA_GLB.S_INTR_MASK", [](std::uint32_t) { return 0; });
    const CheckReport report = checked(program, "nv_full");
    EXPECT_TRUE(finds(report, "compared_early")) << kinds_of(report);
}

TEST(DriverMistakes, FactorsOfZeroAreTold) {
    Program program = golden("rtl/pdp_8x8x64_avg8", "nv_small");
    EXPECT_TRUE(checked(program, "nv_small").clean());
    sample::change_writes(program, "NVDLA_PDP.D_RECIP_KERNEL_WIDTH",
                          [](std::uint32_t) { return 0; });
    EXPECT_TRUE(finds(checked(program, "nv_small"), "suspicious_register",
                      "NVDLA_PDP.D_RECIP_KERNEL_WIDTH"));
    for (const char* name : {"NVDLA_CDP.D_DATIN_SCALE", "NVDLA_CDP.D_DATOUT_SCALE"}) {
        Program cdp = golden("nv_full/cdp_i8_blocks", "nv_full");
        sample::change_writes(cdp, name, [](std::uint32_t) { return 0; });
        EXPECT_TRUE(finds(checked(cdp, "nv_full"), "suspicious_register", name));
    }
}

TEST(DriverMistakes, AnInterruptThatTheProgramSetsItselfServesARequest) {
    const std::string wait = "sync_wait(NVDLA_GLB, done);\n";
    const std::string set = "reg_write(NVDLA_GLB.S_INTR_SET_0, 0x1);\n";
    const std::string mask = "reg_write(NVDLA_GLB.S_INTR_MASK_0, 0x0);\n";
    EXPECT_TRUE(checked(mask + set + request + wait).clean());
    EXPECT_TRUE(checked(mask + request + set + wait).clean());
    EXPECT_TRUE(finds(checked(mask + request + wait), "never_ends"));
    // another unit's
    EXPECT_TRUE(finds(checked(mask + "reg_write(NVDLA_GLB.S_INTR_SET_0, 0x4);\n" + request + wait),
                      "never_ends"));
}

TEST(DriverMistakes, PixelsThatReachBeyondTheirLineAreTold) {
    Program program = golden("rtl/img_28x28_k20_5x5", "nv_small");
    EXPECT_TRUE(checked(program, "nv_small").clean());
    sample::change_writes(program, "NVDLA_CDMA.D_PIXEL_OFFSET", [](std::uint32_t) { return 1; });
    sample::change_writes(program, "NVDLA_CDMA.D_LINE_STRIDE", [](std::uint32_t) { return 112; });
    EXPECT_TRUE(finds(checked(program, "nv_small"), "lines_overlap", "NVDLA_CDMA.D_LINE_STRIDE"));
}

TEST(DriverMistakes, RegistersThatTheSequencerDoesNotUseForImagesAreTold) {
    const Program good = golden("nv_full/img_Y16_U16V16_N444_i8", "nv_full");
    EXPECT_FALSE(finds(checked(good, "nv_full"), "suspicious_register"));
    for (const auto& [name, value] : {std::pair{"NVDLA_CSC.D_DILATION_EXT", 0x10000U},
                                      std::pair{"NVDLA_CSC.D_DILATION_EXT", 1U},
                                      std::pair{"NVDLA_CSC.D_ZERO_PADDING", 0x10000U},
                                      std::pair{"NVDLA_CSC.D_MISC_CFG", 0x200U}}) {
        Program program = good;
        ASSERT_EQ(sample::change_writes(program, name, [by = value](std::uint32_t) { return by; }),
                  1);
        const CheckReport report = checked(program, "nv_full");
        EXPECT_TRUE(finds(report, "suspicious_register", name)) << kinds_of(report);
    }
}

TEST(DriverMistakes, AnSdpThatReadsMemoryAfterAConvolutionNamesItsMode) {
    Program program = golden("rtl/pw_4x2x64_k64", "nv_small");
    ASSERT_EQ(sample::change_writes(program, "NVDLA_SDP.D_FEATURE_MODE_CFG",
                                    [](std::uint32_t) { return 0; }),
              1);
    const char* const mode = "NVDLA_SDP.D_FEATURE_MODE_CFG";
    EXPECT_TRUE(finds(checked(program, "nv_small"), "never_starts", mode));
    // a read DMA without a source does not help
    const RegisterNames names(nvdla_register_blocks());
    const Program enable = parse_trace_cfg(R"(reg_write(NVDLA_SDP_RDMA.D_FEATURE_MODE_CFG_0, 0x1);
reg_write(NVDLA_SDP_RDMA.D_OP_ENABLE_0, 0x1);
)",
                                           "t.cfg", names, {});
    program.statements.insert(program.statements.begin(), enable.statements.begin(),
                              enable.statements.end());
    EXPECT_TRUE(finds(checked(program, "nv_small"), "never_starts", mode));
    // it may be the enable that is missing where one is programmed
    const Program source =
        parse_trace_cfg(R"(reg_write(NVDLA_SDP_RDMA.D_SRC_BASE_ADDR_LOW_0, 0x80000000);
reg_write(NVDLA_SDP_RDMA.D_FEATURE_MODE_CFG_0, 0x0);
)",
                        "t.cfg", names, {});
    Program programmed = golden("rtl/pw_4x2x64_k64", "nv_small");
    sample::change_writes(programmed, mode, [](std::uint32_t) { return 0; });
    programmed.statements.insert(programmed.statements.begin(), source.statements.begin(),
                                 source.statements.end());
    EXPECT_TRUE(
        finds(checked(programmed, "nv_small"), "never_starts", "NVDLA_SDP_RDMA.D_OP_ENABLE"));
}

TEST(DriverMistakes, AUnitThatIsProgrammedButNotEnabledIsNamed) {
    EXPECT_TRUE(finds(checked(copy_program + request + comparison), "never_starts",
                      "NVDLA_SDP.D_OP_ENABLE"));
    Program program = golden("nv_full/rbk_merge_f16_0", "nv_full");
    std::erase_if(program.statements, [](const Statement& statement) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        return write != nullptr && write->name == "NVDLA_RBK.D_OP_ENABLE_0";
    });
    const CheckReport report = checked(program, "nv_full");
    EXPECT_TRUE(finds(report, "never_starts", "NVDLA_RBK.D_OP_ENABLE")) << kinds_of(report);
    EXPECT_TRUE(finds(report, "never_ends")) << kinds_of(report);
}

TEST(DriverMistakes, AProposedStrideIsAMultipleOfTheAtom) {
    for (const std::size_t more : {9U, 64U, 70U}) {
        Program program = golden("rtl/pw_4x2x64_k64", "nv_small");
        for (Statement& statement : program.statements) {
            auto* load = std::get_if<LoadMemory>(&statement.action);
            if (load != nullptr && load->address == Address(0x80000000)) {
                load->image.bytes.resize(load->image.bytes.size() + more, 1);
                load->image.runs.back().size += more;
            }
        }
        const CheckReport report = checked(program, "nv_small");
        const auto found = std::ranges::find(report.findings, "loaded_unread", &Diagnostic::id);
        ASSERT_NE(found, report.findings.end());
        EXPECT_EQ(found->remedy.find("UV"), std::string::npos) << found->remedy;
        const std::size_t value = found->remedy.find(" to 0x");
        if (value != std::string::npos) {
            EXPECT_EQ(std::stoul(found->remedy.substr(value + 4), nullptr, 16) % 8, 0U)
                << found->remedy;
        }
    }
}

TEST(DriverMistakes, BatchesThatOverlapNameTheirStride) {
    Program program = golden("nv_full/batch_fc_i8_0", "nv_full");
    EXPECT_TRUE(checked(program, "nv_full").clean());
    ASSERT_GT(sample::change_writes(program, "NVDLA_SDP.D_DST_BATCH_STRIDE",
                                    [](std::uint32_t) { return 0; }),
              0);
    EXPECT_TRUE(
        finds(checked(program, "nv_full"), "lines_overlap", "NVDLA_SDP.D_DST_BATCH_STRIDE"));
}

TEST(DriverMistakes, TheAccumulatorPassesBatchesInTheOrderInWhichTheSdpWritesThem) {
    const RegisterValues sdp(sdp_block);
    const auto found = [&](std::uint32_t address, Shape shape) {
        RegisterValues cacc(cacc_block);
        cacc.set(find_register(cacc_block, "D_DATAOUT_ADDR")->offset, address);
        cacc.set(find_register(cacc_block, "D_SURF_STRIDE")->offset, address);
        Diagnostics findings;
        add_batch_findings({cacc, sdp, {.shape = shape, .batches = 2}}, {}, findings);
        return findings.size();
    };
    EXPECT_EQ(found(0x40, {16, 1, 4}), 0U);
    EXPECT_EQ(found(0x48, {16, 1, 4}), 2U);
    EXPECT_EQ(found(0x48, {8, 1, 4}), 1U);  // one surface
    EXPECT_EQ(found(0x48, {16, 4, 1}), 0U);
}

TEST(DriverMistakes, PathsInSarifAreUris) {
    CheckReport report;
    report.findings.push_back({.id = "never_ends", .place = {"a b%20#.cfg", 3, 1}});
    EXPECT_NE(check_sarif(report, "1").find("\"a%20b%2520%23.cfg\""), std::string::npos);
}

}  // namespace
}  // namespace npuscope::driver_mistakes_test
