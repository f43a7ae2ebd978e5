// SPDX-License-Identifier: Apache-2.0
#include "models/layout/layout.h"

#include <gtest/gtest.h>

#include "models/base/error.h"
#include "models/layout/layout_catalog.h"
#include "models/layout/relayout.h"
#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

const LogicalShape image{{{'N', 1}, {'C', 40}, {'H', 3}, {'W', 5}}};

std::uint64_t at(const Layout& layout, std::vector<std::uint64_t> index) {
    return layout.address(index);
}

TEST(Layout, AFeatureCubePutsChannelsIntoAtoms) {
    const Layout layout =
        make_layout(*find_layout("feature"), {image, 1, {{"atom", 32}, {"line_stride", 256}}});
    EXPECT_EQ(at(layout, {0, 0, 0, 0}), 0U);
    EXPECT_EQ(at(layout, {0, 33, 2, 4}), 3 * 256U + 2 * 256U + 4 * 32U + 1U);
    EXPECT_EQ(layout.bytes, 2 * 3 * 256U);
}

TEST(Layout, WeightsHaveShortGroupsAndCubes) {
    const LogicalShape kernels{{{'K', 5}, {'C', 7}, {'R', 1}, {'S', 2}}};
    const Layout layout =
        make_layout(*find_layout("weight_dc"), {kernels, 1, {{"group", 4}, {"cube", 4}}});
    EXPECT_EQ(at(layout, {3, 3, 0, 1}), 31U);  // last of the first cube of group 0
    EXPECT_EQ(at(layout, {0, 4, 0, 0}), 32U);  // three channels are left for cube 1
    EXPECT_EQ(at(layout, {1, 4, 0, 0}), 35U);
    EXPECT_EQ(at(layout, {4, 0, 0, 0}), 56U);  // group 1: one kernel
    EXPECT_EQ(at(layout, {4, 6, 0, 1}), 69U);
    EXPECT_EQ(layout.bytes, 128U);
}

TEST(Layout, HighAndLowBytesLieAnEntryApart) {
    const Layout layout = make_layout(*find_layout("1W16C8BHL"), {image, 2, {}});
    EXPECT_EQ(at(layout, {0, 0, 0, 1}), 32U);
    EXPECT_EQ(at(layout, {0, 17, 0, 0}), 15 * 32U + 1U);
    EXPECT_EQ(layout.bytes, 3 * 15 * 16 * 2U);
}

TEST(Layout, ShapesThatCannotBeAreRefused) {
    EXPECT_THROW(parse_shape("1x3x", "NCH"), ConfigError);
    EXPECT_THROW(parse_shape("1x3x4", "NC"), ConfigError);
    EXPECT_THROW(parse_shape("1x0", "NC"), ConfigError);
    EXPECT_THROW(parse_shape("4294967296x4294967296", "HW"), ConfigError);
    EXPECT_THROW(bind(parse_sentence("H W"), image, {}), ConfigError);
    EXPECT_THROW(bind(parse_sentence("N C:4 H W"), image, {}), ConfigError);
    EXPECT_THROW(make_layout(*find_layout("4W4C8B"), {image, 1, {}}), ConfigError);
    EXPECT_THROW(make_layout(*find_layout("1W16C8B"), {image, 2, {}}), ConfigError);
    EXPECT_THROW(make_layout(*find_layout("1W16C8B"), {image, 1, {{"chip", 520}}}), ConfigError);
    EXPECT_THROW(make_layout(*find_layout("feature"), {image, 1, {{"atoms", 8}}}), ConfigError);
    EXPECT_THROW(make_layout(*find_layout("feature"), {image, 1, {{"line_stride", 64}}}),
                 ConfigError);
}

TEST(Layout, StridesOfPartsOfAnAtomAreRefused) {
    const auto with = [](const char* stride, std::uint64_t bytes) {
        return sample::message_of([&] {
            make_layout(*find_layout("feature"), {image, 1, {{"atom", 8}, {stride, bytes}}});
        });
    };
    EXPECT_EQ(with("line_stride", 1028),
              "line_stride 1028 of layout feature is not a multiple of the atom's 8 bytes (1024 or "
              "1032)");
    EXPECT_NE(with("surface_stride", 65537), "");
    EXPECT_EQ(with("line_stride", 1024), "");
}

TEST(Layout, AnElementIsExplainedWithTheFormOfItsBytes) {
    const LogicalShape row{{{'N', 1}, {'C', 1}, {'H', 2}, {'W', 4}}};
    const auto last_line = [&row](const char* name) {
        const Layout layout = make_layout(*find_layout(name), {row, 2, {}});
        const std::string text = explain_element(layout, std::vector<std::uint64_t>{0, 0, 1, 2});
        return text.substr(text.rfind("  byte"));
    };
    EXPECT_EQ(last_line("HW1C16B_LE"), "  byte 12 = 0xc (of 16), bit 0 cleared\n");
    EXPECT_EQ(last_line("HW1C16B_BE"), "  byte 12 = 0xc (of 16), high byte first, bit 0 cleared\n");
}

