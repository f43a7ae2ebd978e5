// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/expression.h"

#include <gmock/gmock.h>

#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

using sample::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::optional<FormulaValue> lookup(const std::string& name) {
    if (name == "npu.cbuf.banks") {
        return std::int64_t{32};
    }
    if (name == "npu") {
        return std::string("nv_full");
    }
    if (name == "share") {
        return 0.25;
    }
    if (name == "plan.winograd") {
        return true;
    }
    return {};
}

Expression formula(const std::string& text) { return {text, Place{"space.yaml", 3, 7}}; }

TEST(Expression, comparesNumbersTextsAndTruths) {
    EXPECT_TRUE(formula("npu.cbuf.banks * 2 <= 64 && npu == \"nv_full\"").holds(lookup));
    EXPECT_FALSE(formula("npu.cbuf.banks > 32 || plan.winograd == false").holds(lookup));
    EXPECT_DOUBLE_EQ(formula("npu.cbuf.banks * share + 2^3").number(lookup), 16);
    EXPECT_DOUBLE_EQ(formula("npu.cbuf.banks > 16 ? 1 : 2").number(lookup), 1);
}

TEST(Expression, knowsItsNames) {
    EXPECT_THAT(formula("npu.cbuf.banks * share").names(), ElementsAre("npu.cbuf.banks", "share"));
}

TEST(Expression, saysWhereAndWhatIsWrong) {
    EXPECT_THAT(message_of([] { formula("npu.cbuf.banks +"); }),
                HasSubstr("space.yaml:3:7: 'npu.cbuf.banks +' is no formula: Unexpected end"));
    EXPECT_THAT(
        message_of([] {
            Expression("bank > 1", {}, {"banks", "size"});
        }),
        HasSubstr("names 'bank', which is none of this space's axes (did you mean 'banks'?"));
    EXPECT_THAT(message_of([] { formula("ghost > 1").holds(lookup); }),
                HasSubstr("names 'ghost', which has no value"));
    EXPECT_THAT(message_of([] { formula("npu.cbuf.banks + 1").holds(lookup); }),
                HasSubstr("is neither true nor false"));
    EXPECT_THAT(message_of([] { formula("npu < 3").holds(lookup); }),
                HasSubstr("cannot be computed"));
    EXPECT_THAT(message_of([] { formula("1 / (npu.cbuf.banks - 32)").number(lookup); }),
                HasSubstr("is no number"));
    EXPECT_THAT(message_of([] { formula(""); }), HasSubstr("'' is no formula"));
}

TEST(Expression, readsNumbersAsConfigurationsWriteThem) {
    EXPECT_EQ(formula_value("128 KiB"), FormulaValue(std::int64_t{131072}));
    EXPECT_EQ(formula_value("1 GHz"), FormulaValue(std::int64_t{1'000'000'000}));
    EXPECT_EQ(formula_value("true"), FormulaValue(true));
    EXPECT_EQ(formula_value("nv_small"), FormulaValue(std::string("nv_small")));
}

}  // namespace
}  // namespace npuscope
