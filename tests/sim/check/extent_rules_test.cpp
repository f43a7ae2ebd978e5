// SPDX-License-Identifier: Apache-2.0
// Programs that real hardware ran, each with one mistake: the rules about extents, ends, buffers
// and tables fire for it, name the register or the file, and are silent about the program itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "models/npu/register_blocks.h"
#include "sim/check/check_report.h"
#include "sim/check/memory_rules.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"
#include "tests/sim/check/damaged_program.h"

namespace npuscope {
namespace {

using sample::Damaged;

/// The first finding, warnings and errors only.
Diagnostic first_of(const CheckReport& report) {
    return report.findings.empty() ? Diagnostic{} : report.findings.front();
}

std::function<std::uint32_t(std::uint32_t)> plus(std::uint32_t more) {
    return [more](std::uint32_t value) { return value + more; };
}

TEST(ExtentRules, AnOperandThatEndsAfterItsFileNamesTheStrideThatIsTooLarge) {
    Damaged good("rtl/pw_4x2x64_k64", "nv_small");
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    good.change("NVDLA_CDMA.D_SURF_STRIDE", plus(8));
    good.change("NVDLA_CDMA.D_DAIN_MAP", [](std::uint32_t) { return 1; });  // SURF_PACKED is 0
    const Diagnostic found = first_of(good.checked());
    EXPECT_EQ(found.id, "uninitialised_read");
    EXPECT_EQ(found.register_name, "NVDLA_CDMA.D_SURF_STRIDE_0");
    EXPECT_NE(found.remedy.find("set NVDLA_CDMA.D_SURF_STRIDE_0 to 0x40"), std::string::npos)
        << found.remedy;
    EXPECT_GT(found.place.line, 0U);
}

TEST(ExtentRules, SurfacesOneAtomApartFromTheirLinesAreTold) {
    Damaged good("rtl/pw_4x2x64_k64", "nv_small");
    good.change("NVDLA_SDP.D_DST_SURFACE_STRIDE", plus(8));
    EXPECT_TRUE(sample::finds(good.checked(), "strides_apart", "NVDLA_SDP.D_DST_SURFACE_STRIDE"));
    good.change("NVDLA_SDP.D_DST_SURFACE_STRIDE", plus(64));
    EXPECT_FALSE(sample::finds(good.checked(), "strides_apart", "NVDLA_SDP.D_DST_SURFACE_STRIDE"));
}

TEST(ExtentRules, SurfacesRoundedUpToABurstAreRight) {
    Damaged good("rtl/pw_4x2x64_k64", "nv_small");  // two lines
    good.change("NVDLA_SDP.D_DST_LINE_STRIDE", [](std::uint32_t) { return 0x38; });
    good.change("NVDLA_SDP.D_DST_SURFACE_STRIDE", [](std::uint32_t) { return 0x80; });
    EXPECT_FALSE(sample::finds(good.checked(), "strides_apart"));
    good.change("NVDLA_SDP.D_DST_SURFACE_STRIDE", [](std::uint32_t) { return 0x60; });
    EXPECT_TRUE(sample::finds(good.checked(), "strides_apart"));
}

TEST(ExtentRules, ARegisterThatReadsOtherwiseThanItWasWrittenIsTold) {
    Damaged good("rtl/pw_4x2x64_k64", "nv_small");
    auto& statements = good.program.statements;
    const auto write = std::ranges::find_if(statements, [](const Statement& statement) {
        const auto* one = std::get_if<WriteRegister>(&statement.action);
        return one != nullptr && one->name == "NVDLA_SDP.D_DST_LINE_STRIDE_0";
    });
    ASSERT_NE(write, statements.end());
    const auto written = std::get<WriteRegister>(write->action);
    Statement read;
    read.action =
        ReadRegister{.name = written.name, .address = written.address, .expected = written.value};
    statements.insert(write + 1, read);
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    good.change("NVDLA_SDP.D_DST_LINE_STRIDE", plus(32));
    EXPECT_EQ(first_of(good.checked()).id, "read_back") << sample::kinds_of(good.checked());
    EXPECT_EQ(first_of(good.checked()).register_name, "NVDLA_SDP.D_DST_LINE_STRIDE_0");
}

TEST(ExtentRules, AKernelThatIsLeftUnreadInTheLastBlockIsFound) {
    Damaged good("rtl/pw_4x2x64_k64", "nv_small");
    EXPECT_FALSE(sample::finds(good.checked(), "loaded_unread"));
    for (const char* name : {"NVDLA_CDMA.D_WEIGHT_SIZE_1", "NVDLA_CSC.D_WEIGHT_SIZE_EXT_1"}) {
        good.change(name, [](std::uint32_t value) {
            constexpr std::uint32_t kernels = 0xffff0000;
            return (value & kernels) != 0 ? value - 0x10000 : value - 1;
        });
    }
    EXPECT_TRUE(sample::finds(good.checked(), "loaded_unread")) << sample::kinds_of(good.checked());
}

TEST(ExtentRules, PlanesOfAPictureAreKeptApart) {
    Damaged good("nv_full/img_Y16_U16V16_N444_i8", "nv_full");
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    const std::uint32_t first = sample::written(good.program, "NVDLA_CDMA.D_DAIN_ADDR_LOW_0");
    good.change("NVDLA_CDMA.D_DAIN_ADDR_LOW_1", [&](std::uint32_t) { return first; });
    EXPECT_TRUE(sample::finds(good.checked(), "lines_overlap", "NVDLA_CDMA.D_LINE_STRIDE"));
}

TEST(ExtentRules, AnOperandThatBeginsInTheFileBeforeItsOwnIsFound) {
    Damaged good("rtl/pw_4x2x64_k64", "nv_small");
    const auto weights_at = [&](std::uint32_t loaded, std::uint32_t read) {
        for (Statement& statement : good.program.statements) {
            auto* load = std::get_if<LoadMemory>(&statement.action);
            if (load != nullptr && load->file == "wt.dat") {
                load->address = Address(loaded);
            }
        }
        good.change("NVDLA_CDMA.D_WEIGHT_ADDR_LOW", [&](std::uint32_t) { return read; });
        return good.checked();
    };
    EXPECT_TRUE(weights_at(0x80000200, 0x80000200).clean());
    EXPECT_TRUE(sample::finds(weights_at(0x80000200, 0x800001f8), "partly_loaded",
                              "NVDLA_CDMA.D_WEIGHT_ADDR_LOW"));
}

/// Without the writes of registers whose name begins with this.
void leave_out(Program& program, const std::string& start) {
    std::erase_if(program.statements, [&](const Statement& statement) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        return write != nullptr && write->name.starts_with(start);
    });
}

TEST(ExtentRules, StagesOfTheSdpAreSetBeforeItStarts) {
    for (const auto& [folder, npu, name] :
         {std::tuple{"nv_full/sdp_ew_f16_3", "nv_full", "NVDLA_SDP.D_DP_BS_CFG"},
          std::tuple{"rtl/pw_4x2x64_k64", "nv_small", "NVDLA_SDP.D_CVT_SHIFT"}}) {
        Damaged good(folder, npu);
        leave_out(good.program, name);
        EXPECT_TRUE(sample::finds(good.checked(), "register_unwritten", name)) << name;
    }
}

TEST(ExtentRules, AStageThatResetBypassesMayBeLeftAloneWithoutOperands) {
    Damaged good("rtl/pw_4x2x64_k64", "nv_small");
    leave_out(good.program, "NVDLA_SDP.D_DP_BS_CFG");
    EXPECT_FALSE(sample::finds(good.checked(), "register_unwritten"));
    good.change("NVDLA_SDP.D_DP_BS_MUL_SRC_VALUE", [](std::uint32_t) { return 3; });
    EXPECT_TRUE(sample::finds(good.checked(), "register_unwritten", "NVDLA_SDP.D_DP_BS_CFG"));
}

TEST(ExtentRules, AFindingStandsWhereTheRegisterWasWritten) {
    Damaged good("rtl/pw_4x2x64_k64", "nv_small");
    good.change("NVDLA_CDMA.D_DAIN_ADDR_LOW_0", plus(8));
    const Diagnostic found = first_of(good.checked());
    EXPECT_EQ(found.register_name, "NVDLA_CDMA.D_DAIN_ADDR_LOW_0_0");
    unsigned line = 0;
    for (const Statement& statement : good.program.statements) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        if (write != nullptr && write->name == found.register_name) {
            line = statement.place.line;
        }
    }
    EXPECT_EQ(found.place.line, line);
}

