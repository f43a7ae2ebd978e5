// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/check/check_report.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/plan_program.h"
#include "tests/sim/check/damaged_program.h"
#include "tests/sim/compile/nvdla/sample_networks.h"

namespace npuscope {
namespace {

using sample::finds;
using sample::kinds_of;

class ProgramCheckTest : public testing::Test {
 protected:
    CheckReport checked() const { return check_program(program_, {target_.npu, target_.memory}); }
    /// The statement of one kind that comes `nth`, counted from 0, disappears.
    template <class Action>
    void remove(std::size_t nth) {
        for (auto at = program_.statements.begin(); at != program_.statements.end(); ++at) {
            if (std::holds_alternative<Action>(at->action) && nth-- == 0) {
                program_.statements.erase(at);
                return;
            }
        }
        FAIL() << "no such statement";
    }

    PlanTarget target_;
    Program program_ = plan_program(plan_network(sample::mixed_network(), target_));
};

TEST_F(ProgramCheckTest, APlannedNetworkHoldsNoMistake) {
    const CheckReport report = checked();
    EXPECT_TRUE(report.findings.empty()) << kinds_of(report);
    EXPECT_GT(report.operations, 20U);
}

TEST_F(ProgramCheckTest, WaitsThatAreLeftOutAreMissed) {
    const Program whole = program_;
    const int waits = sample::leave_out<SyncWait>(program_);
    for (int kept = 0; kept < waits; ++kept) {
        program_ = whole;
        sample::leave_out<SyncWait>(program_, kept);
        const CheckReport report = checked();
        EXPECT_TRUE(finds(report, "race") || finds(report, "register_in_use"))
            << "with " << kept << " waits\n"
            << kinds_of(report);
    }
}

TEST_F(ProgramCheckTest, ARefusedConvolutionLeavesLaterPairsAsTheyAre) {
    const auto write = std::ranges::find_if(program_.statements, [](const Statement& one) {
        const auto* action = std::get_if<WriteRegister>(&one.action);
        return action != nullptr && action->name == "NVDLA_CDMA.D_DATAIN_FORMAT_0";
    });
    ASSERT_NE(write, program_.statements.end());
    std::get<WriteRegister>(write->action).value |= 0x3f01;  // pixels of a format that is not there
    const CheckReport report = checked();
    EXPECT_TRUE(finds(report, "register_value")) << kinds_of(report);
    EXPECT_FALSE(finds(report, "shape_mismatch")) << kinds_of(report);
    EXPECT_FALSE(finds(report, "surface_overlap")) << kinds_of(report);
}

TEST_F(ProgramCheckTest, EveryImageThatIsNotLoadedIsMissed) {
    const Program whole = program_;
    std::size_t loads = 0;
    for (const Statement& statement : whole.statements) {
        loads += std::holds_alternative<LoadMemory>(statement.action) ? 1U : 0U;
    }
    for (std::size_t i = 0; i < loads; ++i) {
        program_ = whole;
        remove<LoadMemory>(i);
        EXPECT_TRUE(finds(checked(), "uninitialised_read")) << "load " << i;
    }
}

TEST_F(ProgramCheckTest, AGroupThatIsUsedTwiceInARowIsFound) {
    ASSERT_GT(
        sample::change_writes(program_, "NVDLA_SDP.S_POINTER", [](std::uint32_t) { return 0; }), 0);
    const CheckReport report = checked();
    EXPECT_TRUE(finds(report, "register_in_use") || finds(report, "never_starts"))
        << kinds_of(report);
}

TEST_F(ProgramCheckTest, ABlockThatIsNeverEnabledLeavesItsPipelineWaiting) {
    ASSERT_GT(
        sample::change_writes(program_, "NVDLA_CACC.D_OP_ENABLE", [](std::uint32_t) { return 0; }),
        0);
    EXPECT_TRUE(finds(checked(), "never_starts", "NVDLA_CACC.D_OP_ENABLE"));
}

TEST_F(ProgramCheckTest, AStrideThatItsReaderDoesNotShareIsFound) {
    bool first = true;
    sample::change_writes(program_, "NVDLA_SDP.D_DST_LINE_STRIDE", [&](std::uint32_t stride) {
        return std::exchange(first, false) ? stride + 8 : stride;
    });
    const CheckReport report = checked();
    EXPECT_FALSE(report.clean());
    EXPECT_TRUE(finds(report, "stride_mismatch") || finds(report, "uninitialised_read") ||
                finds(report, "lines_overlap"))
        << kinds_of(report);
}

TEST_F(ProgramCheckTest, SizesThatContradictEachOtherNameBothRegisters) {
    sample::change_writes(program_, "NVDLA_CSC.D_WEIGHT_BYTES",
                          [](std::uint32_t bytes) { return bytes + 128; });
    EXPECT_TRUE(finds(checked(), "register_mismatch", "NVDLA_CDMA.D_WEIGHT_BYTES"));
}

TEST_F(ProgramCheckTest, SurfacesOutsideMemoryAreFound) {
    sample::change_writes(program_, "NVDLA_CDMA.D_WEIGHT_ADDR_LOW",
                          [](std::uint32_t) { return 0x1000; });
    const CheckReport report = checked();
    EXPECT_TRUE(finds(report, "out_of_bounds", "NVDLA_CDMA.D_WEIGHT_ADDR_LOW")) << kinds_of(report);
}

TEST_F(ProgramCheckTest, LinesAfterThePdpsLastWindowAreFoundWhereAPoolingFollows) {
    const Network network = parse_network(R"(
name: pools
input: {channels: 8, height: 12, width: 9}
layers:
  - {name: first, kind: max_pool, kernel: 3, stride: 2}
  - {name: second, kind: max_pool, kernel: 2, stride: 1}
)",
                                          "pools.yaml");
    program_ = plan_program(plan_network(network, target_));
    EXPECT_TRUE(checked().findings.empty()) << kinds_of(checked());
    // all twelve lines of the first pooling, of which the last window leaves one
    for (const char* name :
         {"NVDLA_PDP.D_DATA_CUBE_IN_HEIGHT", "NVDLA_PDP_RDMA.D_DATA_CUBE_IN_HEIGHT"}) {
        sample::change_writes(program_, name,
                              [](std::uint32_t lines) { return lines == 10 ? 11 : lines; });
    }
    const CheckReport report = checked();
    ASSERT_EQ(report.findings.size(), 1U) << kinds_of(report);
    EXPECT_EQ(report.findings[0].id, "lines_left");
    EXPECT_EQ(report.findings[0].register_name, "NVDLA_PDP.D_DATA_CUBE_IN_HEIGHT_0");
    EXPECT_NE(report.findings[0].sentence.find("pdp 1 after it"), std::string::npos)
        << report.findings[0].sentence;
}

TEST_F(ProgramCheckTest, LinesThatAStrideLeavesBetweenTilesAreNoFinding) {
    const Network network = parse_network(R"(
name: strides
input: {channels: 10, height: 29, width: 35}
layers:
  - {name: first, kind: conv, kernels: 10, kernel: 5, padding: 2}
  - {name: second, kind: conv, kernels: 17, kernel: 1, stride: 3}
)",
                                          "strides.yaml");
    program_ = plan_program(plan_network(network, target_));
    EXPECT_TRUE(checked().findings.empty()) << kinds_of(checked());
}

