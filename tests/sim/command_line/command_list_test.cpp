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
    EXPECT_NE(text.find("npu     tinpu_f28p55          150 MHz\n"), std::string::npos);
    EXPECT_NE(text.find("memory  ideal "), std::string::npos);
    EXPECT_EQ(
        listed({"presets", "nv_l"}),
        "npu     nv_large              1 GHz, 2048 multipliers, 512 KiB of buffer, bus of 32 B\n");
    EXPECT_EQ(
        listed({"presets", "kl520"}),
        "npu     kl520                 stand-ins: 1 GHz, 512 multipliers, 512 KiB of buffer, bus "
        "of 16 B\n");
}

TEST(CommandList, MemoriesHaveBandwidthAndLatency) {
    EXPECT_EQ(listed({"memories", "ddr4_3"}),
              "ddr4_3200         25.6 GB/s, open row 13.8 ns, closed row 27.5 ns, controller 20 "
              "cycles\n");
    EXPECT_EQ(listed({"memories", "dram_50_slow", "--npu", "nv_large"}),
              "dram_50_slow      8 GB/s on the bus of nv_large (4 cycles a beat), latency 50 "
              "cycles\n");
}

TEST(CommandList, NetworksHaveLayersMacsAndWeights) {
    EXPECT_EQ(listed({"networks", "len"}),
              "  network  input    layers     MACs  bytes of weights\n"
              "  lenet    1x32x32       7  416,520            61,470\n");
}

TEST(CommandList, ExperimentsSayWhatTheyShow) {
    EXPECT_EQ(listed({"experiments", "three"}),
              "three_layers          two convolutions and a pooling on a picture, as a driver "
              "programs them\n");
}

TEST(CommandList, FieldsAreThoseOfEveryFile) {
    const std::string text = listed({"fields"});
    for (const char* name :
         {"npu.family\n", "npu.engine.launch_queue (family tinpu)\n", "memory.read_latency\n",
          "host.cycles_per_mac\n", "network.layers[].kernel\n", "image.surfaces[].layout\n",
          "experiment.run.max_cycles\n"}) {
        EXPECT_NE(text.find(name), std::string::npos) << name;
    }
    EXPECT_EQ(listed({"fields", "network.layers[].stride"}).substr(0, 58),
              "network.layers[].stride\n    integer; default 1; 1 to 65536");
    EXPECT_NE(listed({"fields", "experiment.program"}).find("    text; required\n"),
              std::string::npos);
}

TEST(CommandList, FieldsHaveTypeDefaultAndSentence) {
    EXPECT_EQ(listed({"fields", "npu.cbuf.banks"}),
              "npu.cbuf.banks\n"
              "    integer; default 32; 2 to 1024\n"
              "    banks, each given to data or to weights by D_BANK\n"
              "    relation: the fields of D_BANK allow up to 32 banks, unless npu.csb.wide_fields "
              "is set\n");
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

TEST(CommandList, OperatorsHaveInputsAndAttributes) {
    EXPECT_EQ(listed({"operators", "Cli"}),
              "Clip                                    1 to 3 inputs; max min\n");
    EXPECT_EQ(listed({"operators", "Ad"}), "Add                                     2 inputs\n");
    EXPECT_EQ(listed({"operators", "Con"}).substr(0, 60),
              "Concat                                  1 or more inputs; ax");
    EXPECT_EQ(listed({"operators", "Bern"}),
              "Bernoulli                               by its shape alone, with --values off\n");
    EXPECT_EQ(listed({"operators", "Rot"}),
              "RotaryEmbedding                         read as the operators that it stands for\n");
    EXPECT_NE(listed({"operators", "com."}).find("com.microsoft.Gelu "), std::string::npos);
    EXPECT_EQ(listed({"operators", "com.microsoft.FusedC"}),
              "com.microsoft.FusedConv                 read as the operators that it stands for\n");
    EXPECT_EQ(listed({"operators"}).find("npuscope."), std::string::npos);
}

TEST(CommandList, RulesHaveSeveritySentenceAndSource) {
    const std::string text = listed({"rules", "register_in"});
    EXPECT_TRUE(text.starts_with("register_in_use         error    check, run\n")) << text;
    EXPECT_NE(text.find("    source: nv_small RTL"), std::string::npos);
    EXPECT_TRUE(listed({"rules", "--markdown"}).starts_with("# Rules\n"));
}

TEST(CommandList, APrefixOfNothingIsRefused) {
    for (const char* topic :
         {"presets", "networks", "fields", "registers", "rules", "layouts", "operators"}) {
        const sample::Answer answer = typed({"list", topic, "nothing_begins_so"});
        EXPECT_EQ(answer.code, ExitCode::WrongInput) << topic;
        EXPECT_NE(answer.err.find("whose names begin with 'nothing_begins_so'"), std::string::npos)
            << answer.err;
    }
}

TEST(CommandList, OptionsOfOtherTopicsAreRefused) {
    EXPECT_EQ(typed({"list", "presets", "--c-header", "--markdown"}).err,
              "npuscope: --markdown, --c-header: no effect on this list of presets (leave it "
              "out)\n");
    EXPECT_EQ(typed({"list", "rules", "--sv-package"}).err,
              "npuscope: --sv-package: no effect on this list of rules (leave it out)\n");
    EXPECT_EQ(typed({"list", "fields", "--map", "nv_full"}).err,
              "npuscope: --map: no effect on this list of fields (leave it out)\n");
    EXPECT_EQ(typed({"list", "rules", "register_in", "--markdown"}).err,
              "npuscope: PREFIX: no effect on this list of rules (leave it out)\n");
    EXPECT_EQ(typed({"list", "registers", "--c-header", "--sv-package"}).err,
              "npuscope: --c-header and --sv-package exclude each other (give one of them)\n");
}

TEST(CommandList, UnknownTopicOrMapIsRefused) {
    EXPECT_EQ(typed({"list", "preset"}).err,
              "npuscope: unknown topic 'preset' (did you mean 'presets'?)\n");
    EXPECT_EQ(typed({"list", "registers", "--map", "nv_smal"}).err,
              "npuscope: unknown address map 'nv_smal' (did you mean 'nv_small'?)\n");
}

}  // namespace
}  // namespace npuscope
