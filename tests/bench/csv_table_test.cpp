// SPDX-License-Identifier: Apache-2.0
#include "bench/csv_table.h"

#include <gtest/gtest.h>

#include "models/base/error.h"

namespace npuscope::bench {
namespace {

TEST(CsvTable, CellsAreFoundByTheNameOfTheirColumn) {
    const CsvTable table = CsvTable::parse("name,lat\na,50\nb,200\n", "t.csv");
    ASSERT_EQ(table.rows(), 2U);
    EXPECT_EQ(table.text(1, "name"), "b");
    EXPECT_EQ(table.number(1, "lat"), 200U);
    EXPECT_TRUE(table.has("lat"));
    EXPECT_FALSE(table.has("interval"));
}

TEST(CsvTable, QuotedCellMayHoldCommasQuotesAndLines) {
    const CsvTable table = CsvTable::parse("a,b\n\"[0, 1]\",\"x\"\"y\nz\"\n", "t.csv");
    ASSERT_EQ(table.rows(), 1U);
    EXPECT_EQ(table.text(0, "a"), "[0, 1]");
    EXPECT_EQ(table.text(0, "b"), "x\"y\nz");
}

TEST(CsvTable, WhatIsNoNumberIsNothing) {
    const CsvTable table = CsvTable::parse("a,b,c,d\n-1,,12x,7\r\n", "t.csv");
    EXPECT_EQ(table.number(0, "a"), std::nullopt);
    EXPECT_EQ(table.number(0, "b"), std::nullopt);
    EXPECT_EQ(table.number(0, "c"), std::nullopt);
    EXPECT_EQ(table.number(0, "d"), 7U);
    EXPECT_EQ(table.number(0, "e"), std::nullopt);
}

TEST(CsvTable, LineWithOtherCellsThanColumnsIsRefusedWithItsNumber) {
    try {
        CsvTable::parse("a,b\n1,2\n3\n", "t.csv");
        FAIL() << "not refused";
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), "t.csv:3: 1 cells where the first line names 2 columns");
    }
}

}  // namespace
}  // namespace npuscope::bench