TEST(ExtentRules, AFileWhoseBeginningIsNotReadIsFound) {
    Damaged good("nv_full/sdp_ew_f16_3", "nv_full");
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    good.change("NVDLA_SDP_RDMA.D_SRC_BASE_ADDR_LOW", plus(32));
    const CheckReport report = good.checked();
    EXPECT_TRUE(sample::finds(report, "partly_loaded", "NVDLA_SDP_RDMA.D_SRC_BASE_ADDR_LOW"));
    EXPECT_TRUE(sample::finds(report, "loaded_unread", "NVDLA_SDP_RDMA.D_SRC_BASE_ADDR_LOW"));
}

TEST(ExtentRules, AFileThatNoOperationReadsIsTold) {
    Damaged good("nv_full/sdp_ew_f16_3", "nv_full");
    Statement load;
    for (const Statement& statement : good.program.statements) {
        if (std::holds_alternative<LoadMemory>(statement.action)) {
            load = statement;
        }
    }
    std::get<LoadMemory>(load.action).address = Address(0x80700000);
    good.program.statements.insert(good.program.statements.begin(), load);
    EXPECT_TRUE(good.checked().findings.empty());  // the host may read it
    good.change("NVDLA_SDP_RDMA.D_SRC_BASE_ADDR_LOW", plus(0x10000));
    const CheckReport report = good.checked();
    const auto unread = std::ranges::find_if(report.findings, [&](const Diagnostic& found) {
        return found.id == "loaded_unread" && found.place.line == load.place.line;
    });
    ASSERT_NE(unread, report.findings.end()) << sample::kinds_of(report);
    EXPECT_EQ(unread->severity, Severity::Note);
}

