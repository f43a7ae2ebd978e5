// SPDX-License-Identifier: Apache-2.0
#include "sim/config/limits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/config/preset.h"
#include "tests/sim/command_line/typed.h"

namespace npuscope {
namespace {

using sample::Answer;
using sample::typed;

const std::string lenet = std::string(NPUSCOPE_SOURCE) + "/configs/workload/lenet.yaml";

Answer timed(const std::string& npu, const std::vector<std::string>& changes) {
    std::vector<std::string> arguments{"run", lenet, "--npu", npu, "--values", "off"};
    for (const std::string& change : changes) {
        arguments.insert(arguments.end(), {"--set", change});
    }
    return typed(arguments);
}

/// What a refusal proposes, `npu.cbuf.banks=32`.
std::string proposal(const std::string& message) {
    const std::size_t npu = message.find("npu.", message.find("nearest legal"));
    return message.substr(npu, message.find_first_of(" )\n", npu) - npu);
}

TEST(Limits, EveryPresetKeepsThem) {
    for (const std::string& preset : list_presets(configs_folder(), "npu")) {
        if (preset != "tinpu_f28p55") {  // takes no such network
            const Answer answer = timed(preset, {});
            EXPECT_EQ(answer.code, ExitCode::Good) << preset << answer.err;
        }
    }
}

TEST(Limits, AFieldOutsideItsRangeIsRefusedWithTheNearestValueThatRuns) {
    for (const char* field :
         {"npu.datapath.atomic_c", "npu.datapath.memory_atom", "npu.mcif.bus_width",
          "npu.cbuf.banks", "npu.cbuf.bank_width", "npu.cbuf.bank_depth", "npu.sdp.beat_group",
          "npu.cdma.request_atoms", "npu.csc.stripe_groups", "npu.pdp.throughput",
          "npu.pdp.line_buffer_bank_atoms", "npu.sdp.bs_throughput", "npu.sdp.operand_fifo",
          "npu.sdp.output_throughput", "npu.cacc.buffered_groups"}) {
        const Answer refused = timed("nv_small", {std::string(field) + "=0"});
        EXPECT_EQ(refused.code, ExitCode::WrongInput) << field;
        EXPECT_NE(refused.err.find(field), std::string::npos) << refused.err;
        EXPECT_NE(refused.err.find(limit_text(field)), std::string::npos) << refused.err;
        EXPECT_NE(timed("nv_small", {proposal(refused.err)}).code, ExitCode::Bug) << refused.err;
    }
}

TEST(Limits, ABrokenRelationNamesBothFieldsAndALegalNeighbour) {
    const Answer refused = timed("nv_small", {"npu.datapath.memory_atom=32"});
    EXPECT_EQ(refused.code, ExitCode::WrongInput);
    EXPECT_NE(refused.err.find("npu.datapath.atomic_k"), std::string::npos) << refused.err;
    EXPECT_EQ(timed("nv_small", {"npu.datapath.memory_atom=32", proposal(refused.err)}).code,
              ExitCode::Good)
        << refused.err;
}

TEST(Limits, GroupsOfMoreOrFewerKernelsThanAnAtomHoldsAreRefused) {
    for (const char* preset : {"nv_small", "nv_large", "nv_full"}) {
        const bool small = std::string(preset) == "nv_small";
        for (const char* cells : {"16", small ? "32" : "64"}) {
            const std::string change = std::string("npu.datapath.atomic_k=") + cells;
            EXPECT_EQ(timed(preset, {change}).code, ExitCode::WrongInput) << preset << change;
            const std::string atom = std::string("npu.datapath.memory_atom=") + cells;
            EXPECT_EQ(timed(preset, {change, atom, "npu.mcif.bus_width=16"}).code, ExitCode::Good)
                << preset << change;
        }
    }
}

}  // namespace
}  // namespace npuscope
