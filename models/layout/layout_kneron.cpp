// SPDX-License-Identifier: Apache-2.0
// Kneron's numbered NPU layouts. An entry is 16 bytes; the rightmost column of the vendor's tables
// is byte 0. Digits of high/low layouts count scalars, which are then stored in entry pairs
// (layout.h).
//
// Every 16-bit format clears bit 0, except for 8W1C16B of descriptor version 1 (KL520, KL630, KL720),
// which keeps all 16 bits. KL520 puts rows before channels. Rows of 4W4C8B are padded to 4
// pixels: this follows from the entry, no page states it.
// source: Kneron pages "Supported NPU Data Layout Format", also of KL730; vendor's readers
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/base/error.h"
#include "models/layout/layout_catalog.h"

namespace npuscope {

namespace {

constexpr std::array chip_parameters{
    LayoutParameter{"chip", 730, "520, 530, 630, 720, 730 or 830"}};

enum : std::uint32_t { Kl520 = 1, Kl530 = 2, Kl630 = 4, Kl720 = 8, Kl730 = 16, Kl830 = 32 };
constexpr std::uint32_t every_chip = 63;
constexpr std::uint32_t from_530 = every_chip & ~std::uint32_t{Kl520};
constexpr std::uint32_t from_730 = Kl730 | Kl830;
constexpr std::uint32_t version_1 = Kl520 | Kl530 | Kl630 | Kl720;

struct ChipRow {
    std::uint64_t chip;
    std::uint32_t bit;
};
constexpr std::array chips{ChipRow{520, Kl520}, ChipRow{530, Kl530}, ChipRow{630, Kl630},
                           ChipRow{720, Kl720}, ChipRow{730, Kl730}, ChipRow{830, Kl830}};

struct Trait {
    std::string_view name;
    ElementCode code;
    std::uint32_t chips;
    std::uint64_t most_channels;  ///< 0: any
};

// source: per-chip lists of the layout pages, vendor's converter tables
constexpr std::array traits{
    Trait{"4W4C8B", ElementCode::Plain, every_chip, 4},
    Trait{"1W16C8B", ElementCode::Plain, from_530, 0},
    Trait{"16W1C8B", ElementCode::Plain, every_chip, 0},
    Trait{"8W1C16B", ElementCode::Even, from_530, 0},
    Trait{"4W4C8BHL", ElementCode::HighLow, Kl530 | Kl630 | from_730, 4},
    Trait{"1W16C8BHL", ElementCode::HighLow, from_530, 0},
    Trait{"16W1C8BHL", ElementCode::HighLow, Kl530 | Kl630 | from_730, 0},
    Trait{"RAW_8B", ElementCode::Plain, from_530, 0},
    Trait{"RAW_16B", ElementCode::Even, from_530, 0},
    Trait{"RAW_FLOAT", ElementCode::Plain, from_530, 0},
    Trait{"1W16C8B_CH_COMPACT", ElementCode::Plain, from_730, 0},
    Trait{"1W16C8BHL_CH_COMPACT", ElementCode::HighLow, from_730, 0},
    Trait{"HW4C8B_KEEP_A", ElementCode::Plain, from_730, 4},
    Trait{"HW4C8B_DROP_A", ElementCode::Plain, from_730, 3},
    Trait{"HW1C8B", ElementCode::Plain, from_730, 0},
    Trait{"HW1C16B_LE", ElementCode::Even, from_730, 0},
    Trait{"HW1C16B_BE", ElementCode::SwappedEven, from_730, 0},
};

/// Every row has one.
constexpr const Trait* find_trait(std::string_view name) {
    return std::ranges::find(traits, name, &Trait::name);
}

std::uint32_t chip_bit(const LayoutRow& row, const LayoutRequest& request, const Trait& trait) {
    const std::uint64_t chip = parameter(row, request, "chip");
    const auto* found = std::ranges::find(chips, chip, &ChipRow::chip);
    if (found == chips.end()) {
        throw ConfigError(fmt::format("there is no chip KL{}", chip),
                          "520, 530, 630, 720, 730 or 830");
    }
    if ((trait.chips & found->bit) == 0) {
        throw ConfigError(fmt::format("KL{} does not have layout {}", chip, row.name));
    }
    return found->bit;
}

Layout make_kneron(const LayoutRow& row, const LayoutRequest& request) {
    const Trait& trait = *find_trait(row.name);
    const std::uint32_t chip = chip_bit(row, request, trait);
    if (trait.most_channels != 0) {
        require_extent(row, request, 'C', trait.most_channels);
    }
    const bool rows_first = chip == Kl520 && row.name == "16W1C8B";
    const bool whole = (chip & version_1) != 0 && row.name == "8W1C16B";
    return bind_row(row, request, rows_first ? "N H C W/16 W%16" : row.sentence,
                    {.code = whole ? ElementCode::Plain : trait.code});
}

/// ONNX order, whatever the axes are.
Layout make_raw(const LayoutRow& row, const LayoutRequest& request) {
    LayoutSentence sentence;
    for (const AxisExtent& axis : request.shape.axes) {
        sentence.push_back({.axis = axis.axis});
    }
    const Trait& trait = *find_trait(row.name);
    chip_bit(row, request, trait);
    return bind(sentence, request.shape,
                {.name = std::string(row.name), .element = request.element, .code = trait.code});
}

constexpr std::string_view kneron_page = "Kneron layout page";
constexpr std::string_view page_730 = "Kneron layout page of KL730";

constexpr LayoutRow fixed(std::string_view name, std::string_view sentence, std::string_view use,
                          std::string_view limits, std::uint32_t element) {
    return {name,   "kneron", sentence,        use,        limits, kneron_page,
            "NCHW", element,  chip_parameters, make_kneron};
}
constexpr LayoutRow raw(std::string_view name, std::string_view use, std::string_view limits,
                        std::uint32_t element) {
    return {name,   "kneron", "N C H W",       use,     limits, page_730,
            "NCHW", element,  chip_parameters, make_raw};
}

constexpr std::array kneron_rows{
    fixed("4W4C8B", "N H W/4 C/4 W%4 C%4", "4 pixels of 4 channels; images in",
          "8 bits, up to 4 channels", 1),
    fixed("1W16C8B", "C/16 N H W C%16", "1 pixel of 16 channels, groups outermost",
          "8 bits; not KL520", 1),
    fixed("16W1C8B", "N C H W/16 W%16", "16 pixels of one channel; KL520: N H C W/16 W%16",
          "8 bits", 1),
    fixed("8W1C16B", "N C H W/8 W%8", "8 pixels of one channel, 16 bits",
          "KL530, KL630, KL720: 16 bits; KL730, KL830: 15 of 16 bits", 2),
    fixed("4W4C8BHL", "N H W/4 C/4 W%4 C%4", "as 4W4C8B, low entry then high entry",
          "15 of 16 bits, up to 4 channels; KL530, KL630, KL730, KL830", 2),
    fixed("1W16C8BHL", "C/16 N H W C%16", "as 1W16C8B, low entry then high entry",
          "15 of 16 bits; not KL520", 2),
    fixed("16W1C8BHL", "N C H W/16 W%16", "as 16W1C8B, low entry then high entry",
          "15 of 16 bits; KL530, KL630, KL730, KL830", 2),
    raw("RAW_8B", "ONNX order", "8 bits; not KL520", 1),
    raw("RAW_16B", "ONNX order, 16 bits", "15 of 16 bits; not KL520", 2),
    raw("RAW_FLOAT", "ONNX order, float32", "32 bits; not KL520", 4),
    fixed("1W16C8B_CH_COMPACT", "N H W C/16 C%16",
          "1 pixel of 16 channels, groups of a pixel "
          "together",
          "8 bits; KL730, KL830", 1),
    fixed("1W16C8BHL_CH_COMPACT", "N H W C/16 C%16", "the same, low entry then high entry",
          "15 of 16 bits; KL730, KL830", 2),
    fixed("HW4C8B_KEEP_A", "N H W C/4 C%4", "pixels of 4 channels, rows not padded",
          "8 bits, up to 4 channels; KL730, KL830", 1),
    fixed("HW4C8B_DROP_A", "N H W C/4 C%4", "pixels of 3 channels and a zero, rows not padded",
          "8 bits, up to 3 channels; KL730, KL830", 1),
    fixed("HW1C8B", "N C H W", "16 pixels of one channel, rows not padded", "8 bits; KL730, KL830",
          1),
    fixed("HW1C16B_LE", "N C H W", "8 pixels of one channel, low byte first",
          "15 of 16 bits; KL730, KL830", 2),
    fixed("HW1C16B_BE", "N C H W", "8 pixels of one channel, high byte first",
          "15 of 16 bits; KL730, KL830", 2),
};
static_assert(std::ranges::all_of(kneron_rows,
                                  [](const LayoutRow& row) {
                                      return find_trait(row.name) != traits.end();
                                  }),
              "every row has its trait: its element code, and the chips that know it");

}  // namespace

std::span<const LayoutRow> kneron_layouts() { return kneron_rows; }

}  // namespace npuscope