TEST(ExtentRules, AComparisonOfAResultThatLiesElsewhereNamesItsAddress) {
    for (const std::uint32_t by : {8U, 0U - 8U}) {
        Damaged good("rtl/pdp_8x8x64_avg8", "nv_small");
        EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
        good.change("NVDLA_PDP.D_DST_BASE_ADDR_LOW", plus(by));
        const CheckReport report = good.checked();
        EXPECT_FALSE(report.clean()) << by;
        EXPECT_EQ(first_of(report).register_name, "NVDLA_PDP.D_DST_BASE_ADDR_LOW_0")
            << sample::kinds_of(report);
    }
}

TEST(ExtentRules, AResultLongerThanWhatIsComparedNamesItsStride) {
    Damaged good("nv_full/cdp_f16_0", "nv_full");
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    good.change("NVDLA_CDP.D_DST_SURFACE_STRIDE", plus(32));
    const CheckReport report = good.checked();
    EXPECT_TRUE(sample::finds(report, "compares_partly", "NVDLA_CDP.D_DST_SURFACE_STRIDE"))
        << sample::kinds_of(report);
}

/// Sixteen atoms at `address` that an operation reads or writes.
CheckedOperation toucher(const char* name, std::uint64_t address, bool writes) {
    SurfaceUse use = surface_at(writes ? "result" : "source",
                                writes ? "NVDLA_SDP" : "NVDLA_PDP_RDMA", writes ? "DST" : "SRC");
    use.writes = writes;
    CheckedOperation operation;
    operation.name = name;
    operation.uses = {cube_use(use, packed_cube(Address(address), {8, 4, 4}, Bytes(8)))};
    return operation;
}

