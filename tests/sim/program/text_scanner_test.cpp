// SPDX-License-Identifier: Apache-2.0
#include "sim/program/text_scanner.h"

#include <gtest/gtest.h>

#include "tests/sim/program/program_samples.h"

namespace npuscope {
namespace {

using sample::message_of;
const std::string file = "a.txt";

TEST(TextScanner, CountsLinesAndColumnsFromOneInAnyOrderOfQuestions) {
    const std::string text = "ab\ncd\n\nefg";
    const TextScanner scanner(text, file);
    EXPECT_EQ(scanner.place_of(text.data() + 9), (Place{file, 4, 3}));
    EXPECT_EQ(scanner.place_of(text.data()), (Place{file, 1, 1}));
    EXPECT_EQ(scanner.place_of(text.data() + 4), (Place{file, 2, 2}));
    EXPECT_EQ(scanner.place_of(text.data() + 6), (Place{file, 3, 1}));
    EXPECT_EQ(scanner.place_of(text.data() + text.size()), (Place{file, 4, 4}));
}

TEST(TextScanner, SkipsSpaceAndBothKindsOfComments) {
    TextScanner scanner(" \t\r\n# one\n// two\n/x", file);
    scanner.skip_space();
    EXPECT_EQ(scanner.rest(), "/x");
}

TEST(TextScanner, TakesDecimalAndHexadecimalNumbers) {
    EXPECT_EQ(TextScanner("120,", file).take_number("n"), 120U);
    EXPECT_EQ(TextScanner("0", file).take_number("n"), 0U);
    EXPECT_EQ(TextScanner("0xFfffFFFFffffffff", file).take_number("n"), ~0ULL);
}

TEST(TextScanner, RefusesWhatIsNoNumber) {
    for (const char* text : {"", "x", "0x", "12a", "0xg", "010", "1.5", "0x10000000000000000",
                             "18446744073709551616", "-1"}) {
        EXPECT_NE(message_of([&] { TextScanner(text, file).take_number("n"); }), "") << text;
    }
    EXPECT_EQ(message_of([] { TextScanner("12a;", file).take_number("an address"); }),
              "a.txt:1:1: expected a number (an address), found '12a;'");
    EXPECT_EQ(message_of([] { TextScanner("", file).take_number("an address"); }),
              "a.txt:1:1: the file ends where a number (an address) was expected "
              "(the file is cut short)");
}

TEST(TextScanner, ShowsUnprintableTextWithoutBreakingTheMessage) {
    EXPECT_EQ(message_of([] { TextScanner("\x01\xff\nnext", file).fail_expected("';'"); }),
              "a.txt:1:1: expected ';', found '\\x01\\xff'");
    EXPECT_EQ(message_of([] { TextScanner("\nnext", file).fail_expected("';'"); }),
              "a.txt:1:1: expected ';', found the end of the line");
}

}  // namespace
}  // namespace npuscope
