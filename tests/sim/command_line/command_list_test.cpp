// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/sim/command_line/typed.h"

namespace npuscope {
namespace {

using sample::typed;

std::string listed(const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"list"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const sample::Answer answer = typed(all);
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    return answer.out;
}

TEST(CommandList, PresetsOfBothKinds) {
    const std::string text = listed({"presets"});
    EXPECT_NE(text.find("npu     nv_small\n"), std::string::npos);
    EXPECT_NE(text.find("memory  ideal\n"), std::string::npos);
    EXPECT_EQ(listed({"presets", "nv_l"}), "npu     nv_large\n");
}

TEST(CommandList, FieldsHaveTypeDefaultAndSentence) {
    EXPECT_EQ(listed({"fields", "npu.cbuf.banks"}),
              "npu.cbuf.banks\n"
              "    integer; default 32; 2 to 32\n"
              "    banks, each given to data or to weights by D_BANK\n");
    EXPECT_NE(listed({"fields", "memory."}).find("memory.regions[].base\n"), std::string::npos);
}

TEST(CommandList, RegistersOfEitherMap) {
    EXPECT_TRUE(listed({"registers", "NVDLA_CDMA.D_OP_ENABLE"})
                    .starts_with("0x3010  NVDLA_CDMA.D_OP_ENABLE_0\n        OP_EN 0"));
    EXPECT_NE(listed({"registers", "NVDLA_CDMA.D_OP_ENABLE", "--map", "nv_full"}),
              listed({"registers", "NVDLA_CDMA.D_OP_ENABLE"}));
    EXPECT_EQ(listed({"registers", "NVDLA_CDMA.D_OP_ENABLE", "--map", "nv_full"}),
              listed({"registers", "NVDLA_CDMA.D_OP_ENABLE", "--npu", "nv_full"}));
    EXPECT_NE(
        listed({"fields", "npu.engine", "--npu", "tinpu_f28p55"}).find("npu.engine.launch_queue"),
        std::string::npos);
    EXPECT_NE(listed({"registers", "TINPU.S", "--npu", "tinpu_f28p55"})
                  .find("0x0010  TINPU.START\n        EN 0\n"),
              std::string::npos);
}

TEST(CommandList, LayoutsAreTheCubeTheWeightsAndThePixelFormats) {
    const std::string text = listed({"layouts"});
    EXPECT_NE(text.find("feature "), std::string::npos);
    EXPECT_NE(text.find("weight_dc "), std::string::npos);
    EXPECT_NE(text.find("T_A8B8G8R8 "), std::string::npos);
}

TEST(CommandList, RulesHaveSeveritySentenceAndSource) {
    const std::string text = listed({"rules", "register_in"});
    EXPECT_TRUE(text.starts_with("register_in_use         error    check, run\n")) << text;
    EXPECT_NE(text.find("    source: nv_small RTL"), std::string::npos);
    EXPECT_TRUE(listed({"rules", "--markdown"}).starts_with("# Rules\n"));
}

TEST(CommandList, UnknownTopicOrMapIsRefused) {
    EXPECT_EQ(typed({"list", "preset"}).err,
              "npuscope: nothing to list under 'preset' (did you mean 'presets'?)\n");
    EXPECT_EQ(typed({"list", "registers", "--map", "nv_smal"}).err,
              "npuscope: unknown address map 'nv_smal' (did you mean 'nv_small'?)\n");
}

}  // namespace
}  // namespace npuscope
