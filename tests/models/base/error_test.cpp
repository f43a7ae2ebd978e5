// SPDX-License-Identifier: Apache-2.0
#include "models/base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace npuscope {
namespace {

TEST(ErrorTest, a_place_prints_only_what_is_known) {
    EXPECT_EQ(to_string(Place{"nv_small.yaml", 4, 3}), "nv_small.yaml:4:3");
    EXPECT_EQ(to_string(Place{"input.txn", 12, 0}), "input.txn:12");
    EXPECT_EQ(to_string(Place{"weights.bin", 0, 0}), "weights.bin");
    EXPECT_EQ(to_string(Place{}), "");
}

TEST(ErrorTest, a_config_error_reads_place_sentence_remedy) {
    const ConfigError error(Place{"a.yaml", 1, 2}, "unknown field 'bank'", "did you mean 'banks'?");
    EXPECT_STREQ(error.what(), "a.yaml:1:2: unknown field 'bank' (did you mean 'banks'?)");
    EXPECT_EQ(error.sentence(), "unknown field 'bank'");
    EXPECT_EQ(error.remedy(), "did you mean 'banks'?");
    EXPECT_EQ(error.place(), (Place{"a.yaml", 1, 2}));
}

TEST(ErrorTest, a_config_error_without_place_and_remedy_is_its_sentence) {
    EXPECT_STREQ(ConfigError("the surface is misaligned").what(), "the surface is misaligned");
}

}  // namespace
}  // namespace npuscope
