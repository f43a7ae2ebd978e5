// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::node_of;
using sample::refusal;
using sample::run;
using sample::value_of;
using sample::whole;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GraphValue sum(const std::string& equation, const std::vector<GraphValue>& operands) {
    return run(node_of("Einsum", {{"equation", equation}}), operands);
}

TEST(MatrixOperators, EinsumMultipliesAndSums) {
    const GraphValue a = value_of({2, 2}, {1, 2, 3, 4});
    const GraphValue b = value_of({2}, {10, 100});
    EXPECT_THAT(sum("ij,jk->ik", {a, a}).numbers, ElementsAre(7, 10, 15, 22));
    EXPECT_THAT(sum("ij->ji", {a}).numbers, ElementsAre(1, 3, 2, 4));
    EXPECT_THAT(sum("ii->i", {a}).numbers, ElementsAre(1, 4));
    EXPECT_THAT(sum("ii", {a}).numbers, ElementsAre(5));
    EXPECT_THAT(sum("ij, j", {a, b}).numbers, ElementsAre(210, 430));
    EXPECT_THAT(sum("...j,j->...", {a, b}).numbers, ElementsAre(210, 430));
    EXPECT_THAT(sum("i...,i...->...", {a, value_of({2, 1}, {1, 10})}).numbers, ElementsAre(31, 42));
    EXPECT_THAT(sum("i,j->", {b, b}).numbers, ElementsAre(12100));
    EXPECT_THAT(sum("ij,jk,k->ki", {a, a, b}).numbers, ElementsAre(70, 150, 1000, 2200));
}

TEST(MatrixOperators, EquationsThatDoNotFitAreRefused) {
    const GraphValue a = value_of({2, 2}, {1, 2, 3, 4});
    const auto message = [&](const std::string& equation) {
        return refusal(node_of("Einsum", {{"equation", equation}}), {a});
    };
    EXPECT_THAT(message("ij,jk->ik"), HasSubstr("does not have 1 terms"));
    EXPECT_THAT(message("ijk->i"), HasSubstr("does not fit an input of 2x2"));
    EXPECT_THAT(message("ij->k"), HasSubstr("a dimension that no input has"));
    EXPECT_THAT(message("ij->ii"), HasSubstr("the same dimension twice"));
    EXPECT_THAT(message("i1->i"), HasSubstr("is not a term"));
    EXPECT_THAT(message("....->..."), HasSubstr("is not a term"));
    EXPECT_THAT(message(""), HasSubstr("does not fit"));
    EXPECT_THAT(refusal(node_of("Einsum", {{"equation", std::string("i,i->")}}),
                        {value_of({2}, {1, 2}), value_of({3}, {1, 2, 3})}),
                HasSubstr("is 3 here and 2 elsewhere"));
}

TEST(MatrixOperators, SumsOverTooManyElementsAreRefused) {
    const GraphValue line = zeros({ElementType::Float32, {std::int64_t{1} << 20U}});
    EXPECT_THAT(refusal(node_of("Einsum", {{"equation", std::string("a,b->a")}}), {line, line}),
                HasSubstr("steps to compute"));
    EXPECT_EQ(sum("a,...->a", {line, value_of({}, {1})}), line);
}

TEST(MatrixOperators, TrianglesKeepOneSide) {
    const GraphValue a = value_of({2, 3}, {1, 2, 3, 4, 5, 6});
    EXPECT_THAT(run(node_of("Trilu"), {a}).numbers, ElementsAre(1, 2, 3, 0, 5, 6));
    EXPECT_THAT(run(node_of("Trilu"), {a, whole({}, {1})}).numbers, ElementsAre(0, 2, 3, 0, 0, 6));
    const GraphNode lower = node_of("Trilu", {{"upper", std::int64_t{0}}});
    EXPECT_THAT(run(lower, {a, whole({}, {-1})}).numbers, ElementsAre(0, 0, 0, 4, 0, 0));
}

TEST(MatrixOperators, IdentitiesAndDeterminants) {
    const GraphNode eye = node_of("EyeLike", {{"dtype", std::int64_t{7}}, {"k", std::int64_t{1}}});
    const GraphValue made = run(eye, {value_of({2, 3}, {9, 9, 9, 9, 9, 9})});
    EXPECT_THAT(made.numbers, ElementsAre(0, 1, 0, 0, 0, 1));
    EXPECT_EQ(made.type.element, ElementType::Int64);
    EXPECT_THAT(run(node_of("Det"), {value_of({2, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0})}).numbers,
                ElementsAre(::testing::DoubleNear(-2, 1e-6), -1));
    EXPECT_THAT(run(node_of("Det"), {value_of({2, 2}, {1, 2, 2, 4})}).numbers, ElementsAre(0));
    EXPECT_THAT(refusal(node_of("Det"), {made}), HasSubstr("needs float input"));
}

}  // namespace
}  // namespace npuscope
