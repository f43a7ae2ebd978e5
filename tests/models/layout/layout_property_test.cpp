// SPDX-License-Identifier: Apache-2.0
// Over the whole catalogue and random shapes: no two elements share a byte or a bit, all lie in
// bounds, and whatever goes from one layout to any other and back is unchanged.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "models/layout/element_code.h"
#include "models/layout/layout_catalog.h"
#include "models/layout/relayout.h"
#include "tests/models/layout/catalog_shapes.h"

namespace npuscope {
namespace {

using sample::CatalogShapes;
using Bytes8 = std::vector<std::uint8_t>;

/// Elements are disjoint if each changes bits that no other changes.
void expect_distinct(const Layout& layout) {
    Bytes8 taken(layout.bytes, 0);
    std::vector<std::uint64_t> index(layout.shape.axes.size(), 0);
    do {
        Bytes8 alone(layout.bytes, 0);
        const std::uint64_t all =
            layout.element == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * layout.element) - 1;
        ASSERT_LE(layout.address(index) + (layout.code == ElementCode::HighLow ? 17 : 1),
                  layout.used)
            << layout.name;
        write_element(layout, alone, index, all);
        if (layout.part_of(index).field.width == 0) {
            ASSERT_EQ(read_element(layout, alone, index) | 1U, all) << layout.name;
        }
        const std::uint64_t first = layout.address(index);
        for (std::uint64_t at = first; at < std::min(first + 18, layout.bytes); ++at) {
            ASSERT_EQ(taken[at] & alone[at], 0)
                << layout.name << " of " << to_string(layout.shape) << ", byte " << at;
            taken[at] |= alone[at];
        }
    } while (next_index(index, layout.shape.box()));
}

/// Each has a label of its own.
void expect_drawn(const Layout& layout) {
    std::set<std::string> labels;
    std::istringstream cells(first_entry(layout, layout.bytes));
    for (std::string label; cells >> label;) {
        labels.insert(label);
    }
    labels.erase("-");
    EXPECT_EQ(labels.size(),
              layout.shape.elements() * (layout.code == ElementCode::HighLow ? 2 : 1))
        << layout.name << " (" << layout.sentence << ") of " << to_string(layout.shape);
}

TEST(LayoutCatalogue, NoTwoElementsShareABit) {
    CatalogShapes draw(11);
    for (const LayoutRow* row : layout_catalog()) {
        unsigned made = 0;
        for (unsigned tries = 0; tries < 4000 && made < 6; ++tries) {
            const LogicalShape shape = draw.shape(*row);
            const auto layout = draw.layout(*row, shape);
            if (layout && shape.elements() < 1500 && layout->bytes < 20000) {
                expect_distinct(*layout);
                if (layout->parts.front().field.width == 0) {
                    expect_drawn(*layout);
                }
                ++made;
            }
        }
        EXPECT_GE(made, 3U) << row->name;
    }
}

/// Values that every layout of the pair can hold, in row-major order.
Bytes8 holdable(const Layout& a, const Layout& b, CatalogShapes& draw) {
    const Layout plain = plain_layout(a.shape, a.element);
    Bytes8 values = draw.bytes(plain.bytes);
    for (const Layout* layout : {&a, &b}) {
        Bytes8 memory(layout->bytes);
        relayout_plain(plain, values, *layout, memory);
        relayout_plain(*layout, memory, plain, values);
    }
    return values;
}

void expect_round_trip(const Layout& a, const Layout& b, CatalogShapes& draw) {
    const std::string names = a.name + " (" + a.sentence + ") -> " + b.name + " (" + b.sentence +
                              ") of " + to_string(a.shape) + " x " + std::to_string(a.element);
    const Layout plain = plain_layout(a.shape, a.element);
    const Bytes8 values = holdable(a, b, draw);
    Bytes8 in_a = draw.bytes(a.bytes), in_b = draw.bytes(b.bytes), expected(b.bytes);
    relayout(plain, values, a, in_a);
    relayout_plain(plain, values, b, expected);
    for (const std::uint64_t cache : {0U, 1U}) {  // through the caches and bypassing them
        relayout(a, in_a, b, in_b, {.cache = cache});
        ASSERT_EQ(in_b, expected) << names;
    }
    Bytes8 back = draw.bytes(plain.bytes);
    relayout(b, in_b, plain, back);
    ASSERT_EQ(back, values) << names;
    Bytes8 kept = draw.bytes(b.bytes), kept_plain = kept;
    relayout(a, in_a, b, kept, {.gaps = GapPolicy::Keep});
    relayout_plain(a, in_a, b, kept_plain, GapPolicy::Keep);
    ASSERT_EQ(kept, kept_plain) << names << ", gaps kept";
}

TEST(LayoutCatalogue, AnyLayoutToAnyOtherAndBack) {
    CatalogShapes draw(12);
    const std::vector<const LayoutRow*> rows = layout_catalog();
    unsigned made = 0;
    for (const LayoutRow* first : rows) {
        for (const LayoutRow* second : rows) {
            if (first->axes != second->axes || first->family == "nvdla pixels") {
                continue;
            }
            for (unsigned tries = 0; tries < 40; ++tries) {
                const LogicalShape shape = draw.shape(*first);
                const auto a = draw.layout(*first, shape);
                const auto b = a ? draw.layout(*second, shape, a->element) : std::nullopt;
                const bool fits = b && (second->element == 0 || second->element == a->element);
                if (fits && shape.elements() < 30000) {
                    expect_round_trip(*a, *b, draw);
                    ++made;
                    break;
                }
            }
        }
    }
    EXPECT_GT(made, 300U);
}

/// Layout expressions of our own, including ones that no vendor has: radices that do not divide
/// each other.
TEST(LayoutCatalogue, SentencesThatNobodyNamed) {
    CatalogShapes draw(13);
    const std::vector<std::string> sentences{"N C H W",
                                             "N H W C",
                                             "N C/3 H W C%3",
                                             "N C/4 H W C%4",
                                             "W/4 H C N W%4",
                                             "C/6 N W H C/2%3 C%2",
                                             "H- W- C N",
                                             "N H/2 W/2 C H%2 W%2",
                                             "C/8~ H W N C%8",
                                             "N C^64 H^16 W",
                                             "N C/5 H/3 W H%3 C%5",
                                             "W/16 C/16 H N W%16 C%16"};
    for (unsigned tries = 0; tries < 400; ++tries) {
        LogicalShape shape{{{'N', 1 + draw.below(2)},
                            {'C', 1 + draw.below(40)},
                            {'H', 1 + draw.below(12)},
                            {'W', 1 + draw.below(70)}}};
        const std::uint32_t element = 1U << draw.below(4);
        const auto pick = [&] {
            return bind(parse_sentence(sentences[draw.below(sentences.size())]), shape,
                        {.name = "own", .element = element});
        };
        const Layout a = pick(), b = pick();
        expect_round_trip(a, b, draw);
    }
}

}  // namespace
}  // namespace npuscope
