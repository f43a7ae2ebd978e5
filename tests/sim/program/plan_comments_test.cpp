// SPDX-License-Identifier: Apache-2.0
#include "sim/program/plan_comments.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

TEST(PlanComments, ALayerHasNameKindOperationsAndMacs) {
    const auto layer = read_layer_comment("// layer a: b: conv, 2 operations, 117600 MACs\r");
    ASSERT_TRUE(layer);
    EXPECT_EQ(layer->name, "a: b");
    EXPECT_EQ(layer->kind, "conv");
    EXPECT_EQ(layer->operations, 2U);
    EXPECT_EQ(layer->macs, 117600U);
    EXPECT_TRUE(read_layer_comment("// layer p: max_pool, 1 operation, 0 MACs"));
}

TEST(PlanComments, ASurfaceHasNamePlaceAndTime) {
    const auto result =
        read_surface_comment("// result c1 = 0x10:1x2:int8:N C/8:64 H:8 W after sync_id_3");
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->is_result);
    EXPECT_EQ(result->name, "c1");
    EXPECT_EQ(result->spec, "0x10:1x2:int8:N C/8:64 H:8 W");
    EXPECT_EQ(result->after, "sync_id_3");
    const auto surface = read_surface_comment("// surface input = 0x10:4:uint8:W");
    ASSERT_TRUE(surface);
    EXPECT_FALSE(surface->is_result);
    EXPECT_EQ(surface->after, "");
}

TEST(PlanComments, OtherCommentsSayNothing) {
    for (const char* text : {"//", "// layer", "// Layer 1 looks for edges: and spots.",
                             "// layer a: conv", "// layer a: conv, 2 things, 3 MACs",
                             "// layer : conv, 2 operations, 3 MACs", "// layer a: conv, x, y"}) {
        EXPECT_FALSE(read_layer_comment(text)) << text;
    }
    for (const char* text : {"// surface area = large", "// result", "// results a = 0x1:2"}) {
        EXPECT_FALSE(read_surface_comment(text)) << text;
    }
}

}  // namespace
}  // namespace npuscope
