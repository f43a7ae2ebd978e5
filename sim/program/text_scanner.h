// SPDX-License-Identifier: Apache-2.0
// A cursor over a text in memory, made for speed: no copies, and the line and column of a mistake
// are counted only when there is one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/error.h"

namespace npuscope {

class TextScanner {
 public:
    /// Whether messages quote what was found instead of what was expected. A file that the input
    /// names may hold secrets, so nothing of it is shown.
    enum class Quotes { Found, Nothing };

    /// Both must outlive the scanner.
    TextScanner(std::string_view text, std::string_view file, Quotes quotes = Quotes::Found)
        : begin_(text.data()),
          at_(begin_),
          end_(begin_ + text.size()),
          file_(file),
          quotes_(quotes) {}

    bool at_end() const { return at_ == end_; }
    /// The next character, or 0 at the end.
    char peek() const { return at_ == end_ ? '\0' : *at_; }
    const char* position() const { return at_; }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    std::string_view rest() const { return {at_, left()}; }
    void advance(std::size_t count) { at_ += count; }

    /// Takes the character if it is next.
    bool take(char expected) {
        if (peek() != expected || at_ == end_) {
            return false;
        }
        ++at_;
        return true;
    }
    bool take(std::string_view expected) {
        if (!rest().starts_with(expected)) {
            return false;
        }
        at_ += expected.size();
        return true;
    }
    /// Spaces, tabs and carriage returns; not the end of the line.
    void skip_blanks() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) {
            ++at_;
        }
    }
    /// White space of every kind.
    void skip_white() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) {
            ++at_;
        }
    }
    /// White space of every kind and comments.
    void skip_space();
    void skip_line();
    /// Letters, digits, `_` and `.`; empty if none is next.
    std::string_view take_word();
    /// Decimal or 0x hexadecimal; the error says `expected a number (what)`.
    std::uint64_t take_number(std::string_view what);

    Place place() const { return place_of(at_); }
    Place place_of(const char* where) const;
    /// Throws `expected X, found Y`; at the end of the text `the file ends where X was expected`.
    [[noreturn]] void fail_expected(std::string_view what, const std::string& remedy = {}) const;

 private:
    const char* begin_;
    const char* at_;
    const char* end_;
    std::string_view file_;
    Quotes quotes_;
    // Position of the last query: the next one is counted from there.
    mutable const char* counted_ = begin_;
    mutable const char* line_begin_ = begin_;
    mutable unsigned line_ = 1;
};

/// Value of a hexadecimal digit, or -1.
constexpr int hex_digit_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace npuscope
