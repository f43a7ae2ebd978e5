// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/space.h"

#include <gmock/gmock-matchers.h>

#include <map>

#include "sim/config/yaml_writer.h"
#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

using sample::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

Space space_of(const std::string& text) { return {parse_yaml(text, "space.yaml"), "/"}; }

std::vector<std::string> designs_of(const Space& space, std::uint64_t& left_out) {
    std::vector<std::string> texts;
    for (const Design& design : space.designs(left_out)) {
        std::string text;
        for (const FieldValue& change : space.changes(design)) {
            text += change.field + '=' + flow_yaml(change.value) + ' ';
        }
        texts.push_back(text);
    }
    return texts;
}

constexpr const char* conditional =
    "base: {program: lenet}\n"
    "axes:\n"
    "  - {name: npu, field: npu, values: [nv_small, nv_full]}\n"
    "  - {field: plan.winograd, values: [false, true], when: npu == \"nv_full\"}\n"
    "  - {fields: [npu.a, npu.b], values: [[1, 2], [3, 4]]}\n"
    "where: [npu.a == 1 || npu == \"nv_small\"]\n";

TEST(Space, gridTakesEveryDesignOnce) {
    std::uint64_t left_out = 0;
    EXPECT_THAT(designs_of(space_of(conditional), left_out),
                ElementsAre("npu=nv_small npu.a=1 npu.b=2 ", "npu=nv_small npu.a=3 npu.b=4 ",
                            "npu=nv_full plan.winograd=false npu.a=1 npu.b=2 ",
                            "npu=nv_full plan.winograd=true npu.a=1 npu.b=2 "));
    EXPECT_EQ(left_out, 2U);
}

TEST(Space, rangesAreWholeNumbersInUnitsOfTheField) {
    std::uint64_t left_out = 0;
    EXPECT_THAT(designs_of(space_of("base: {program: lenet}\n"
                                    "axes: [{field: x, range: {from: 20, to: 50, step: 15}}]\n"),
                           left_out),
                ElementsAre("x=20 ", "x=35 ", "x=50 "));
    EXPECT_THAT(designs_of(space_of("base: {program: lenet}\n"
                                    "axes: [{field: x, log_range: {from: 1 KiB, to: 9 KiB, "
                                    "factor: 3}}]\n"),
                           left_out),
                ElementsAre("x=1024 ", "x=3072 ", "x=9216 "));
}

TEST(Space, rangesReachTheLargestNumber) {
    std::uint64_t left_out = 0;
    EXPECT_THAT(designs_of(space_of("base: {program: lenet}\n"
                                    "axes: [{field: x, range: {from: 18446744073709551610, to: "
                                    "18446744073709551615, step: 4}}]\n"),
                           left_out),
                ElementsAre("x=18446744073709551610 ", "x=18446744073709551614 "));
    EXPECT_THAT(designs_of(space_of("base: {program: lenet}\n"
                                    "axes: [{field: x, log_range: {from: 1, to: "
                                    "18446744073709551615, factor: 4294967295}}]\n"
                                    "where: [x > 1]\n"),
                           left_out),
                ElementsAre("x=4294967295 ", "x=18446744065119617025 "));
}

constexpr const char* large =
    "base: {program: lenet}\n"
    "axes:\n"
    "  - {field: a, range: {from: 1, to: 40}}\n"
    "  - {field: b, range: {from: 1, to: 10}}\n"
    "where: [a != b]\n";

TEST(Space, randomSampleIsTheSameForTheSameSeed) {
    std::uint64_t left_out = 0;
    const std::string text = std::string(large) + "search: {kind: random, points: 50, seed: 5}\n";
    const auto first = designs_of(space_of(text), left_out);
    EXPECT_EQ(first.size(), 50U);
    EXPECT_EQ(first, designs_of(space_of(text), left_out));
    const std::string other = std::string(large) + "search: {kind: random, points: 50, seed: 6}\n";
    EXPECT_NE(first, designs_of(space_of(other), left_out));
}

TEST(Space, latinSampleTakesEveryValueAsOftenAsAnyOther) {
    const Space space = space_of(
        "base: {program: lenet}\n"
        "axes:\n"
        "  - {field: a, range: {from: 1, to: 40}}\n"
        "  - {field: b, range: {from: 1, to: 10}}\n"
        "search: {kind: latin, points: 40}\n");
    std::uint64_t left_out = 0;
    std::map<std::size_t, int> a;
    std::map<std::size_t, int> b;
    for (const Design& design : space.designs(left_out)) {
        ++a[design.choices[0]];
        ++b[design.choices[1]];
    }
    EXPECT_EQ(a.size(), 40U);
    EXPECT_EQ(b.size(), 10U);
    for (const auto& [choice, count] : b) {
        EXPECT_EQ(count, 4) << choice;
    }
}

