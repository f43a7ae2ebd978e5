// SPDX-License-Identifier: Apache-2.0
#include "sim/config/text_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace npuscope {
namespace {

TEST(TextTable, ThousandsAreSeparated) {
    EXPECT_EQ(with_separators(0), "0");
    EXPECT_EQ(with_separators(999), "999");
    EXPECT_EQ(with_separators(1000), "1,000");
    EXPECT_EQ(with_separators(1234567), "1,234,567");
    EXPECT_EQ(with_separators(~0ULL), "18,446,744,073,709,551,615");
}

TEST(TextTable, ColumnsAreAsWideAsTheirContent) {
    TextTable table({{"unit", Align::Left}, {"cycles", Align::Right}, {"x", Align::Left}});
    table.add_row({"conv", "12", ""});
    table.add_row({"pooling", "1,234,567", "y"});
    EXPECT_EQ(table.text(),
              "  unit        cycles  x\n"
              "  conv            12\n"
              "  pooling  1,234,567  y\n");
}

TEST(TextTable, NeverExceedsTheReportsWidth) {
    TextTable table({{"name", Align::Left}, {"cycles", Align::Right}});
    table.add_row({std::string(300, 'n'), "12"});
    std::istringstream lines(table.text());
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), report_width);
    }
    const std::string text = table.text();
    EXPECT_EQ(std::count(text.begin(), text.end(), 'n'), 301);  // with the title's
}

TEST(TextTable, WrappedTextKeepsItsWords) {
    const std::string text = wrapped(std::string(90, 'a') + ' ' + std::string(20, 'b'), 2, 4);
    EXPECT_EQ(text, "  " + std::string(90, 'a') + "\n    " + std::string(20, 'b') + '\n');
}

}  // namespace
}  // namespace npuscope