MemoryConfig dram() {
    return read_preset<MemoryConfig>(
        find_preset(std::filesystem::path(NPUSCOPE_SOURCE) / "configs", "memory", "dram_50"));
}

TEST(ExtentRules, WeightsThatAreTakenFromAResultAreFound) {
    const MemoryConfig memory = dram();
    for (const std::uint64_t weights_at : {0x80001000U, 0x80000000U}) {
        MemoryRules rules({.memory = memory, .zeroed = true});
        DiagnosticLog log;
        LoadMemory load;
        load.address = Address(0x80001000);
        load.image = raw_image(std::vector<std::uint8_t>(128, 1));
        rules.load(load, {}, log);
        rules.launch(toucher("sdp 0", 0x80000000, true), log);
        CheckedOperation conv;
        conv.name = "conv 1";
        SurfaceUse weights = surface_at("weights", "NVDLA_CDMA", "WEIGHT");
        weights.address_register = "D_WEIGHT_ADDR_LOW";
        weights.constant = true;
        weights.base = Address(weights_at);
        conv.uses = {with_runs(weights, {{weights.base, Bytes(128)}})};
        rules.launch(conv, log);
        const bool from_result = weights_at == 0x80000000U;
        ASSERT_EQ(log.findings().size(), from_result ? 1U : 0U);
        if (from_result) {
            EXPECT_EQ(log.findings()[0].id, "operand_kind");
            EXPECT_EQ(log.findings()[0].register_name, "NVDLA_CDMA.D_WEIGHT_ADDR_LOW_0");
        }
    }
}

TEST(ExtentRules, PartsOfOneSurfaceWithOtherStridesAreFound) {
    const MemoryConfig memory = dram();
    for (const std::uint64_t stride : {256U, 264U}) {
        MemoryRules rules({.memory = memory, .zeroed = true});
        DiagnosticLog log;
        LoadMemory load;
        load.address = Address(0x80000000);
        load.image = raw_image(std::vector<std::uint8_t>(512, 1));
        rules.load(load, {}, log);
        // 16 channels of 4 columns: two surfaces of 8 lines, read in two halves
        for (const std::uint64_t half : {0U, 1U}) {
            FeatureCube cube = packed_cube(Address(0x80000000 + half * 128), {16, 4, 4}, Bytes(8));
            cube.surface_stride = Bytes(half == 1 ? stride : 256);
            CheckedOperation operation;
            operation.name = fmt::format("pdp {}", half);
            operation.uses = {cube_use(surface_at("source", "NVDLA_PDP_RDMA", "SRC"), cube)};
            rules.launch(operation, log);
        }
        const bool told = std::ranges::any_of(
            log.findings(), [](const Diagnostic& one) { return one.id == "slice_offset"; });
        EXPECT_EQ(told, stride != 256);
    }
}

TEST(ExtentRules, ASurfaceInTheNextFileLeavesNoGapInTheFirst) {
    const MemoryConfig memory = dram();
    for (const std::uint64_t stride : {128U, 256U}) {
        MemoryRules rules({.memory = memory, .zeroed = true});
        DiagnosticLog log;
        std::array<LoadMemory, 2> loads;  // 16 channels of 4 x 4 each: two surfaces of 128 bytes
        for (std::size_t i = 0; i < loads.size(); ++i) {
            loads[i].address = Address(0x80000000 + i * 256);
            loads[i].image = raw_image(std::vector<std::uint8_t>(256, 1));
            rules.load(loads[i], {}, log);
        }
        for (std::size_t i = 0; i < loads.size(); ++i) {
            FeatureCube cube = packed_cube(loads[i].address, {16, 4, 4}, Bytes(8));
            cube.surface_stride = Bytes(i == 0 ? stride : 128);
            CheckedOperation operation;
            operation.name = fmt::format("pdp {}", i);
            operation.uses = {cube_use(surface_at("source", "NVDLA_PDP_RDMA", "SRC"), cube)};
            rules.launch(operation, log);
        }
        rules.report_unread(log);
        const bool told = std::ranges::any_of(
            log.findings(), [](const Diagnostic& one) { return one.id == "loaded_unread"; });
        EXPECT_EQ(told, stride == 256) << stride;
    }
}

