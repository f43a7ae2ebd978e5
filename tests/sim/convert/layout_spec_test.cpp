// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/convert/conversion.h"
#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

TEST(LayoutSpec, NamesParametersAndSentences) {
    EXPECT_EQ(parse_layout_spec("4w4c8b").row->name, "4W4C8B");
    const LayoutSpec spec = parse_layout_spec("feature:atom=8,line_stride=64");
    EXPECT_EQ(spec.parameters.at("atom"), 8U);
    EXPECT_EQ(spec.parameters.at("line_stride"), 64U);
    EXPECT_EQ(parse_layout_spec("N C/8 H:128 W C%8").sentence.size(), 5U);
    for (const char* term : {"W", "W:3", "W-", "W^4", "W/1"}) {
        EXPECT_EQ(parse_layout_spec(term).sentence.size(), 1U) << term;
    }
    EXPECT_EQ(parse_layout_spec("weight_dc").axes_for(4), "KCRS");
    EXPECT_EQ(parse_layout_spec("nchw").axes_for(3), "CHW");
}

TEST(LayoutSpec, AnExpressionNamesAxesOfTheShape) {
    const LogicalShape shape = parse_shape("3x8x8", "CHW");
    EXPECT_EQ(parse_layout_spec("N C H W").bind_to(shape, 1).bytes, 192U);
    EXPECT_EQ(sample::message_of([&] { parse_layout_spec("C H W Z").bind_to(shape, 1); }),
              "layout 'C H W Z': C3 H8 W8 has no axis Z (name axes of the shape)");
    EXPECT_EQ(sample::message_of([] { parse_layout_spec("nchw").axes_for(0); }),
              "a single number has no layout (give an array)");
    EXPECT_EQ(sample::message_of([] { parse_layout_spec("C H W W"); }),
              "terms W and W of axis W do not fit together (name each axis once, or in blocks: "
              "C/8 with C%8)");
    EXPECT_EQ(sample::message_of([] { parse_layout_spec("C/8 H W C%4"); }),
              "terms C/8 and C%4 of axis C do not fit together (after C/8, write C%8)");
    EXPECT_EQ(sample::message_of([] { parse_layout_spec("H W C%8"); }),
              "axis C has no term above C%8 (write C, or add C/8)");
}

TEST(LayoutSpec, WhatIsNotUnderstoodIsRefused) {
    EXPECT_EQ(sample::message_of([] { parse_layout_spec("4W4C8"); }),
              "unknown layout '4W4C8' (did you mean '4W4C8B'?)");
    for (const char* text : {"feature:", "feature:atom", "feature:atom=", "feature:atom=8,",
                             "feature:=8", "feature:atom=8,atom=8", "feature:atom=x", ""}) {
        EXPECT_NE(sample::message_of([text] { parse_layout_spec(text); }), "") << text;
    }
}

}  // namespace
}  // namespace npuscope
