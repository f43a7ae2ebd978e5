// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/model/operators.h"

namespace npuscope {
namespace {

std::uint64_t macs_of(const std::string& op, const std::vector<Sizes>& operands,
                      const Sizes& result, std::map<std::string, Attribute> attributes = {}) {
    Graph graph;
    GraphNode node;
    node.op = op;
    node.outputs = {"y"};
    node.attributes = std::move(attributes);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        node.inputs.push_back("x" + std::to_string(i));
        graph.types[node.inputs.back()] = {ElementType::Float32, operands[i]};
    }
    graph.types["y"] = {ElementType::Float32, result};
    return count_macs(graph, node);
}

TEST(OperatorMacs, AProductSumsOverTheInnerSizeAlone) {
    EXPECT_EQ(macs_of("MatMul", {{5, 7}, {7, 3}}, {5, 3}), 5U * 7 * 3);
    EXPECT_EQ(macs_of("Gemm", {{5, 7}, {3, 7}}, {5, 3}, {{"transB", std::int64_t{1}}}), 5U * 7 * 3);
    // several products: the others' weights are not part of a sum
    EXPECT_EQ(macs_of("MatMul", {{2, 4, 5, 7}, {2, 4, 7, 3}}, {2, 4, 5, 3}), 8U * 5 * 7 * 3);
    EXPECT_EQ(macs_of("MatMul", {{5, 7}, {7}}, {5}), 5U * 7);
    EXPECT_EQ(macs_of("MatMulInteger", {{7}, {2, 7, 3}}, {2, 3}), 2U * 7 * 3);
}

TEST(OperatorMacs, ConvolutionsSumOverAKernel) {
    EXPECT_EQ(macs_of("Conv", {{1, 6, 9, 9}, {8, 3, 3, 3}}, {1, 8, 7, 7}), 8U * 49 * 27);
    EXPECT_EQ(macs_of("ConvTranspose", {{1, 6, 5, 5}, {6, 4, 2, 2}}, {1, 4, 10, 10}),
              6U * 25 * 4 * 4);
}

TEST(OperatorMacs, RecurrentCellsMultiplyByAllWeightsInEachStep) {
    const Sizes steps{10, 2, 16};  // steps, batch, inputs
    EXPECT_EQ(macs_of("LSTM", {steps, {2, 96, 16}, {2, 96, 24}}, {10, 2, 2, 24}),
              10U * 2 * 2 * 96 * (16 + 24));
    EXPECT_EQ(macs_of("GRU", {steps, {1, 72, 16}, {1, 72, 24}}, {10, 1, 2, 24}),
              10U * 2 * 72 * (16 + 24));
}

TEST(OperatorMacs, AnEinsumSumsOverTheLettersThatItsResultLacks) {
    EXPECT_EQ(macs_of("Einsum", {{2, 4, 5, 7}, {2, 4, 7, 3}}, {2, 4, 5, 3},
                      {{"equation", std::string("bhik,bhkj->bhij")}}),
              8U * 5 * 7 * 3);
    EXPECT_EQ(macs_of("Einsum", {{5, 5}}, {5}, {{"equation", std::string("ii->i")}}), 0U);
}

TEST(OperatorMacs, OperatorsWithoutWeightsHaveNone) {
    EXPECT_EQ(macs_of("Add", {{5}, {5}}, {5}), 0U);
    EXPECT_EQ(macs_of("NotAnOperator", {{5}, {5}}, {5}), 0U);
}

}  // namespace
}  // namespace npuscope