TEST(ExtentRules, AnOperandOfWhichAnOperationWritesOnlyAPartIsFound) {
    const MemoryConfig memory = dram();
    for (const std::uint64_t by : {0U, 16U}) {
        MemoryRules rules({.memory = memory, .zeroed = true});
        DiagnosticLog log;
        rules.launch(toucher("sdp 0", 0x80000000, true), log);
        rules.launch(toucher("pdp 1", 0x80000000 + by, false), log);
        ASSERT_EQ(log.findings().size(), by == 0 ? 0U : 1U);
        if (by != 0) {
            EXPECT_EQ(log.findings()[0].id, "partly_written");
            EXPECT_EQ(log.findings()[0].register_name, "NVDLA_PDP_RDMA.D_SRC_BASE_ADDR_LOW_0");
            EXPECT_EQ(log.findings()[0].address, Address(0x80000080));
            EXPECT_TRUE(log.findings()[0].sentence.ends_with(" bytes that sdp 0 does not write"));
        }
    }
}

/// Changes the nth write of a register, counted from 1.
std::function<std::uint32_t(std::uint32_t)> nth(int number, std::uint32_t to) {
    return [number, to, count = 0](std::uint32_t value) mutable {
        return ++count == number ? to : value;
    };
}

TEST(ExtentRules, LinesThatNoPartOfASurfaceCoversAreFound) {
    Damaged good("rtl_reuse/row_tiles", "nv_small");
    const std::uint32_t first = sample::written(good.program, "NVDLA_CDMA.D_DAIN_ADDR_LOW_0");
    good.change("NVDLA_CDMA.D_DAIN_ADDR_LOW_0", nth(2, first));
    EXPECT_TRUE(sample::finds(good.checked(), "loaded_unread")) << sample::kinds_of(good.checked());
}

TEST(ExtentRules, AResultThatIsNeitherReadNorComparedIsFound) {
    Damaged good("rtl_reuse/row_tiles", "nv_small");
    good.change("NVDLA_SDP.D_DST_BASE_ADDR_LOW", nth(3, 0x80008000));
    EXPECT_TRUE(sample::finds(good.checked(), "result_unused", "NVDLA_SDP.D_DST_BASE_ADDR_LOW"))
        << sample::kinds_of(good.checked());
}

TEST(ExtentRules, PartsOfOneSurfaceThatAreNoWholeLinesApartAreFound) {
    Damaged good("rtl_reuse/row_tiles", "nv_small");
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    int count = 0;
    good.change("NVDLA_CDMA.D_DAIN_ADDR_LOW_0",
                [&](std::uint32_t address) { return ++count == 2 ? address + 8 : address; });
    EXPECT_TRUE(sample::finds(good.checked(), "slice_offset", "NVDLA_CDMA.D_DAIN_ADDR_LOW_0"))
        << sample::kinds_of(good.checked());
}