TEST(Space, axesThatApplyToDifferentDesignsMaySetOneField) {
    std::uint64_t left_out = 0;
    const Space space = space_of(
        "base: {program: lenet}\n"
        "axes:\n"
        "  - {field: npu, values: [nv_small, nv_full]}\n"
        "  - {name: few, field: npu.cbuf.banks, values: [2, 4], when: npu == \"nv_small\"}\n"
        "  - {name: many, field: npu.cbuf.banks, values: [16], when: npu == \"nv_full\"}\n");
    EXPECT_THAT(designs_of(space, left_out),
                ElementsAre("npu=nv_small npu.cbuf.banks=2 ", "npu=nv_small npu.cbuf.banks=4 ",
                            "npu=nv_full npu.cbuf.banks=16 "));
    EXPECT_EQ(space.column_of("npu.cbuf.banks"), "few");
    EXPECT_EQ(space.column_of("npu"), "npu");
}

TEST(Space, whereMustNotLeaveOutEverything) {
    const Space space =
        space_of("base: {program: lenet}\naxes: [{field: a, values: [1, 2, 3]}]\nwhere: [a > 3]\n");
    std::uint64_t left_out = 0;
    EXPECT_EQ(message_of([&] { space.designs(left_out); }),
              "space.yaml:3:9: `where` leaves out all of 3 designs (relax it)");
}

// Drawing a thousand times the points that are asked for would not end.
TEST(Space, aSampleOfNothingEnds) {
    for (const std::string kind : {"random", "latin"}) {
        const Space space = space_of(
            "base: {program: lenet}\n"
            "axes:\n"
            "  - {field: a, range: {from: 1, to: 50000}}\n"
            "  - {field: b, range: {from: 1, to: 50000}}\n"
            "where: [a > 50000]\n"
            "search: {kind: " +
            kind + ", points: 1000000}\n");
        std::uint64_t left_out = 0;
        EXPECT_THAT(message_of([&] { space.designs(left_out); }),
                    HasSubstr("space.yaml:5:9: `where` leaves out all of 200,000 designs"));
    }
}

TEST(Space, whetherAnAxisAppliesDoesNotDependOnItself) {
    const auto message = [](const std::string& axes) {
        return message_of([&] { space_of("base: {program: lenet}\naxes:\n" + axes); });
    };
    EXPECT_EQ(message("  - {name: a, field: x, values: [1, 2], when: a == 1}\n"),
              "space.yaml:3:47: `when` of the axis 'a' refers to the axis itself (a formula "
              "`when` uses other axes only: use `where`, or leave it out)");
    EXPECT_THAT(message("  - {name: a, field: x, values: [1, 2], when: x == 1}\n"),
                HasSubstr("`when` of the axis 'a' refers to the axis itself"));
    EXPECT_THAT(message("  - {name: a, field: x, values: [1, 2], when: b == 1}\n"
                        "  - {name: b, field: y, values: [1, 2], when: x == 1}\n"),
                HasSubstr("space.yaml:3:47: `when` of the axis 'a' depends on the axis 'b', and "
                          "its `when` on 'a'"));
    EXPECT_THAT(message("  - {name: a, field: x, values: [1, 2], when: b == 1}\n"
                        "  - {name: b, field: y, values: [1, 2], when: c == 1}\n"
                        "  - {name: c, field: z, values: [1, 2], when: a == 1}\n"),
                HasSubstr("depends on the axis 'b'"));
    EXPECT_EQ(message("  - {name: a, field: x, values: [1, 2], when: b == 1 && c == 1}\n"
                      "  - {name: b, field: y, values: [1, 2], when: c == 1}\n"
                      "  - {name: c, field: z, values: [1, 2]}\n"),
              "");
}

TEST(Space, whereThatDividesByZeroIsRefused) {
    const Space space = space_of(
        "base: {program: lenet}\naxes: [{field: a, values: [0, 1]}]\nwhere: [1 / a > 0]\n");
    std::uint64_t left_out = 0;
    EXPECT_THAT(message_of([&] { space.designs(left_out); }),
                HasSubstr("space.yaml:3:9: '1 / a > 0' divides by 0"));
}

