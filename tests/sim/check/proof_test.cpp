// SPDX-License-Identifier: Apache-2.0
// Every unit's results are those of reference operators, and what differs is found: an altered byte
// of the machine's, operands other than those the machine had.
#include "sim/check/proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"
#include "sim/run/session.h"
#include "tests/sim/check/damaged_program.h"
#include "tests/support/reference_data.h"

namespace npuscope::proof_test {
namespace {

namespace fs = std::filesystem;

struct Row {
    const char* preset;
    const char* program;
    const char* unit;  ///< where its results begin
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.program; }

constexpr Row rows[] = {
    {"nv_small", "rtl/dw_7x7x8_p1", "conv"},
    {"nv_small", "rtl/img_28x28_k20_5x5", "conv"},
    {"nv_small", "rtl/pdp_8x8x64_avg8", "pdp"},
    {"nv_small", "rtl/sdp_1x1x800", "sdp"},
    {"nv_small", "rtl_reuse/row_tiles", "conv"},
    {"nv_small", "rtl_reuse/whole_then_lines", "conv"},
    {"nv_full", "nv_full/batch_fc_i8_0", "conv"},
    {"nv_full", "nv_full/bdma_2_3d", "bdma"},
    {"nv_full", "nv_full/cdp_f16_0", "cdp"},
    {"nv_full", "nv_full/conv_i16_00", "conv"},
    {"nv_full", "nv_full/convf16_wide_0", "conv"},
    {"nv_full", "nv_full/img_Y16_U16V16_N444_i8", "conv"},
    {"nv_full", "nv_full/pdp_f16_05", "pdp"},
    {"nv_full", "nv_full/pdp_i16_05", "pdp"},
    {"nv_full", "nv_full/rbk_merge_f16_0", "rubik"},
    {"nv_full", "nv_full/rbk_split_i16_3", "rubik"},
    {"nv_full", "nv_full/sdp_ew_f16_3", "sdp"},
    {"nv_full", "nv_full/sdpcvt_f16_f16_i16_4", "sdp"},
    {"nv_full", "nv_full/wino_i8_9_pra1", "conv"},
    {"nv_full", "nv_full/wmb_i8_s030_6_comp", "conv"},
    {"nv_full", "nv_full/yext_1_R8_i8_y2", "conv"},
};

class Proof : public testing::TestWithParam<Row> {
 protected:
    static fs::path source() { return NPUSCOPE_SOURCE; }

    void SetUp() override {
        nvdla_npu(system_) =
            read_preset<NpuConfig>(find_preset(source() / "configs", "npu", GetParam().preset));
        system_.memory =
            read_preset<MemoryConfig>(find_preset(source() / "configs", "memory", "dram_50"));
        const NpuConfig& npu = nvdla_npu(system_);
        program_ = read_program(source() / "tests/golden" / GetParam().program,
                                RegisterNames(nvdla_register_blocks(npu.csb.address_map)));
    }
    std::vector<ProvedResult> plain(const Program& program) const {
        return plain_results(program, {nvdla_npu(system_), system_.memory}, false);
    }
    /// What the machine leaves, for each result.
    std::vector<std::vector<std::uint8_t>> machine(const std::vector<ProvedResult>& results) const {
        RunOptions options;
        for (const ProvedResult& result : results) {
            options.keep.push_back({result.surface->extent(), result.after});
        }
        return run_program(program_, system_, options).kept;
    }

    SystemConfig system_ = nvdla_system();
    Program program_;
};

TEST_P(Proof, HoldsForWhatTheMachineLeaves) {
    std::vector<ProvedResult> results = plain(program_);
    ASSERT_FALSE(results.empty());
    const auto bytes = machine(results);
    for (std::size_t i = 0; i < results.size(); ++i) {
        hold_against(results[i], bytes[i]);
        EXPECT_TRUE(results[i].proved()) << results[i].meaning << results[i].unproved;
        EXPECT_GT(results[i].elements, 0U);
        EXPECT_EQ(results[i].unit, GetParam().unit);
        EXPECT_NE(results[i].meaning.find(" -> "), std::string::npos) << results[i].meaning;
    }
    EXPECT_TRUE(proof_findings(results).empty());
}

TEST_P(Proof, FindsAByteThatIsAltered) {
    std::vector<ProvedResult> results = plain(program_);
    auto bytes = machine(results);
    ProvedResult& result = results.front();
    const PlainSurface& surface = *result.surface;
    const SurfacePlace altered{static_cast<std::uint32_t>(surface.batches.size()) - 1,
                               surface.shape.channels - 1, surface.shape.height - 1,
                               surface.shape.width - 1};
    const Address address = surface.address(altered);
    bytes.front()[(address - surface.extent().address).value] ^= 1U;
    hold_against(result, bytes.front());
    ASSERT_TRUE(result.difference);
    EXPECT_EQ(result.difference->elements, 1U);
    EXPECT_EQ(result.difference->first, altered);
    EXPECT_EQ(result.difference->address, address);
    const Diagnostics findings = proof_findings(results);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings.front().id, "result_differs");
    EXPECT_EQ(findings.front().severity, Severity::Error);
}

TEST_P(Proof, FindsOperandsThatTheMachineDidNotHave) {
    Program other = program_;
    for (Statement& statement : other.statements) {
        if (auto* load = std::get_if<LoadMemory>(&statement.action)) {
            std::ranges::reverse(load->image.bytes);
        }
    }
    std::vector<ProvedResult> results = plain(other);
    const auto bytes = machine(results);
    bool found = false;
    for (std::size_t i = 0; i < results.size(); ++i) {
        hold_against(results[i], bytes[i]);
        found = found || results[i].difference.has_value();
    }
    EXPECT_TRUE(found);
}

INSTANTIATE_TEST_SUITE_P(EveryUnit, Proof, testing::ValuesIn(rows),
                         [](const testing::TestParamInfo<Row>& row) {
                             return fs::path(row.param.program).filename().string();
                         });

class ProofOfOneProgram : public Proof {};

TEST_P(ProofOfOneProgram, SaysWhatTheRegistersDescribe) {
    EXPECT_EQ(plain(program_).front().meaning,
              "64x8x8 int8 at 0x80000000 -> average of 8x8, stride 1 -> 64x1x1 int8 at 0xa0000000");
}

TEST_P(ProofOfOneProgram, IsNotGivenWhereRegistersMakeNoOperation) {
    const auto wider = [](std::uint32_t value) { return value + 1; };
    ASSERT_EQ(sample::change_writes(program_, "NVDLA_PDP.D_DATA_CUBE_OUT_WIDTH", wider), 1);
    const std::vector<ProvedResult> results = plain(program_);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_FALSE(results.front().proved());
    EXPECT_FALSE(results.front().surface);
    const Diagnostics findings = proof_findings(results);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings.front().id, "not_proved");
    EXPECT_EQ(findings.front().severity, Severity::Note);
}

