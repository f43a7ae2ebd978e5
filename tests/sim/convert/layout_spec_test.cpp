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
    EXPECT_EQ(parse_layout_spec("weight_dc").axes_for(4), "KCRS");
    EXPECT_EQ(parse_layout_spec("nchw").axes_for(3), "CHW");
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
