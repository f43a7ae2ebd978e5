// SPDX-License-Identifier: Apache-2.0
#include "sim/program/txn_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace npuscope {
namespace {

constexpr std::uint64_t register_space = 0xffff0000;  // source: nv_full traces
constexpr std::uint64_t register_words = 0x10000;

/// What lies below `bytes`.
MemoryImage first_bytes(MemoryImage image, Bytes bytes) {
    for (MemoryImage::Run& run : image.runs) {
        const std::uint64_t room = run.offset < bytes.value ? bytes.value - run.offset : 0;
        run.size = std::min(run.size, room);
    }
    std::erase_if(image.runs, [](const MemoryImage::Run& run) { return run.size == 0; });
    return image;
}

}  // namespace

std::string_view TxnReader::begin_statement() {
    scanner_.skip_space();
    place_ = scanner_.place();
    if (scanner_.at_end()) {
        return {};
    }
    const std::string_view name = scanner_.take_word();
    if (name.empty()) {
        scanner_.fail_expected("a statement, e.g. write_reg");
    }
    return name;
}

bool TxnReader::more() {
    scanner_.skip_blanks();
    return !scanner_.at_end() && scanner_.peek() != '\n' && scanner_.peek() != '#';
}

void TxnReader::end_statement() {
    if (more()) {
        scanner_.fail_expected("the end of the line");
    }
    scanner_.skip_line();
}

std::uint64_t TxnReader::take_number(std::string_view what) {
    scanner_.skip_blanks();
    return scanner_.take_number(what);
}

std::uint32_t TxnReader::take_word(std::string_view what) {
    scanner_.skip_blanks();
    const Place at = scanner_.place();
    const std::uint64_t value = scanner_.take_number(what);
    if (value > std::numeric_limits<std::uint32_t>::max()) {
        throw ConfigError(at, fmt::format("{:#x} does not fit 32 bits ({})", value, what));
    }
    return static_cast<std::uint32_t>(value);
}

TxnRegister TxnReader::take_register() {
    scanner_.skip_blanks();
    const Place at = scanner_.place();
    const std::uint64_t word = scanner_.take_number("the word address of a register");
    const bool inside = word >= register_space && word - register_space < register_words;
    const auto address = static_cast<std::uint32_t>(inside ? (word - register_space) * 4 : 0);
    std::optional<std::string> name = inside ? names_.name(address) : std::nullopt;
    if (!name) {
        throw ConfigError(at, fmt::format("no register at {:#x}", word),
                          inside ? fmt::format("that is byte address {:#x}; `npuscope list "
                                               "registers --map nv_full` prints the map",
                                               address)
                                 : "registers stand at 0xffff0000 + byte address / 4");
    }
    return {std::move(*name), address};
}

Comparison TxnReader::take_comparison() {
    scanner_.skip_blanks();
    if (scanner_.take("<=")) {
        return Comparison::AtMost;
    }
    if (scanner_.take(">=")) {
        return Comparison::AtLeast;
    }
    scanner_.take("==");
    return Comparison::Equal;
}

unsigned TxnReader::take_attempts() {
    if (!more()) {
        return setting_.read_attempts;
    }
    return std::max(1U, take_word("how often the register is read"));
}

std::pair<Address, Bytes> TxnReader::take_range() {
    const Address address(take_number("an address"));
    scanner_.skip_blanks();
    const Place at = scanner_.place();
    const Bytes bytes(scanner_.take_number("a number of bytes"));
    if (bytes.value == 0) {
        throw ConfigError(at, "a range of no bytes", "give its size in bytes");
    }
    if (bytes.value - 1 > std::numeric_limits<std::uint64_t>::max() - address.value) {
        throw ConfigError(at, fmt::format("{:#x} bytes at {} end beyond the 64-bit space",
                                          bytes.value, to_hex(address)));
    }
    return {address, bytes};
}

std::pair<std::string, MemoryImage> TxnReader::take_image(Bytes bytes) {
    scanner_.skip_blanks();
    const Place at = scanner_.place();
    const std::string_view rest = scanner_.rest();
    const std::size_t length = std::min(rest.find_first_of(" \t\r\n#"), rest.size());
    if (length == 0) {
        scanner_.fail_expected("the name of a file");
    }
    std::string file(rest.substr(0, length));
    scanner_.advance(length);
    if (!setting_.images) {
        return {file, {}};
    }
    MemoryImage image = setting_.images(file, at);
    if (image.end() < bytes.value) {
        throw ConfigError(at,
                          fmt::format("'{}' has {:#x} bytes, the statement asks for {:#x}", file,
                                      image.end(), bytes.value),
                          "is the file cut short? Mend it, or the statement's size");
    }
    return {std::move(file), first_bytes(std::move(image), bytes)};
}

}  // namespace npuscope
