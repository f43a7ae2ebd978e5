// SPDX-License-Identifier: Apache-2.0
#include "bench/reference_rows.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.h"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;

class ReferenceRows : public testing::Test {
 protected:
    void write(const fs::path& file, const std::string& text = {}) const {
        fs::create_directories((folder_ / file).parent_path());
        std::ofstream(folder_ / file) << text;
    }

    const TempFolder folder_;
};

TEST_F(ReferenceRows, ProgramIsFoundUnderEitherName) {
    write("a/program.cfg");
    write("b/b.cfg");
    const CsvTable table = CsvTable::parse(
        "name,lat,beat_interval,cycles_first_op\na,0,1,5\nb,50,4,6\nc,0,1,7\n", "t");
    const ReferenceSet set = rows_of_table(table, "t", folder_);
    ASSERT_EQ(set.rows.size(), 2U);
    EXPECT_EQ(set.rows[0].program, folder_ / "a" / "program.cfg");
    EXPECT_EQ(set.rows[1].program, folder_ / "b" / "b.cfg");
    EXPECT_EQ(set.rows[1].setting, (MemorySetting{50, 4, false}));
    EXPECT_EQ(set.left_out.at("no program"), 1U);
}

TEST_F(ReferenceRows, WhatCannotBeComparedIsLeftOutWithItsReason) {
    write("a/a.cfg");
    const CsvTable table = CsvTable::parse(
        "test,lat,beat_interval,shared_rw,pass,cycles_first_op\n"
        "a,0,1,0,0,9\na,0,1,1,1,9\na,0,1,0,1,\n",
        "t");
    const ReferenceSet set = rows_of_table(table, "t", folder_);
    EXPECT_TRUE(set.rows.empty());
    EXPECT_EQ(set.left_out.at("the RTL's own output was wrong"), 1U);
    EXPECT_EQ(set.left_out.at("one channel for reads and writes"), 1U);
    EXPECT_EQ(set.left_out.at("no cycles measured"), 1U);
}

TEST_F(ReferenceRows, MissingMacStartIsNothing) {
    write("a/a.cfg");
    const CsvTable table =
        CsvTable::parse("name,cycles_first_op,mac_dat_first,rd_sdp\na,9,-1,3\na,9,7,4\n", "t");
    const ReferenceSet set = rows_of_table(table, "t", folder_);
    ASSERT_EQ(set.rows.size(), 2U);
    EXPECT_EQ(set.rows[0].first_mac, std::nullopt);
    EXPECT_EQ(set.rows[1].first_mac, 7U);
    EXPECT_EQ(set.rows[1].read_beats, (std::map<std::string, std::uint64_t>{{"sdp", 4}}));
}

TEST_F(ReferenceRows, PairIsARowAndSoIsItsFirstLayer) {
    const std::string layer =
        R"({"W": 7, "H": 6, "C": 64, "K": 8, "S": 1, "pl": 0, "dbanks": 1, "wbanks": 2})";
    write("p.json", R"([{"name": "p", "lat": 50, "interval": 4, "pair": 90, "single0": 50,)"
                    R"("rd_beats": 12, "a": )" +
                        layer + R"(, "b": )" + layer + "}]");
    const ReferenceSet set = rows_of_pairs(folder_ / "p.json");
    ASSERT_EQ(set.rows.size(), 2U);
    EXPECT_EQ(set.rows[0].cycles, 90U);
    EXPECT_EQ(set.rows[0].pair->layers.size(), 2U);
    EXPECT_EQ(set.rows[1].cycles, 50U);
    EXPECT_EQ(set.rows[1].pair->layers.size(), 1U);
    EXPECT_EQ(set.rows[1].pair->layers[0].height, 6U);
}

TEST(FamilyOf, IsThePrefixAndWhatIsFused) {
    EXPECT_EQ(family_of("c3_14x14x256_k32_p1"), "c3");
    EXPECT_EQ(family_of("bank_d7_w25"), "bank");
    EXPECT_EQ(family_of("fz012"), "fz");
    EXPECT_EQ(family_of("f_28x28x16_k16_pool2"), "f_pool2");
    EXPECT_EQ(family_of("f_28x28x64_k32"), "f");
    EXPECT_EQ(family_of("sdp_28x28x64_bias"), "sdp_bias");
    EXPECT_EQ(family_of("sdp_8x8x32_bypass_int8"), "sdp");
    EXPECT_EQ(family_of("sdp_8x8x32_bypass_int8_0"), "sdp");
}

}  // namespace
}  // namespace npuscope::bench