TEST_F(ProgramCheckTest, TheLastLineOfEachPlaneOfPixelsMayLieAfterTheLastWindow) {
    const Network network = parse_network(R"(
name: planes
input: {channels: 3, height: 64, width: 64, layout: T_Y8___U8V8_N444, type: uint8}
layers:
  - {name: first, kind: conv, kernels: 16, kernel: 3, stride: 2}
)",
                                          "planes.yaml");
    program_ = plan_program(plan_network(network, target_));
    EXPECT_TRUE(checked().findings.empty()) << kinds_of(checked());
}

TEST_F(ProgramCheckTest, LinesOfPixelsMayLieAfterTheOnlyOneThatWindowsReach) {
    const Network network = parse_network(R"(
name: one_line
input: {channels: 4, height: 2, width: 3, layout: T_A8B8G8R8, type: int8}
layers:
  - {name: first, kind: conv, kernels: 16, kernel: 1, stride: 3}
)",
                                          "one_line.yaml");
    program_ = plan_program(plan_network(network, target_));
    EXPECT_TRUE(checked().findings.empty()) << kinds_of(checked());
    // with this stride the second line is not used
    sample::change_writes(program_, "NVDLA_CDMA.D_LINE_STRIDE", [](std::uint32_t) { return 0U; });
    const CheckReport report = checked();
    ASSERT_EQ(report.findings.size(), 1U) << kinds_of(report);
    EXPECT_EQ(report.findings[0].id, "loaded_unread");
}

TEST_F(ProgramCheckTest, EveryFindingNamesWhereToLookAndWhatToDo) {
    sample::change_writes(program_, "NVDLA_SDP.D_DST_BASE_ADDR_LOW",
                          [](std::uint32_t address) { return address + 4; });
    const CheckReport report = checked();
    ASSERT_FALSE(report.findings.empty());
    for (const Diagnostic& found : report.findings) {
        EXPECT_FALSE(found.remedy.empty()) << found.sentence;
        EXPECT_FALSE(found.sentence.empty());
        EXPECT_TRUE(found.address || !found.register_name.empty()) << found.sentence;
    }
}

}  // namespace
}  // namespace npuscope
