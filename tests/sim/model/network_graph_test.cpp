// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/model/prepare_graph.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"

namespace npuscope {
namespace {

constexpr const char* residual_table = R"(
name: residual
input: {channels: 4, height: 12, width: 12}
layers:
  - {name: stem, kind: conv, kernels: 8, kernel: 3, padding: 1, relu: true}
  - {name: wide, kind: conv, kernels: 16, kernel: 1, relu: true}
  - {name: deep, kind: conv, kernels: 16, kernel: 3, padding: 1, groups: 16, relu: true}
  - {name: narrow, kind: conv, kernels: 8, kernel: 1}
  - {name: join, kind: add, from: [stem, narrow], relu: true}
  - {name: pool, kind: max_pool, kernel: 2, stride: 2}
  - {name: mean, kind: avg_pool, kernel: 6}
  - {name: classes, kind: fc, kernels: 4}
)";

TEST(NetworkGraph, LayersBecomePatterns) {
    const Graph graph = finish_graph(network_graph(parse_network(residual_table, "net.yaml")));
    const LayerPlan plan = plan_layers(graph, test::bundled_preset());
    std::vector<Pattern> patterns;
    for (const NodeGroup& group : plan.partition.groups) {
        patterns.push_back(group.layer->pattern);
    }
    EXPECT_EQ(patterns, (std::vector<Pattern>{Pattern::Gconv, Pattern::Pwconv, Pattern::Dwconv,
                                              Pattern::Pwconvres, Pattern::Maxpool,
                                              Pattern::AvgpoolGlobal, Pattern::Fc}))
        << ::testing::PrintToString(test::broken_rules(plan.partition));
}

TEST(NetworkGraph, NumbersAreTheHostsAndDoNotAllSaturate) {
    const Graph graph = finish_graph(network_graph(parse_network(residual_table, "net.yaml")));
    const auto inputs = test::some_inputs(graph, ElementType::Int8, 4);
    const ModelResult npu = test::run_on(graph, test::bundled_preset(), inputs);
    EXPECT_EQ(npu.outputs, test::run_on(graph, test::host_only(), inputs).outputs);
    const auto& numbers = npu.outputs.begin()->second.numbers;
    EXPECT_GT(std::set<double>(numbers.begin(), numbers.end()).size(), 1U);
}

constexpr const char* series_table = R"(
name: series
input: {channels: 1, height: 24, width: 3}
layers:
  - {name: wide, kind: conv, kernels: 8, kernel: 5, kernel_width: 2, stride: 2, stride_width: 1, padding: 2, padding_width: 1, padding_width_end: 0, relu: true, output: 8x12x3}
  - {name: pool, kind: max_pool, kernel: 3, kernel_width: 1, stride: 2, stride_width: 1, padding: 1, padding_width: 0, output: 8x6x3}
  - {name: deep, kind: conv, kernels: 8, kernel: 3, kernel_width: 1, padding: 1, padding_width: 0, groups: 8, output: 8x6x3}
  - {name: part, kind: avg_pool, kernel: 2, kernel_width: 1, stride: 2, stride_width: 1, output: 8x3x3}
  - {name: mean, kind: avg_pool, kernel: 3, kernel_width: 3, output: 8x1x1}
  - {name: classes, kind: fc, kernels: 2}
)";

TEST(NetworkGraph, WindowsNeedNotBeSquare) {
    const Graph graph = finish_graph(network_graph(parse_network(series_table, "net.yaml")));
    const LayerPlan plan = plan_layers(graph, test::bundled_preset());
    std::vector<Pattern> patterns;
    for (const NodeGroup& group : plan.partition.groups) {
        patterns.push_back(group.layer->pattern);
    }
    EXPECT_EQ(patterns,
              (std::vector<Pattern>{Pattern::Fconv, Pattern::Maxpool, Pattern::Dwconv,
                                    Pattern::Avgpool, Pattern::AvgpoolGlobal, Pattern::Fc}));
    EXPECT_EQ(plan.partition.groups[0].layer->out, (Sizes{1, 8, 12, 3}));
    const auto inputs = test::some_inputs(graph, ElementType::Int8, 4);
    EXPECT_EQ(test::run_on(graph, test::bundled_preset(), inputs).outputs,
              test::run_on(graph, test::host_only(), inputs).outputs);
}

/// The result of an fc is a cube of one row and one column to all other layers.
TEST(NetworkGraph, LayersMayReadTheResultOfAnFc) {
    const Graph graph = finish_graph(network_graph(parse_network(R"(
name: gate
input: {channels: 8, height: 3, width: 3}
layers:
  - {name: scores, kind: fc, kernels: 8}
  - {name: mean, kind: avg_pool, kernel: 3, stride: 3, from: [input]}
  - {name: sum, kind: add, from: [scores, mean]}
  - {name: both, kind: concat, from: [scores, sum]}
  - {name: mix, kind: conv, kernels: 4, kernel: 1}
  - {name: top, kind: max_pool, kernel: 1, from: [scores]}
  - {name: again, kind: fc, kernels: 4, from: [sum]}
outputs: [scores, mix, top, again]
)",
                                                                 "net.yaml")));
    const auto sizes = [&](std::size_t output) {
        return graph.types.at(graph.outputs.at(output)).sizes;
    };
    EXPECT_EQ(sizes(0), (Sizes{1, 8}));
    EXPECT_EQ(sizes(1), (Sizes{1, 4, 1, 1}));
    EXPECT_EQ(sizes(2), (Sizes{1, 8, 1, 1}));
    EXPECT_EQ(sizes(3), (Sizes{1, 4}));
    const auto inputs = test::some_inputs(graph, ElementType::Int8, 4);
    const GraphInputs outputs = test::run_on(graph, test::bundled_preset(), inputs).outputs;
    EXPECT_EQ(outputs, test::run_on(graph, test::host_only(), inputs).outputs);
    EXPECT_EQ(outputs.at(graph.outputs[0]).numbers, outputs.at(graph.outputs[2]).numbers);
}

TEST(NetworkGraph, TheSeedDecidesTheWeights) {
    Network network = parse_network(residual_table, "net.yaml");
    const Graph first = network_graph(network);
    EXPECT_EQ(network_graph(network).constants, first.constants);
    network.seed = 2;
    EXPECT_NE(network_graph(network).constants, first.constants);
}

}  // namespace
}  // namespace npuscope
