// SPDX-License-Identifier: Apache-2.0
// Mistakes that drivers make, one at a time, in the bundled program of three layers: no run with
// one passes, and its output names the block and the register to look at.
#include <gmock/gmock-matchers.h>

#include <fstream>

#include "sim/config/file_io.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using sample::Answer;
using sample::typed;
using testing::HasSubstr;

struct Mistake {
    int layer;  ///< where `from` is searched for
    std::string from;
    std::string to;
    std::string told;  ///< `NVDLA_CDMA.D_BANK`: block and register that must be named
};

Mistake change(int layer, const std::string& name, const std::string& from, const std::string& to) {
    return {layer, "reg_write(" + name + "_0, " + from + ");",
            "reg_write(" + name + "_0, " + to + ");", name};
}

Mistake leave_out(int layer, const std::string& statement, const std::string& told) {
    return {layer, statement, "", told};
}

const fs::path example = fs::path(NPUSCOPE_SOURCE) / "configs/experiment/three_layers";

/// The program with one mistake, next to links to its files. `*` in a statement is any unit: all of
/// them are changed.
void write_program(const fs::path& folder, const Mistake& mistake) {
    std::string text = read_whole_file(example / "program.cfg");
    std::size_t at = mistake.layer == 1 ? 0
                                        : text.find(mistake.layer == 2 ? "// Layer 2 combines"
                                                                       : "// Layer 3 keeps");
    const std::size_t any = mistake.from.find('*');
    if (any == std::string::npos) {
        at = text.find(mistake.from, at);
        ASSERT_NE(at, std::string::npos) << mistake.from;
        text.replace(at, mistake.from.size(), mistake.to);
    } else {
        const std::string begin = mistake.from.substr(0, any);
        const std::string end = mistake.from.substr(any + 1);
        int changed = 0;
        for (at = text.find(begin, 0); at != std::string::npos; at = text.find(begin, at)) {
            const std::size_t line = text.find('\n', at);
            if (text.substr(at, line - at).ends_with(end)) {
                text.replace(at, line - at, mistake.to);
                ++changed;
            } else {
                at = line;
            }
        }
        ASSERT_GT(changed, 0) << mistake.from;
    }
    std::ofstream(folder / "program.cfg") << text;
    for (const fs::directory_entry& file : fs::directory_iterator(example)) {
        if (file.path().filename() != "program.cfg") {
            fs::create_symlink(file.path(), folder / file.path().filename());
        }
    }
}

void expect_named(const Answer& answer, const Mistake& mistake) {
    const std::string text = answer.out + answer.err;
    const std::size_t dot = mistake.told.find('.');
    EXPECT_THAT(text, HasSubstr(mistake.told.substr(0, dot)));
    EXPECT_THAT(text, HasSubstr(mistake.told.substr(dot + 1)));
}

Answer run_with(const Mistake& mistake) {
    const TempFolder folder;
    write_program(folder, mistake);
    return typed({"run", (folder / "program.cfg").string(), "--npu", "nv_small"});
}

