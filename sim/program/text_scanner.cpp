// SPDX-License-Identifier: Apache-2.0
#include "sim/program/text_scanner.h"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope {
namespace {

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

/// A short excerpt for a message: printable, one word.
std::string excerpt(std::string_view text) {
    constexpr std::size_t longest = 16;
    std::string shown;
    for (const char c : text.substr(0, std::min(longest, text.find_first_of(" \t\r\n")))) {
        const auto byte = static_cast<unsigned char>(c);
        shown += byte < 0x20 || byte >= 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
    }
    return shown.empty() ? std::string("the end of the line") : fmt::format("'{}'", shown);
}

}  // namespace

void TextScanner::skip_line() {
    while (at_ != end_ && *at_ != '\n') {
        ++at_;
    }
}

void TextScanner::skip_space() {
    while (at_ != end_) {
        const char c = *at_;
        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            ++at_;
        } else if (c == '#' || (c == '/' && end_ - at_ > 1 && at_[1] == '/')) {
            skip_line();
        } else {
            return;
        }
    }
}

std::string_view TextScanner::take_word() {
    const char* start = at_;
    while (at_ != end_ && is_word(*at_)) {
        ++at_;
    }
    return {start, static_cast<std::size_t>(at_ - start)};
}

std::uint64_t TextScanner::take_number(std::string_view what) {
    const char* start = at_;
    const std::string_view word = take_word();
    const bool hex = word.starts_with("0x") || word.starts_with("0X");
    const std::string_view digits = hex ? word.substr(2) : word;
    const std::uint64_t radix = hex ? 16 : 10;
    const bool octal = !hex && digits.size() > 1 && digits.front() == '0';
    bool good = !digits.empty() && !octal;
    std::uint64_t value = 0;
    for (const char c : digits) {
        const int digit = hex_digit_value(c);
        good = good && digit >= 0 && static_cast<std::uint64_t>(digit) < radix &&
               !__builtin_mul_overflow(value, radix, &value) &&
               !__builtin_add_overflow(value, static_cast<std::uint64_t>(digit), &value);
    }
    if (!good) {
        at_ = start;
        fail_expected(fmt::format("a number ({})", what),
                      octal ? "a decimal number does not start with 0" : "");
    }
    return value;
}

Place TextScanner::place_of(const char* where) const {
    if (where < counted_) {
        counted_ = line_begin_ = begin_;
        line_ = 1;
    }
    for (; counted_ != where; ++counted_) {
        if (*counted_ == '\n') {
            ++line_;
            line_begin_ = counted_ + 1;
        }
    }
    return {std::string(file_), line_, static_cast<unsigned>(where - line_begin_) + 1};
}

void TextScanner::fail_expected(std::string_view what, const std::string& remedy) const {
    if (at_ == end_) {
        throw ConfigError(place(), fmt::format("the file ends where {} was expected", what),
                          remedy.empty() ? "the file is cut short" : remedy);
    }
    const std::string found = quotes_ == Quotes::Found ? excerpt(rest()) : "something else";
    throw ConfigError(place(), fmt::format("expected {}, found {}", what, found), remedy);
}

}  // namespace npuscope
