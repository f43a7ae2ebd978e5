// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "models/base/check.h"
#include "models/base/error.h"

namespace npuscope {
namespace {

constexpr std::array<std::string_view, 6> field_names{"channel", "rank", "bank_group",
                                                      "bank",    "row",  "column"};
constexpr std::size_t column_field = 5;
constexpr unsigned open_end = 64;
constexpr unsigned largest_address_bits = 62;

[[noreturn]] void refuse(const std::string& sentence) {
    throw ConfigError(sentence,
                      "write each of channel, rank, bank_group, bank, row and column, "
                      "as in `row rank bank column bank_group channel`");
}

/// Values that each field counts; columns in bursts.
std::array<std::uint32_t, 6> counts_of(const DramOrganisation& of) {
    return {of.channels, of.ranks, of.bank_groups, of.banks, of.rows, of.columns / of.burst_length};
}

struct Word {
    std::size_t field;
    std::optional<unsigned> bits;
};

Word read_word(const std::string& text) {
    const std::size_t colon = text.find(':');
    const auto name = std::ranges::find(field_names, std::string_view(text).substr(0, colon));
    if (name == field_names.end()) {
        refuse(fmt::format("`{}` is not a field of a DRAM address", text));
    }
    Word word{static_cast<std::size_t>(name - field_names.begin()), std::nullopt};
    if (colon == std::string::npos) {
        return word;
    }
    unsigned bits = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + colon + 1, end, bits);
    if (read.ec != std::errc() || read.ptr != end || bits == 0 || bits > 32) {
        refuse(fmt::format("`{}` needs a number of bits from 1 to 32", text));
    }
    word.bits = bits;
    return word;
}

std::vector<Word> read_words(const std::string& mapping) {
    std::vector<Word> words;
    std::istringstream text(mapping);
    for (std::string word; text >> word;) {
        words.push_back(read_word(word));
    }
    return words;
}

unsigned bits_of(std::uint64_t count) { return static_cast<unsigned>(std::bit_width(count - 1)); }

/// Bits of a field that pieces with a number leave to the one without.
unsigned rest_of(const std::vector<Word>& words, std::size_t field, std::uint32_t count) {
    unsigned rest = bits_of(count);
    for (const Word& word : words) {
        if (word.field == field && word.bits) {
            rest -= std::min(rest, *word.bits);
        }
    }
    return rest;
}

void expect_sound(const DramOrganisation& of) {
    const bool moves = of.burst_length > 0 && of.beats_per_clock > 0;
    const bool counted =
        moves && of.columns % of.burst_length == 0 &&
        std::ranges::all_of(counts_of(of), [](std::uint32_t count) { return count > 0; });
    if (!counted || !std::has_single_bit(of.burst_bytes().value) ||
        !std::has_single_bit(of.burst_length)) {
        throw ConfigError(
            "every DRAM count must be at least 1, a row must hold whole bursts, and the burst size "
            "must be a power of two",
            "correct memory.regions[].dram.organisation");
    }
}

}  // namespace

DramAddressMap::DramAddressMap(const DramConfig& config)
    : capacity_(config.organisation.capacity()) {
    expect_sound(config.organisation);
    burst_bits_ = bits_of(config.organisation.burst_bytes().value);
    column_bits_ = bits_of(config.organisation.burst_length);
    pieces_ = read_pieces(config);
    place_pieces(config);
}

std::vector<DramAddressMap::Piece> DramAddressMap::read_pieces(const DramConfig& config) const {
    const std::vector<Word> words = read_words(config.mapping);
    if (words.empty()) {
        refuse("the mapping is empty");
    }
    const auto counts = counts_of(config.organisation);
    for (std::size_t field = 0; field < counts.size(); ++field) {
        const auto open = std::ranges::count_if(
            words, [&](const Word& word) { return word.field == field && !word.bits; });
        if (open > 1) {
            refuse(fmt::format("the mapping names `{}` twice", field_names[field]));
        }
    }
    std::vector<Piece> pieces;
    for (const Word& word : words) {
        const unsigned bits = word.bits.value_or(rest_of(words, word.field, counts[word.field]));
        pieces.push_back({word.field, bits, 0, 0});
    }
    return pieces;
}

void DramAddressMap::place_pieces(const DramConfig& config) {
    const auto counts = counts_of(config.organisation);
    std::array<unsigned, 6> placed{};
    unsigned in_byte = burst_bits_;
    for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
        piece->shift_in_byte = in_byte;
        piece->shift_in_field = placed[piece->field];
        placed[piece->field] += piece->bits;
        in_byte += piece->bits;
    }
    for (std::size_t field = 0; field < counts.size(); ++field) {
        if (placed[field] != bits_of(counts[field])) {
            refuse(fmt::format("the mapping gives {} bit{} to `{}`, which has {}", placed[field],
                               placed[field] == 1 ? "" : "s", field_names[field],
                               bits_of(counts[field])));
        }
        if (!std::has_single_bit(counts[field]) && pieces_.front().field != field) {
            refuse(fmt::format("`{}` has {} values, not a power of two, and must stand first",
                               field_names[field], counts[field]));
        }
    }
    const Piece& first = pieces_.front();
    if (in_byte > largest_address_bits ||
        counts[first.field] % (std::uint64_t{1} << first.shift_in_field) != 0) {
        refuse("the first field of the mapping would not have an integer number of values");
    }
    pieces_.front().bits = open_end;
}

DramLocation DramAddressMap::decode(Bytes offset) const {
    NPU_CHECK(offset < capacity_, "an offset lies inside the DRAM");
    Values values{};
    for (const Piece& piece : pieces_) {
        const std::uint64_t mask =
            piece.bits == open_end ? ~std::uint64_t{0} : (std::uint64_t{1} << piece.bits) - 1;
        const std::uint64_t value = (offset.value >> piece.shift_in_byte) & mask;
        values[piece.field] |= static_cast<std::uint32_t>(value << piece.shift_in_field);
    }
    return {.channel = values[0],
            .rank = values[1],
            .bank_group = values[2],
            .bank = values[3],
            .row = values[4],
            .column = values[column_field] << column_bits_};
}

Bytes DramAddressMap::encode(const DramLocation& location) const {
    const Values values{location.channel, location.rank, location.bank_group,
                        location.bank,    location.row,  location.column >> column_bits_};
    std::uint64_t offset = 0;
    for (const Piece& piece : pieces_) {
        const std::uint64_t mask =
            piece.bits == open_end ? ~std::uint64_t{0} : (std::uint64_t{1} << piece.bits) - 1;
        const std::uint64_t value = (values[piece.field] >> piece.shift_in_field) & mask;
        offset |= value << piece.shift_in_byte;
    }
    return Bytes(offset);
}

void DramAddressMap::expect_room(const std::string& region, Bytes bytes) const {
    if (bytes > capacity_) {
        throw ConfigError(fmt::format("region `{}` has {} bytes but its DRAM holds {}", region,
                                      bytes.value, capacity_.value),
                          "make the region smaller, or give the DRAM more ranks or channels");
    }
}

}  // namespace npuscope