TEST(BankRules, InputsAndWeightsThatTheBanksDoNotHoldAreFound) {
    const auto with_banks = [](const char* program, const char* npu, std::uint32_t banks) {
        Damaged good(program, npu);
        for (const char* unit : {"NVDLA_CDMA", "NVDLA_CSC"}) {
            good.change(std::string(unit) + ".D_BANK", [&](std::uint32_t) { return banks; });
            good.change(std::string(unit) + ".D_ENTRY_PER_SLICE",
                        [](std::uint32_t value) { return value == 0x1f ? 511U : value; });
        }
        good.change("NVDLA_CSC.D_RELEASE", [](std::uint32_t) { return 0; });
        return good.checked();
    };
    const auto fields = [](const CheckReport& report) {
        std::string text;
        for (const Diagnostic& found : report.findings) {
            text += found.id == "banks_too_few" ? found.field + " " : "";
        }
        return text;
    };
    // two slices of 512 entries: one bank has 512
    EXPECT_EQ(fields(with_banks("rtl/pw_4x2x64_k64", "nv_small", 0x1d0000)), "DATA_BANK ");
    EXPECT_EQ(fields(with_banks("rtl/pw_4x2x64_k64", "nv_small", 0x1d0001)), "");
}

TEST(BankRules, AGroupOfKernelsFitsTheBanks) {
    Damaged good("rtl/pw_4x2x64_k64", "nv_small");
    for (const char* unit : {"NVDLA_CDMA", "NVDLA_CSC"}) {
        good.change(std::string(unit) + ".D_WEIGHT_BYTES", [](std::uint32_t) { return 0x10000; });
        good.change(std::string(unit) + ".D_BANK", [](std::uint32_t) { return 0x1; });
    }
    EXPECT_TRUE(sample::finds(good.checked(), "banks_too_few", "NVDLA_CDMA.D_BANK"))
        << sample::kinds_of(good.checked());
    // the operation fetches more than its kernels use, and more than there is
    EXPECT_TRUE(sample::finds(good.checked(), "uninitialised_read"))
        << sample::kinds_of(good.checked());
}

TEST(BankRules, ReleasedSlicesThatTheBanksDoNotHoldAreFound) {
    Damaged good("rtl/pw_4x2x64_k64", "nv_small");
    for (const char* unit : {"NVDLA_CDMA", "NVDLA_CSC"}) {
        good.change(std::string(unit) + ".D_ENTRY_PER_SLICE", [](std::uint32_t) { return 400; });
    }
    EXPECT_TRUE(sample::finds(good.checked(), "banks_too_few", "NVDLA_CDMA.D_BANK"))
        << sample::kinds_of(good.checked());
    for (const char* unit : {"NVDLA_CDMA", "NVDLA_CSC"}) {  // 32 banks have 512 entries each
        good.change(std::string(unit) + ".D_ENTRY_PER_SLICE", [](std::uint32_t) { return 0x3fff; });
    }
    EXPECT_TRUE(sample::finds(good.checked(), "banks_too_few", "NVDLA_CDMA.D_ENTRY_PER_SLICE"))
        << sample::kinds_of(good.checked());
}

TEST(EndRules, AResultThatIsComparedBeforeTheInterruptIsFound) {
    Damaged good("nv_full/pdp_i16_05", "nv_full");
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    ASSERT_GT(sample::leave_out<WaitForInterrupt>(good.program), 0);
    EXPECT_TRUE(sample::finds(good.checked(), "compared_early"))
        << sample::kinds_of(good.checked());
}

TEST(EndRules, ACheckWhoseIdNothingRaisesIsFound) {
    Damaged good("rtl/pw_4x2x64_k64", "nv_small");
    ASSERT_GT(sample::leave_out<NotifyOnInterrupt>(good.program), 0);
    const Diagnostic found = first_of(good.checked());
    EXPECT_EQ(found.id, "check_not_made");
    EXPECT_GT(found.place.line, 0U);
}

TEST(EndRules, AWaitForTheLineWhileEveryInterruptIsMaskedIsFound) {
    Damaged good("nv_full/pdp_i16_05", "nv_full");
    good.change("NVDLA_GLB.S_INTR_MASK", [](std::uint32_t) { return 0x3f03ff; });
    EXPECT_TRUE(sample::finds(good.checked(), "interrupt_masked", "NVDLA_GLB.S_INTR_MASK"))
        << sample::kinds_of(good.checked());
}

