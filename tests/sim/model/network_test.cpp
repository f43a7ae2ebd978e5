// SPDX-License-Identifier: Apache-2.0
#include "sim/model/network.h"

#include <gtest/gtest.h>

#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

TEST(Network, ReadsItsTableWithTheDefaultsOfWhatIsLeftOut) {
    const Network network = parse_network(
        "name: tiny\n"
        "seed: 7\n"
        "input: {channels: 3, height: 8, width: 9}\n"
        "layers:\n"
        "  - {name: a, kind: conv, kernels: 4, kernel: 3, padding: 1, relu: true}\n"
        "  - {name: b, kind: add, from: [a, a]}\n",
        "tiny.yaml");
    EXPECT_EQ(network.name, "tiny");
    EXPECT_EQ(network.file, "tiny.yaml");
    EXPECT_EQ(network.seed, 7U);
    EXPECT_EQ(network.input.shape(), (Shape{3, 8, 9}));
    ASSERT_EQ(network.layers.size(), 2U);
    const Layer& conv = network.layers[0];
    EXPECT_EQ(conv.kind, LayerKind::Conv);
    EXPECT_EQ(conv.kernels, 4U);
    EXPECT_EQ(conv.stride, 1U);
    EXPECT_EQ(conv.groups, 1U);
    EXPECT_TRUE(conv.bias);
    EXPECT_TRUE(conv.relu);
    EXPECT_EQ(network.layers[1].from, (std::vector<std::string>{"a", "a"}));
}

TEST(Network, RefusesAnUnknownKeyAtItsPlace) {
    const std::string message = sample::message_of([] {
        parse_network(
            "name: tiny\n"
            "input: {channels: 3, height: 8, width: 8}\n"
            "layers:\n"
            "  - {name: a, kind: conv, kernel_size: 3}\n",
            "tiny.yaml");
    });
    EXPECT_NE(message.find("tiny.yaml:4:"), std::string::npos) << message;
    EXPECT_NE(message.find("kernel_size"), std::string::npos) << message;
}

TEST(Network, RefusesAKindThatDoesNotExist) {
    const std::string message = sample::message_of([] {
        parse_network(
            "name: tiny\n"
            "input: {channels: 3, height: 8, width: 8}\n"
            "layers:\n"
            "  - {name: a, kind: maxpool}\n",
            "tiny.yaml");
    });
    EXPECT_NE(message.find("max_pool"), std::string::npos) << message;
}

TEST(Network, MustHaveAnInput) {
    EXPECT_NE(sample::message_of([] {
                  parse_network("name: tiny\nlayers: []\n", "tiny.yaml");
              }).find("input"),
              std::string::npos);
}

TEST(Network, IsAFileOfYaml) {
    EXPECT_TRUE(is_network_file("a/resnet50.yaml"));
    EXPECT_TRUE(is_network_file("resnet50.yml"));
    EXPECT_FALSE(is_network_file("program.cfg"));
    EXPECT_FALSE(is_network_file("folder"));
}

}  // namespace
}  // namespace npuscope
