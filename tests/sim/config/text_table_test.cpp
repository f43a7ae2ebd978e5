// SPDX-License-Identifier: Apache-2.0
#include "sim/config/text_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace npuscope {
namespace {

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        widest = std::max(widest, text_width(line));
    }
    return widest;
}

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

TEST(TextTable, NeverExceedsTheWidthAndLosesNothing) {
    TextTable table({{"name", Align::Left}, {"cycles", Align::Right}});
    table.add_row({std::string(300, 'n'), "12"});
    for (const std::size_t width : {std::size_t{40}, std::size_t{80}, report_width}) {
        const std::string text = table.text(width);
        EXPECT_LE(widest_line(text), width);
        EXPECT_EQ(std::count(text.begin(), text.end(), 'n'), 301);  // with the title's
    }
}

TEST(TextTable, LongNamesGoOnAfterTheirPieces) {
    TextTable table({{"#", Align::Right}, {"layer", Align::Left}, {"cycles", Align::Right}});
    table.add_row({"2", "res2a_shortcut", "93,987"});
    table.add_row({"5", "res2a_conv3+res2a", "92,653"});
    EXPECT_EQ(table.text(25),
              "  #  layer         cycles\n"
              "  2  res2a_        93,987\n"
              "     shortcut\n"
              "  5  res2a_conv3+  92,653\n"
              "     res2a\n");
}

TEST(TextTable, TitlesOfNumbersAreBrokenToo) {
    TextTable table({{"client", Align::Left}, {"bytes written", Align::Right}});
    table.add_row({"sdp", "55,296"});
    EXPECT_EQ(table.text(17),
              "  client    bytes\n"
              "          written\n"
              "  sdp      55,296\n");
}

TEST(TextTable, ColumnsThatDoNotFitFollowBelow) {
    TextTable table({{"#", Align::Right},
                     {"layer", Align::Left},
                     {"mac", Align::Right},
                     {"latency", Align::Right},
                     {"sum", Align::Right}});
    table.add_row({"0", "conv1", "13,824", "224", "14,048"});
    EXPECT_EQ(table.text(30),
              "  #  layer     mac  latency\n"
              "  0  conv1  13,824      224\n"
              "\n"
              "  #  layer     sum\n"
              "  0  conv1  14,048\n");
}

TEST(TextTable, WidthCountsCharactersNotBytes) {
    TextTable table({{"name", Align::Left}, {"n", Align::Right}});
    table.add_row({"größe", "1"});
    table.add_row({"width", "2"});
    EXPECT_EQ(table.text(),
              "  name   n\n"
              "  größe  1\n"
              "  width  2\n");
    std::string umlauts;
    for (int i = 0; i < 60; ++i) {
        umlauts += "ü";
    }
    TextTable narrow({{"name", Align::Left}});
    narrow.add_row({umlauts});
    EXPECT_LE(widest_line(narrow.text(40)), 40U);
    EXPECT_EQ(text_width(narrow.text(40)), narrow.text(40).size() - 60);  // no character is broken
}

TEST(TextTable, WordsStayWholeAndPercentagesTogether) {
    TextTable table({{"bound by", Align::Left}});
    table.add_row({"mac 50 %, sdp_drain 45 %"});
    EXPECT_EQ(table.text(19), "  bound by\n  mac 50 %,\n  sdp_drain 45 %\n");
    EXPECT_EQ(table.text(14), "  bound by\n  mac 50 %,\n  sdp_drain\n  45 %\n");
    EXPECT_EQ(wrapped("aaaa bbbb 45 % c", 0, 0, 13), "aaaa bbbb\n45 % c\n");
}

TEST(TextTable, WrappedTextKeepsItsWords) {
    const std::string text = wrapped(std::string(90, 'a') + ' ' + std::string(20, 'b'), 2, 4);
    EXPECT_EQ(text, "  " + std::string(90, 'a') + "\n    " + std::string(20, 'b') + '\n');
}

TEST(TextTable, FittedLinesGoOnBelowTheirColumn) {
    EXPECT_EQ(fitted("short\n", 20), "short\n");
    EXPECT_EQ(fitted("  one two three four five\n", 16), "  one two three\n    four five\n");
    EXPECT_EQ(fitted("  --a   one two three four\n", 20), "  --a   one two\n        three four\n");
    EXPECT_EQ(fitted(std::string(20, ' ') + "the description of an option\n", 42),
              std::string(20, ' ') + "the description of an\n" + std::string(20, ' ') + "option\n");
}

}  // namespace
}  // namespace npuscope
