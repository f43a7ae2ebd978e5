// SPDX-License-Identifier: Apache-2.0
#include "sim/config/printable.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

using std::string_literals::operator""s;

TEST(Printable, ControlCharactersAppearAsTheirCodes) {
    EXPECT_EQ(printable("a\x1b[31mb\x07\x7f\r"), "a\\x1b[31mb\\x07\\x7f\\x0d");
    EXPECT_EQ(printable("a\0b"s), "a\\x00b");
}

TEST(Printable, EndsOfLinesStayInTextsAndNotInNames) {
    EXPECT_EQ(printable("a\n\tb"), "a\n\tb");
    EXPECT_EQ(printable_line("a\n\tb"), "a\\x0a\\x09b");
}

TEST(Printable, LettersOfEveryLanguageStay) {
    const std::string text = "Größe 大きさ 😀";
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlsOfTerminalsInUtf8AreShownToo) {
    EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // one-character CSI
    EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right-to-left override
    EXPECT_EQ(printable("\xe2\x81\xa6"), "\\xe2\\x81\\xa6");  // isolate
}

TEST(Printable, BytesThatAreNoUtf8AreShownToo) {
    EXPECT_EQ(printable("\x9b"), "\\x9b");
    EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");           // longer than needed
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half a surrogate pair
    EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
    EXPECT_EQ(printable("\xe5\xa4"), "\\xe5\\xa4");  // cut short
}

}  // namespace
}  // namespace npuscope
