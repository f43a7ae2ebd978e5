// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/config/yaml_reader.h"
#include "tests/sim/config/sample_config.h"

namespace npuscope::override_field_test {
namespace {

using sample::Config;
using sample::message_of;

Config with(const std::string& change) {
    Config config;
    override_field(config, change);
    return config;
}

std::string complaint(const std::string& change) {
    return message_of([&] { with(change); });
}

TEST(OverrideField, SetsFieldsAtEveryDepth) {
    EXPECT_EQ(with("title=wide").title, "wide");
    EXPECT_EQ(with("clock=1.2 GHz").clock, Hertz(1'200'000'000));
    EXPECT_EQ(with("unit.banks=32").unit.banks, 32U);
    EXPECT_EQ(with("unit.latency=7").unit.latency, Cycles(7));
    EXPECT_EQ(with("regions[0].size=1 GiB").regions[0].size, Bytes(1 << 30));
    EXPECT_EQ(with("weights[1]=9").weights, (std::vector<std::uint16_t>{1, 9}));
}

TEST(OverrideField, SetsWholeListsAndStructs) {
    EXPECT_EQ(with("weights=[4]").weights, (std::vector<std::uint16_t>{4}));
    EXPECT_EQ(with("regions=[{name: a}, {name: b}]").regions.size(), 2U);
    EXPECT_EQ(with("unit={banks: 2}").unit.banks, 2U);
}

TEST(OverrideField, ReachesIntoAnOptionalStruct) {
    EXPECT_EQ(with("spare.banks=3").spare->banks, 3U);
    EXPECT_FALSE(with("spare=null").spare);
}

TEST(OverrideField, RefusesWithTheTextAndTheNearestName) {
    EXPECT_EQ(complaint("unit.bank=3"),
              "--set unit.bank=3: unknown field 'unit.bank' (did you mean 'banks'?)");
    EXPECT_EQ(complaint("unti.banks=3"),
              "--set unti.banks=3: unknown field 'unti' (did you mean 'unit'?)");
    EXPECT_EQ(complaint("unit.banks=many"),
              "--set unit.banks=many: field 'unit.banks': 'many' is not a number "
              "(write a plain decimal or 0x hexadecimal integer)");
    EXPECT_EQ(complaint("regions[4].size=1"),
              "--set regions[4].size=1: field 'regions[4]' lies beyond the end of the list, whose "
              "length is 1 (the last one is regions[0])");
    EXPECT_EQ(complaint("unit[0].banks=1"),
              "--set unit[0].banks=1: field 'unit' is not a list (leave out the index)");
    EXPECT_EQ(complaint("unit.banks.x=1"),
              "--set unit.banks.x=1: field 'unit.banks' has no fields (set it itself: "
              "unit.banks=VALUE)");
    EXPECT_EQ(complaint("regions.size=1"),
              "--set regions.size=1: field 'regions' is a list (give an index: regions[0])");
}

TEST(OverrideField, RefusesTextThatIsNoAssignment) {
    for (const char* text : {"title", "=3", ".=3", "a..b=1", "regions[x].size=1", "regions[0=1",
                             "regions[]=1", "title={", "regions[0]x=1", "[0]=1"}) {
        EXPECT_NE(complaint(text), "") << text;
    }
}

}  // namespace
}  // namespace npuscope::override_field_test