TEST(Layout, APictureHasElementsAtTheirBytes) {
    const auto first = [](const char* sentence, std::uint64_t extent, std::uint32_t element) {
        return first_entry(bind(parse_sentence(sentence), {{{'W', extent}}}, {.element = element}),
                           8);
    };
    EXPECT_EQ(first("W", 8, 2), "W0 W1 W2 W3");
    EXPECT_EQ(first("W:3", 8, 2), "W0 W0 - W1 W1 - W2 W2");
    EXPECT_EQ(first("W:6", 8, 4), "W0 W0 - W1");
    EXPECT_EQ(first("W-", 1U << 30U, 4), "W1073741823 W1073741822");
    EXPECT_EQ(first("W%2 W/2", 1U << 30U, 2), "W0 W2 W4 W6");
    EXPECT_EQ(first("W/3 W%3-", 8, 1), "W2 W1 W0 W5 W4 W3 - W7");
    const Layout square = bind(parse_sentence("H- W-"), parse_shape("60000x60000", "HW"), {});
    EXPECT_EQ(first_entry(square, 2), "H59999W59999 H59999W59998");
    EXPECT_EQ(draw_entries(bind(parse_sentence("W:3"), {{{'W', 2}}}, {.element = 2}), {1, 4}),
              "Bits           [31:24]   [23:16]    [15:8]     [7:0]\n"
              "Entry #0            W1         -        W0        W0\n");
}

/// source: Kneron pages and readers: a picture, whose pixels of one channel follow each other
TEST(Layout, PicturesOfKneronHaveTheirOwnOrderWhateverTheAxes) {
    const LogicalShape picture{{{'H', 2}, {'W', 4}, {'C', 3}}};
    for (const auto& [name, element] :
         {std::pair{"HW1C8B", 1U}, std::pair{"HW1C16B_LE", 2U}, std::pair{"HW1C16B_BE", 2U}}) {
        const Layout layout = make_layout(*find_layout(name), {picture, element, {}});
        EXPECT_EQ(at(layout, {0, 1, 0}), element) << name;
        EXPECT_EQ(at(layout, {1, 0, 0}), 4 * element) << name;
        EXPECT_EQ(at(layout, {0, 0, 1}), 8 * element) << name;
    }
    const Layout raw = make_layout(*find_layout("RAW_8B"), {picture, 1, {}});
    EXPECT_EQ(at(raw, {0, 1, 0}), 3U);
}

TEST(Layout, OnlyOneFormatOfKneronKeepsAllSixteenBits) {
    for (const std::uint64_t chip : {530U, 630U, 720U, 730U, 830U}) {
        const auto code = [&](const char* name) {
            return make_layout(*find_layout(name), {image, 2, {{"chip", chip}}}).code;
        };
        EXPECT_EQ(code("RAW_16B"), ElementCode::Even) << chip;
        EXPECT_EQ(code("8W1C16B"), chip < 730 ? ElementCode::Plain : ElementCode::Even) << chip;
    }
}

TEST(Layout, AtomsAreThoseOfMemory) {
    for (const std::uint64_t atom : {0U, 1U, 4U, 7U, 12U, 128U}) {
        EXPECT_NE(sample::message_of([&] {
                      make_layout(*find_layout("feature"), {image, 1, {{"atom", atom}}});
                  }).find("(8, 16, 32 or 64)"),
                  std::string::npos)
            << atom;
    }
}

/// A pitch that nothing steps by may be arbitrarily short.
TEST(Layout, AnAxisThatTheShapeHasNotNeedsNoRoom) {
    const LogicalShape row{{{'W', 128}}};
    const Layout layout =
        make_layout(*find_layout("feature"), {row, 1, {{"atom", 8}, {"line_stride", 64}}});
    EXPECT_EQ(layout.bytes, 1024U);
}

TEST(Layout, SpansThatAreTooSmallAreRefused) {
    const Layout plain = plain_layout(image, 1), other = plain_layout(image, 1, "NHWC");
    std::vector<std::uint8_t> from(plain.bytes), to(other.bytes);
    EXPECT_NO_THROW(relayout(plain, from, other, to));
    EXPECT_THROW(relayout(plain, std::span(from).first(from.size() - 1), other, to), ConfigError);
    EXPECT_THROW(relayout(plain, from, other, std::span(to).first(to.size() - 1)), ConfigError);
    EXPECT_THROW(relayout(plain, from, plain_layout(image, 2), to), ConfigError);
}

TEST(LayoutCatalogue, NamesAreUniqueAndFoundInAnyCase) {
    for (const LayoutRow* row : layout_catalog()) {
        EXPECT_EQ(find_layout(row->name), row);
        EXPECT_FALSE(row->use.empty());
        EXPECT_FALSE(row->source.empty());
    }
    EXPECT_EQ(find_layout("NchW"), find_layout("nchw"));
    EXPECT_EQ(find_layout("nothing"), nullptr);
}

}  // namespace
}  // namespace npuscope