TEST(Space, saysWhereAndWhatIsWrong) {
    const auto message = [](const std::string& axes, const std::string& rest = {}) {
        return message_of([&] { space_of("base: {program: lenet}\naxes:\n" + axes + rest); });
    };
    EXPECT_THAT(message("  - {values: [1]}\n"),
                HasSubstr("space.yaml:3:5: this axis needs either a field or fields"));
    EXPECT_THAT(message("  - {field: a}\n"),
                HasSubstr("needs exactly one of values, range and log_range"));
    EXPECT_THAT(message("  - {field: a, values: [1], range: {from: 1, to: 2}}\n"),
                HasSubstr("needs exactly one of values, range and log_range"));
    EXPECT_THAT(message("  - {fields: [a, b], values: [[1, 2], [3]]}\n"),
                HasSubstr("space.yaml:3:39: each value of this axis must be a list of 2"));
    EXPECT_THAT(message("  - {field: a, range: {from: 5, to: 4}}\n"),
                HasSubstr("a range without an end or without values"));
    EXPECT_THAT(message("  - {field: a, range: {from: x, to: 4}}\n"),
                HasSubstr("'x' is not an integer"));
    EXPECT_THAT(message("  - {field: a, range: {from: 1, to: 4, step: -1}}\n"),
                HasSubstr("space.yaml:3:5: '-1' is negative (write it as the field takes it"));
    EXPECT_THAT(message("  - {field: a, log_range: {from: 1, to: 9007199254740992}}\n"), "");
    EXPECT_THAT(message("  - {field: a, log_range: {from: 0, to: 32}}\n"),
                HasSubstr("(from is 1 or more and must not exceed to, a factor is at least 2)"));
    EXPECT_THAT(message("  - {field: a, range: {from: 0, to: 18446744073709551616}}\n"),
                HasSubstr("'18446744073709551616' is not an integer of 64 bits"));
    EXPECT_THAT(message("  - {field: a, range: {from: 1, to: 1000000}}\n"),
                HasSubstr("has more than 100000 values"));
    EXPECT_THAT(message("  - {field: a, values: [1]}\n  - {field: a, values: [1]}\n"),
                HasSubstr("space.yaml:4:5: two axes are called 'a'"));
    EXPECT_THAT(message("  - {field: a, values: [1]}\n  - {name: b, field: a, values: [1]}\n"),
                HasSubstr("space.yaml:4:5: two axes set the field 'a'"));
    EXPECT_THAT(message("  - {field: a, values: [16, 8, 16]}\n"),
                HasSubstr("space.yaml:3:32: this axis has the value 16 twice (remove one"));
    EXPECT_THAT(message("  - {fields: [a, b], values: [[1, 2], [1, 3], [1, 2]]}\n"),
                HasSubstr("this axis has the value [1, 2] twice"));
    EXPECT_THAT(message("  - {name: cycles, field: a, values: [1]}\n"),
                HasSubstr("space.yaml:3:5: this axis is called 'cycles', as a result's column"));
    EXPECT_THAT(message("  - {field: npu, values: [nv_small]}\n"), "");
    EXPECT_THAT(message("  - {field: bank, values: [1]}\n", "where: [banks > 1]\n"),
                HasSubstr("space.yaml:4:9: 'banks > 1' uses 'banks', which is not an axis"));
    EXPECT_THAT(message("  - {field: a, values: [1]}\n", "objectives: [{name: x}]\n"),
                HasSubstr("an objective must be either minimised or maximised"));
    EXPECT_THAT(message("  - {field: a, values: [1]}\n",
                        "objectives:\n  - {name: x, minimise: cycles}\n"
                        "  - {name: x, maximise: a}\n"),
                HasSubstr("space.yaml:6:5: two objectives are called 'x' (rename one of them"));
    EXPECT_THAT(message("  - {field: a, values: [1]}\n", "search: {points: 4}\n"),
                HasSubstr("space.yaml:4:18: `points`: no effect with kind: grid (leave it out"));
    EXPECT_THAT(message("  - {field: a, values: [1]}\n", "search: {kind: grid, seed: 4}\n"),
                HasSubstr("`seed`: no effect with kind: grid"));
    EXPECT_THAT(message("  - {field: a, values: [1]}\n", "search: {kind: adaptive, seed: 4}\n"),
                HasSubstr("`seed`: no effect with kind: adaptive"));
    EXPECT_EQ(message("  - {field: a, values: [1]}\n", "search: {kind: adaptive, points: 4}\n"),
              "");
    EXPECT_THAT(message("  []\n"), HasSubstr("a sweep without axes has one design only"));
    EXPECT_THAT(message("  - {field: a, value: [1]}\n"),
                HasSubstr("unknown field 'axes[0].value'"));
}

}  // namespace
}  // namespace npuscope