TEST(MoverRules, CopiesAreFollowedAndMustBeLaunched) {
    Damaged good("nv_full/bdma_2_3d", "nv_full");
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    EXPECT_EQ(good.checked().operations, 1U);
    good.change("NVDLA_BDMA.CFG_DST_ADDR_LOW", plus(0x10000));
    EXPECT_TRUE(sample::finds(good.checked(), "compares_no_result", "NVDLA_BDMA.CFG_DST_ADDR_LOW"))
        << sample::kinds_of(good.checked());
    Damaged idle("nv_full/bdma_2_3d", "nv_full");
    idle.change("NVDLA_BDMA.CFG_LAUNCH0", [](std::uint32_t) { return 0; });
    EXPECT_TRUE(sample::finds(idle.checked(), "never_starts", "NVDLA_BDMA.CFG_LAUNCH0"))
        << sample::kinds_of(idle.checked());
}

TEST(MoverRules, ReshapesOnTopOfTheirInputAreFound) {
    Damaged good("nv_full/rbk_split_i16_3", "nv_full");
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    const std::uint32_t input = sample::written(good.program, "NVDLA_RBK.D_DAIN_ADDR_LOW");
    good.change("NVDLA_RBK.D_DAOUT_ADDR_LOW", [&](std::uint32_t) { return input; });
    EXPECT_TRUE(sample::finds(good.checked(), "surface_overlap", "NVDLA_RBK.D_DAOUT_ADDR_LOW"))
        << sample::kinds_of(good.checked());
}

TEST(MoverRules, LinesThatLeaveRoomForOneMorePartAreFound) {
    Damaged good("nv_full/rbk_merge_f16_0", "nv_full");
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    good.change("NVDLA_RBK.D_DATAIN_SIZE_0", plus(0U - 1U));
    EXPECT_TRUE(sample::finds(good.checked(), "strides_apart", "NVDLA_RBK.D_DATAIN_SIZE_0"))
        << sample::kinds_of(good.checked());
}

TEST(MoverRules, PlanesWithPaddedLinesAreRight) {
    Damaged good("nv_full/rbk_split_i16_3", "nv_full");
    good.change("NVDLA_RBK.D_DATAIN_SIZE_0", [](std::uint32_t) { return 0x4002f; });
    good.change("NVDLA_RBK.D_DAIN_LINE_STRIDE", [](std::uint32_t) { return 48 * 32; });
    good.change("NVDLA_RBK.D_DAOUT_LINE_STRIDE", [](std::uint32_t) { return 128; });  // of 96
    EXPECT_FALSE(sample::finds(good.checked(), "strides_apart"))
        << sample::kinds_of(good.checked());
}

TEST(ExtentRules, ExpectedBytesThatNoOperationWritesAreFound) {
    Damaged good("nv_full/rbk_merge_f16_0", "nv_full");
    EXPECT_FALSE(sample::finds(good.checked(), "compares_no_result"));
    good.change("NVDLA_RBK.D_DATAIN_SIZE_0", [](std::uint32_t) { return 0; });
    EXPECT_TRUE(sample::finds(good.checked(), "compares_no_result"))
        << sample::kinds_of(good.checked());
}

TEST(ExtentRules, AdjacentInputsOfABatchAreLoadedWhole) {
    Damaged good("nv_full/batch_fc_i8_0", "nv_full");
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    for (Statement& statement : good.program.statements) {
        auto* load = std::get_if<LoadMemory>(&statement.action);
        if (load != nullptr && load->file == "input_feature_map_1.dat") {
            load->image.runs.resize(1);
            load->image.runs.front().size = 32;
        }
    }
    EXPECT_TRUE(sample::finds(good.checked(), "partly_loaded")) << sample::kinds_of(good.checked());
}

}  // namespace
}  // namespace npuscope
