// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/expression.h"

#include <gmock/gmock-matchers.h>

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

TEST(Expression, bindsAsCDoes) {
    const auto number = [](const std::string& text) { return formula(text).number(lookup); };
    EXPECT_DOUBLE_EQ(number("2 + 3 * 4 - 10 / 4"), 11.5);
    EXPECT_DOUBLE_EQ(number("7 - 2 - 1"), 4);
    EXPECT_DOUBLE_EQ(number("-2^2 + 2^-1"), -3.5);
    EXPECT_DOUBLE_EQ(number("2^3^2"), 512);
    EXPECT_DOUBLE_EQ(number("2^-1^2 * (2^3)^2"), 32);
    EXPECT_DOUBLE_EQ(number("--2 * -(1 + 1)"), -4);
    EXPECT_DOUBLE_EQ(number("17 % 5 + min(4, 2, 3) + max(1, 2) + sqrt(16)"), 10);
    EXPECT_DOUBLE_EQ(number("1 > 2 ? 10 : 2 > 1 ? 20 : 30"), 20);
    EXPECT_DOUBLE_EQ(number("1.5e3"), 1500);
    EXPECT_TRUE(formula("!(1 > 2) && 1 + 1 == 2 || ghost > 1").holds(lookup));
    EXPECT_TRUE(formula("1<2==true").holds(lookup));
    EXPECT_FALSE(formula("plan.winograd && !plan.winograd").holds(lookup));
}

TEST(Expression, hostileTextEndsInOneSentence) {
    for (const std::string text :
         {"(",     ")",       "\"",       "?",   ":",    "1 ? 2",   "1 ? 2 :", "min(",
          "min()", "()",      "..",       "1 2", "a b",  "!",       "^",       "2 ^",
          "inf",   "nan(1)",  "\xff\xfe", "1e",  "&&",   "a &&& b", "[1,2]",   "{1}",
          "#",     "a(1)(2)", "a[",       "a[]", "a[b]", "a [0]",   "[0]"}) {
        EXPECT_THAT(message_of([&] { formula(text).holds(lookup); }), HasSubstr("space.yaml:3:7"))
            << text;
    }
    const std::string deep = std::string(400, '(') + "1" + std::string(400, ')');
    EXPECT_THAT(message_of([&] { formula(deep); }), HasSubstr("is not a formula"));
    EXPECT_THAT(message_of([] { formula("1e999").number(lookup); }), HasSubstr("is not a formula"));
    EXPECT_DOUBLE_EQ(formula(std::string(900, '-') + "1").number(lookup), 1);
}

TEST(Expression, knowsItsNames) {
    EXPECT_THAT(formula("npu.cbuf.banks * share").names(), ElementsAre("npu.cbuf.banks", "share"));
    EXPECT_THAT(formula("memory.regions[12].bandwidth>1").names(),
                ElementsAre("memory.regions[12].bandwidth"));
}

TEST(Expression, saysWhereAndWhatIsWrong) {
    EXPECT_THAT(message_of([] { formula("npu.cbuf.banks +"); }),
                HasSubstr("space.yaml:3:7: 'npu.cbuf.banks +' is not a formula: expected a "
                          "value, not its end"));
    EXPECT_THAT(message_of([] { formula("share * 2 ] 3"); }),
                HasSubstr("is not a formula: unexpected '] 3'"));
    EXPECT_THAT(message_of([] { formula("min(share, 2"); }), HasSubstr(", not its end"));
    EXPECT_THAT(message_of([] { formula("sine(share) > 0"); }),
                HasSubstr("calls 'sine', which is not a function"));
    EXPECT_THAT(message_of([] { formula("sqrt(share, 1)"); }), HasSubstr("gives 'sqrt' 2 values"));
    EXPECT_THAT(
        message_of([] {
            Expression("bank > 1", {}, {"banks", "size"});
        }),
        HasSubstr("uses 'bank', which is not an axis of this space (did you mean 'banks'?"));
    EXPECT_THAT(message_of([] { formula("ghost > 1").holds(lookup); }),
                HasSubstr("uses 'ghost', which has no value"));
    EXPECT_THAT(message_of([] { formula("npu.cbuf.banks + 1").holds(lookup); }),
                HasSubstr("is not a boolean"));
    EXPECT_THAT(message_of([] { formula("npu < 3").holds(lookup); }),
                HasSubstr("cannot be computed: '<' takes numbers, not a string"));
    EXPECT_THAT(message_of([] { formula("npu == 3").holds(lookup); }),
                HasSubstr("compares a string with a number"));
    EXPECT_THAT(message_of([] { formula("npu").number(lookup); }),
                HasSubstr("'npu' is a string, not a number"));
    EXPECT_THAT(message_of([] { formula(""); }), HasSubstr("'' is not a formula"));
}

TEST(Expression, whatHasNoFiniteValueIsNamed) {
    const auto told = [](const std::string& text) {
        return message_of([&] { formula(text).number(lookup); });
    };
    EXPECT_THAT(told("1 / (npu.cbuf.banks - 32)"),
                HasSubstr("'1 / (npu.cbuf.banks - 32)' divides by 0 (compute it only where"));
    EXPECT_THAT(told("5 % 0"), HasSubstr("divides by 0"));
    EXPECT_THAT(told("0 ^ -1"), HasSubstr("divides by 0"));
    EXPECT_THAT(told("ln(-share)"), HasSubstr("takes the logarithm of -0.25 (a logarithm exists"));
    EXPECT_THAT(told("log2(0)"), HasSubstr("takes the logarithm of 0"));
    EXPECT_THAT(told("sqrt(-1)"), HasSubstr("takes the square root of -1 (a square root exists"));
    EXPECT_THAT(told("(-8) ^ 0.5"), HasSubstr("raises -8 to the power 0.5"));
    EXPECT_THAT(told("exp(1000)"), HasSubstr("exceeds the range of its numbers: 'exp' has"));
    EXPECT_THAT(told("10 ^ 300 * 10 ^ 300"), HasSubstr("exceeds the range of its numbers: '*'"));
    EXPECT_THAT(message_of([] { formula("share / 0 > 1").holds(lookup); }),
                HasSubstr("divides by 0"));
    EXPECT_FALSE(formula("share > 1 && share / 0 > 1").holds(lookup));
}

TEST(Expression, namesItsOperators) {
    for (const char* text : {"1 & 2", "1 << 2", "0x10", "a = 1"}) {
        EXPECT_THAT(message_of([&] { formula(text); }),
                    HasSubstr("(operators are + - * / % ^ < <= > >= == != && || ! ?:, strings"))
            << text;
    }
}

TEST(Expression, valuesThatStandForOthersNeedNotBeFinite) {
    EXPECT_EQ(message_of([] { formula("1 / (npu.cbuf.banks - 32)").expect_number(lookup); }), "");
    EXPECT_THAT(message_of([] { formula("npu").expect_number(lookup); }),
                HasSubstr("'npu' is a string, not a number"));
}

TEST(Expression, readsNumbersAsConfigurationsWriteThem) {
    EXPECT_EQ(formula_value("128 KiB"), FormulaValue(std::int64_t{131072}));
    EXPECT_EQ(formula_value("1 GHz"), FormulaValue(std::int64_t{1'000'000'000}));
    EXPECT_EQ(formula_value("18446744073709551615"), FormulaValue(18446744073709551615.0));
    EXPECT_EQ(formula_value("true"), FormulaValue(true));
    EXPECT_EQ(formula_value("nv_small"), FormulaValue(std::string("nv_small")));
}

}  // namespace
}  // namespace npuscope
