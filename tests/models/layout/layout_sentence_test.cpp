// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "models/base/error.h"
#include "models/layout/layout.h"

namespace npuscope {
namespace {

TEST(LayoutSentence, IsReadAndSpelledAlike) {
    for (const char* text : {"N C H W", "C/32 H W C%32", "W/8 H W/2%4 W%2", "K/8~ C/4~ K%8 C%4",
                             "R%2 S%2^128 R/2- S/2-", "C/8:1024 H:256 W C%8"}) {
        EXPECT_EQ(to_string(parse_sentence(text)), text);
    }
    EXPECT_EQ(to_string(parse_sentence("  N   C ")), "N C");
}

TEST(LayoutSentence, DigitsOfAnAxisMustJoin) {
    for (const char* text : {"", " ", "c", "C/0", "C%8", "C/32 H C%16", "C/32 H", "C H C", "C/",
                             "C:", "C/8x", "C H,W", "C/99999999999999999999", "C/4 C%4%2"}) {
        EXPECT_THROW(parse_sentence(text), ConfigError) << text;
    }
}

TEST(LayoutSentence, DamagedTextsAreReadOrRefused) {
    std::mt19937 random(5);
    const std::string seed = "K/8~ C/4:64 R/2- S^128 K%8 C%4 R%2";
    for (unsigned times = 0; times < 20000; ++times) {
        std::string text = seed;
        for (unsigned i = 0; i < 1 + random() % 4; ++i) {
            const std::size_t at = random() % text.size();
            switch (random() % 3) {
                case 0:
                    text[at] = static_cast<char>(random());
                    break;
                case 1:
                    text.erase(at, 1 + random() % 5);
                    text += text.empty() ? "C" : "";
                    break;
                default:
                    text.insert(at, 1, "/%~-:^ 0189CKRSHW"[random() % 17]);
                    break;
            }
        }
        try {
            const LayoutSentence sentence = parse_sentence(text);
            EXPECT_EQ(parse_sentence(to_string(sentence)), sentence) << text;
            const LogicalShape shape{{{'K', 9}, {'C', 7}, {'R', 3}, {'S', 2}}};
            const Layout layout = bind(sentence, shape, {.name = "damaged"});
            EXPECT_LE(layout.used, layout.bytes);
        } catch (const ConfigError&) {
            continue;
        }
    }
}

}  // namespace
}  // namespace npuscope
