// SPDX-License-Identifier: Apache-2.0
#include "sim/program/call_reader.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <vector>

#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

struct PatternRow {
    std::string_view name;
    FillPattern fill;
};

// source: nv_small test bench, patterns of mem_init that give the same bytes in every run
constexpr std::array pattern_rows{
    PatternRow{"ALL_ZERO", FillPattern::AllZero}, PatternRow{"ONES", FillPattern::Ones},
    PatternRow{"AFIVE", FillPattern::AFive}, PatternRow{"FIVEA", FillPattern::FiveA},
    PatternRow{"ADDR", FillPattern::LowAddress}};

}  // namespace

std::optional<std::string> CallReader::begin_call() {
    scanner_.skip_space();
    if (scanner_.at_end()) {
        return std::nullopt;
    }
    place_ = scanner_.place();
    std::string name = take_name("a call, e.g. reg_write(...);");
    expect('(');
    return name;
}

void CallReader::end_call() {
    expect(')');
    expect(';');
}

void CallReader::expect(char character) {
    scanner_.skip_blanks();
    if (!scanner_.take(character)) {
        scanner_.fail_expected(fmt::format("'{}'", character));
    }
}

void CallReader::next() { expect(','); }

bool CallReader::more() {
    scanner_.skip_blanks();
    return scanner_.take(',');
}

std::string CallReader::take_name(std::string_view what) {
    scanner_.skip_blanks();
    const std::string_view word = scanner_.take_word();
    if (word.empty()) {
        scanner_.fail_expected(what);
    }
    return std::string(word);
}

std::string CallReader::take_quoted(std::string_view what) {
    scanner_.skip_blanks();
    const std::string_view rest = scanner_.rest();
    const std::size_t end = rest.find_first_of("\"\n", 1);
    if (scanner_.peek() != '"' || end == std::string_view::npos || rest[end] != '"' || end == 1) {
        scanner_.fail_expected(fmt::format("{} in double quotes", what));
    }
    scanner_.advance(end + 1);
    return std::string(rest.substr(1, end - 1));
}

std::uint64_t CallReader::take_number(std::string_view what) {
    scanner_.skip_blanks();
    return scanner_.take_number(what);
}

std::uint32_t CallReader::take_word32(std::string_view what) {
    scanner_.skip_blanks();
    const char* start = scanner_.position();
    const std::uint64_t value = scanner_.take_number(what);
    if (value > std::numeric_limits<std::uint32_t>::max()) {
        throw ConfigError(scanner_.place_of(start),
                          fmt::format("{} {} does not fit into 32 bits", what, to_hex(value)));
    }
    return static_cast<std::uint32_t>(value);
}

MemoryPort CallReader::take_memory() {
    scanner_.skip_blanks();
    const char* start = scanner_.position();
    const std::string name = take_name("a memory, pri_mem or sec_mem");
    if (name == "pri_mem" || name == "1") {  // source: check_crc of the nv_small traces
        return MemoryPort::Primary;
    }
    if (name == "sec_mem" || name == "0") {
        return MemoryPort::Secondary;
    }
    throw ConfigError(scanner_.place_of(start), fmt::format("unknown memory '{}'", name),
                      "known: pri_mem (or 1), sec_mem (or 0)");
}

MemoryRange CallReader::take_range() {
    MemoryRange range;
    range.memory = take_memory();
    next();
    range.address = Address(take_number("an address"));
    next();
    scanner_.skip_blanks();
    const char* start = scanner_.position();
    range.bytes = Bytes(take_number("a number of bytes"));
    if (range.bytes.value > std::numeric_limits<std::uint64_t>::max() - range.address.value) {
        throw ConfigError(scanner_.place_of(start),
                          "the region ends beyond the 64-bit address space");
    }
    return range;
}

FillPattern CallReader::take_pattern() {
    scanner_.skip_blanks();
    const char* start = scanner_.position();
    const std::string name = take_name("a pattern, e.g. ALL_ZERO");
    std::vector<std::string> known;
    for (const PatternRow& row : pattern_rows) {
        if (row.name == name) {
            return row.fill;
        }
        known.emplace_back(row.name);
    }
    throw ConfigError(scanner_.place_of(start), fmt::format("unknown pattern '{}'", name),
                      name_remedy(name, known));
}

NamedRegister CallReader::take_register() {
    scanner_.skip_blanks();
    const char* start = scanner_.position();
    std::string name = take_name("a register, e.g. NVDLA_CDMA.D_BANK_0");
    const std::optional<std::uint32_t> address = names_.address(name);
    if (!address) {
        throw ConfigError(scanner_.place_of(start), fmt::format("unknown register '{}'", name),
                          names_.remedy(name));
    }
    return {names_.name(*address).value_or(name), *address};
}

}  // namespace npuscope