INSTANTIATE_TEST_SUITE_P(Pooling, ProofOfOneProgram, testing::Values(rows[2]));

/// Inserts a write before the one that enables the SDP.
void add_write(Program& program, const std::string& name, std::uint32_t value) {
    const RegisterNames names(nvdla_register_blocks(AddressMap::NvFull));
    const auto enable = std::ranges::find_if(program.statements, [](const Statement& statement) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        return write != nullptr && write->name == "NVDLA_SDP.D_OP_ENABLE_0";
    });
    ASSERT_NE(enable, program.statements.end());
    program.statements.insert(enable,
                              {{}, WriteRegister{name, names.address(name).value(), value}});
}

TEST(ProofOfBatches, ACubePerBatchIsCombinedWithOneOperandPerElement) {
    const fs::path source = NPUSCOPE_SOURCE;
    const fs::path folder = reference_data(source) / "nv_full/vectors/batch_i8_0";
    if (!fs::exists(folder)) {
        GTEST_SKIP() << "no reference data";
    }
    SystemConfig system = nvdla_system();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(source / "configs", "npu", "nv_full"));
    system.memory = read_preset<MemoryConfig>(find_preset(source / "configs", "memory", "dram_50"));
    Program program =
        read_program(folder, RegisterNames(nvdla_register_blocks(AddressMap::NvFull)));
    // the ALU of BS adds a part of the first input, element by element
    sample::change_writes(program, "NVDLA_SDP.D_DP_BS_CFG", [](auto) { return 0x58U; });
    sample::change_writes(program, "NVDLA_SDP.D_DP_BS_ALU_CFG", [](auto) { return 0x1U; });
    sample::change_writes(program, "NVDLA_SDP_RDMA.D_BRDMA_CFG", [](auto) { return 0x32U; });
    add_write(program, "NVDLA_SDP_RDMA.D_BS_BASE_ADDR_LOW_0", 0x80000000);
    add_write(program, "NVDLA_SDP_RDMA.D_BS_LINE_STRIDE_0", 0x80);
    add_write(program, "NVDLA_SDP_RDMA.D_BS_SURFACE_STRIDE_0", 0x100);
    add_write(program, "NVDLA_SDP_RDMA.D_OP_ENABLE_0", 1);
    std::vector<ProvedResult> results =
        plain_results(program, {nvdla_npu(system), system.memory}, false);
    ASSERT_EQ(results.size(), 1U);
    RunOptions options;
    options.keep.push_back({results.front().surface->extent(), results.front().after});
    hold_against(results.front(), run_program(program, system, options).kept.front());
    EXPECT_TRUE(results.front().proved()) << results.front().unproved;
    EXPECT_EQ(results.front().elements, 512U);
}

TEST(ProofOfFloats, SaysNothingOfRegistersThatFp16Ignores) {
    const auto meaning = [](const char* program, std::initializer_list<const char*> names) {
        sample::Damaged damaged(program, "nv_full");
        for (const char* const name : names) {
            damaged.change(name, [](std::uint32_t) { return 5; });
        }
        return plain_results(damaged.program, damaged.target(), false).front().meaning;
    };
    const std::string sdp = meaning("nv_full/sdp_ew_f16_3",
                                    {"NVDLA_SDP.D_CVT_OFFSET", "NVDLA_SDP.D_CVT_SCALE",
                                     "NVDLA_SDP.D_CVT_SHIFT", "NVDLA_SDP.D_DP_EW_TRUNCATE_VALUE"});
    EXPECT_NE(sdp.find(" -> * -0.75, + 3.25 -> "), std::string::npos) << sdp;
    const std::string cdp =
        meaning("nv_full/cdp_f16_0", {"NVDLA_CDP.D_DATIN_OFFSET", "NVDLA_CDP.D_DATOUT_SCALE"});
    EXPECT_EQ(cdp.find("converted"), std::string::npos) << cdp;
}

}  // namespace
}  // namespace npuscope::proof_test