TEST(DriverMistakes, NonePassesAndTheBlockAndRegisterAreNamed) {
    const std::vector<Mistake> mistakes{
        leave_out(1, "reg_write(NVDLA_SDP.D_OP_ENABLE_0, 0x1);", "NVDLA_SDP.D_OP_ENABLE"),
        leave_out(1, "reg_write(NVDLA_CACC.D_OP_ENABLE_0, 0x1);", "NVDLA_CACC.D_OP_ENABLE"),
        leave_out(1, "reg_write(NVDLA_CMAC_A.D_OP_ENABLE_0, 0x1);", "NVDLA_CMAC_A.D_OP_ENABLE"),
        leave_out(1, "reg_write(NVDLA_CMAC_B.D_OP_ENABLE_0, 0x1);", "NVDLA_CMAC_B.D_OP_ENABLE"),
        leave_out(1, "reg_write(NVDLA_CSC.D_OP_ENABLE_0, 0x1);", "NVDLA_CSC.D_OP_ENABLE"),
        leave_out(1, "reg_write(NVDLA_CDMA.D_OP_ENABLE_0, 0x1);", "NVDLA_CDMA.D_OP_ENABLE"),
        leave_out(2, "reg_write(NVDLA_SDP_RDMA.D_OP_ENABLE_0, 0x1);", "NVDLA_SDP_RDMA.D_OP_ENABLE"),
        leave_out(3, "reg_write(NVDLA_PDP_RDMA.D_OP_ENABLE_0, 0x1);", "NVDLA_PDP_RDMA.D_OP_ENABLE"),
        leave_out(3, "reg_write(NVDLA_PDP.D_OP_ENABLE_0, 0x1);", "NVDLA_PDP.D_OP_ENABLE"),
        change(2, "NVDLA_SDP.S_POINTER", "0x1", "0x0"),
        change(2, "NVDLA_CACC.S_POINTER", "0x1", "0x0"),
        change(2, "NVDLA_CSC.S_POINTER", "0x1", "0x0"),
        change(2, "NVDLA_CDMA.S_POINTER", "0x1", "0x0"),
        change(1, "NVDLA_GLB.S_INTR_MASK", "0x3f03cc", "0x3f03cf"),
        change(1, "NVDLA_GLB.S_INTR_MASK", "0x3f03cc", "0x3f03fc"),
        leave_out(3, "intr_notify(PDP_0, layer_3);", "NVDLA_PDP."),
        {2, "intr_notify(SDP_1, layer_2);", "intr_notify(SDP_0, layer_2);",
         "NVDLA_GLB.S_INTR_STATUS"},
        change(1, "NVDLA_CDMA.D_WEIGHT_ADDR_LOW", "0x80010000", "0x80010020"),
        change(1, "NVDLA_CDMA.D_WEIGHT_ADDR_LOW", "0x80010000", "0x80010004"),
        change(2, "NVDLA_CDMA.D_WEIGHT_ADDR_LOW", "0x80011000", "0x80018000"),
        change(1, "NVDLA_CDMA.D_DAIN_ADDR_LOW_0", "0x80000000", "0x80000100"),
        change(2, "NVDLA_CDMA.D_DAIN_ADDR_LOW_0", "0x80020000", "0x80030000"),
        {2, "reg_write(NVDLA_CDMA.D_DAIN_ADDR_LOW_0_0, 0x80020000);",
         "reg_write(NVDLA_CDMA.D_DAIN_ADDR_LOW_0_0, 0x20000000);", "NVDLA_CDMA.D_DAIN_ADDR"},
        change(2, "NVDLA_CDMA.D_DAIN_ADDR_HIGH_0", "0x0", "0x1"),
        change(1, "NVDLA_SDP.D_DST_BASE_ADDR_LOW", "0x80020000", "0x80020180"),
        change(2, "NVDLA_SDP.D_DST_BASE_ADDR_LOW", "0x80030000", "0x80020000"),
        change(1, "NVDLA_SDP.D_DST_LINE_STRIDE", "0x180", "0x1c0"),
        change(1, "NVDLA_SDP.D_DST_LINE_STRIDE", "0x180", "0x100"),
        change(1, "NVDLA_SDP.D_DST_LINE_STRIDE", "0x180", "0x184"),
        change(2, "NVDLA_SDP.D_DST_SURFACE_STRIDE", "0x4800", "0x4000"),
        change(1, "NVDLA_CDMA.D_LINE_STRIDE", "0xc0", "0x80"),
        change(2, "NVDLA_CDMA.D_LINE_STRIDE", "0x180", "0x200"),
        change(1, "NVDLA_CSC.D_BANK", "0x170007", "0x130007"),
        change(2, "NVDLA_CDMA.D_BANK", "0x170007", "0x1f0000"),
        change(2, "NVDLA_CDMA.D_ENTRY_PER_SLICE", "0x2f", "0x17"),
        change(2, "NVDLA_CSC.D_ENTRY_PER_SLICE", "0x2f", "0x17"),
        change(2, "NVDLA_CDMA.D_WEIGHT_BYTES", "0x480", "0x400"),
        change(2, "NVDLA_CSC.D_WEIGHT_BYTES", "0x480", "0x500"),
        change(2, "NVDLA_CDMA.D_WEIGHT_SIZE_1", "0xf", "0x7"),
        change(2, "NVDLA_CSC.D_WEIGHT_SIZE_EXT_0", "0x20002", "0x20001"),
        change(2, "NVDLA_CSC.D_ZERO_PADDING", "0x10001", "0x0"),
        change(2, "NVDLA_CSC.D_CONV_STRIDE_EXT", "0x0", "0x10001"),
        change(2, "NVDLA_CSC.D_ZERO_PADDING_VALUE", "0x0", "0x5"),
        change(2, "NVDLA_CSC.D_ATOMICS", "0x8ff", "0x87f"),
        change(2, "NVDLA_CDMA.D_DATAIN_SIZE_0", "0x2f002f", "0x2e002f"),
        change(2, "NVDLA_CDMA.D_DATAIN_SIZE_1", "0x7", "0xf"),
        change(2, "NVDLA_CACC.D_DATAOUT_SIZE_0", "0x2f002f", "0x2f002e"),
        change(2, "NVDLA_CSC.D_DATAOUT_SIZE_1", "0xf", "0x7"),
        change(2, "NVDLA_SDP.D_DATA_CUBE_WIDTH", "0x2f", "0x2e"),
        change(2, "NVDLA_SDP.D_DATA_CUBE_CHANNEL", "0xf", "0x7"),
        change(2, "NVDLA_CMAC_A.D_MISC_CFG", "0x0", "0x1000"),
        change(2, "NVDLA_CDMA.D_MISC_CFG", "0x0", "0x1100"),
        change(2, "NVDLA_SDP.D_FEATURE_MODE_CFG", "0x1", "0x0"),
        change(2, "NVDLA_SDP_RDMA.D_BRDMA_CFG", "0x2a", "0x2b"),
        change(2, "NVDLA_SDP_RDMA.D_BRDMA_CFG", "0x2a", "0x22"),
        change(2, "NVDLA_SDP_RDMA.D_BS_BASE_ADDR_LOW", "0x80012000", "0x80012040"),
        change(2, "NVDLA_SDP.D_CVT_SHIFT", "0x9", "0x8"),
        change(2, "NVDLA_SDP.D_DP_BS_CFG", "0x18", "0x58"),
        change(1, "NVDLA_CDMA.D_DATAIN_FORMAT", "0xc01", "0xc00"),
        change(1, "NVDLA_CDMA.D_MEAN_GLOBAL_0", "0x800080", "0x400040"),
        change(3, "NVDLA_PDP.D_POOLING_KERNEL_CFG", "0x110101", "0x110202"),
        change(3, "NVDLA_PDP.D_DATA_CUBE_OUT_WIDTH", "0x17", "0x18"),
        change(3, "NVDLA_PDP_RDMA.D_SRC_BASE_ADDR_LOW", "0x80030000", "0x80031000"),
        change(3, "NVDLA_PDP_RDMA.D_DATA_CUBE_IN_WIDTH", "0x2f", "0x2e"),
        change(3, "NVDLA_PDP.D_OPERATION_MODE_CFG", "0x11", "0x10"),
        leave_out(1, R"(mem_load(pri_mem, 0x80010000, "weights_1.dat");)", "NVDLA_CDMA.D_WEIGHT"),
        leave_out(2, "sync_wait(*, layer_1);", "NVDLA_CDMA.D_DAIN_ADDR_LOW_0"),
        leave_out(2, "sync_wait(*, layer_2);", "NVDLA_PDP_RDMA.D_SRC_BASE_ADDR_LOW"),
    };
    EXPECT_GE(mistakes.size(), 60U);
    for (const Mistake& mistake : mistakes) {
        SCOPED_TRACE(mistake.from + " -> " + mistake.to);
        const Answer answer = run_with(mistake);
        EXPECT_NE(answer.code, ExitCode::Good) << answer.out;
        EXPECT_NE(answer.code, ExitCode::Bug);
        expect_named(answer, mistake);
    }
}

/// The values are right all the same: silicon may differ, or does not use the register.
TEST(DriverMistakes, WhatComputesTheSameIsAWarning) {
    for (const Mistake& mistake :
         {leave_out(1, "poll_reg_equal(NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0, 0x1);",
                    "NVDLA_CDMA.S_CBUF_FLUSH_STATUS"),
          change(2, "NVDLA_CDMA.D_ZERO_PADDING", "0x1010101", "0x0"),
          change(2, "NVDLA_CDMA.D_CONV_STRIDE", "0x0", "0x10001")}) {
        SCOPED_TRACE(mistake.from + " -> " + mistake.to);
        const Answer answer = run_with(mistake);
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.out;
        EXPECT_THAT(answer.out, HasSubstr("warning"));
        expect_named(answer, mistake);
    }
}

}  // namespace
}  // namespace npuscope
