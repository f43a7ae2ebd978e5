// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "models/base/error.h"
#include "models/layout/layout.h"

namespace npuscope {

namespace {

constexpr std::uint64_t largest_number = std::uint64_t{1} << 48;  // more bytes than anyone maps

class SentenceReader {
 public:
    explicit SentenceReader(std::string_view text) : text_(text) {}

    LayoutSentence read() {
        LayoutSentence sentence;
        skip_spaces();
        while (at_ < text_.size()) {
            sentence.push_back(digit());
            if (at_ < text_.size() && text_[at_] != ' ') {
                fail("a digit ends with a space");
            }
            skip_spaces();
        }
        if (sentence.empty()) {
            fail("there is no digit");
        }
        return sentence;
    }

 private:
    [[noreturn]] void fail(const char* what) const {
        throw ConfigError(
            fmt::format("layout sentence '{}', character {}: {}", text_, at_ + 1, what),
            "digits look like H, C/32, C%32 or H:1024, from slowest to fastest");
    }
    void skip_spaces() {
        while (at_ < text_.size() && text_[at_] == ' ') {
            ++at_;
        }
    }
    bool take(char letter) {
        if (at_ < text_.size() && text_[at_] == letter) {
            ++at_;
            return true;
        }
        return false;
    }
    std::uint64_t number() {
        std::uint64_t value = 0;
        const char* end = text_.data() + text_.size();
        const auto result = std::from_chars(text_.data() + at_, end, value);
        if (result.ec != std::errc() || value == 0 || value > largest_number) {
            fail("a number from 1 on is missing here");
        }
        at_ = static_cast<std::size_t>(result.ptr - text_.data());
        return value;
    }
    LayoutDigit digit() {
        LayoutDigit digit;
        if (text_[at_] < 'A' || text_[at_] > 'Z') {
            fail("an axis is a capital letter");
        }
        digit.axis = text_[at_++];
        digit.divide = take('/') ? number() : 1;
        digit.modulo = take('%') ? number() : 0;
        digit.ragged = take('~');
        digit.reversed = take('-');
        digit.pitch = take(':') ? number() : 0;
        digit.align = take('^') ? number() : 1;
        return digit;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

void require_chain(char axis, std::vector<LayoutDigit> digits) {
    std::ranges::sort(digits, [](const LayoutDigit& a, const LayoutDigit& b) {
        return a.divide != b.divide ? a.divide > b.divide : a.modulo != 1 && b.modulo == 1;
    });
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const std::uint64_t above = i == 0 ? 0 : digits[i - 1].divide;
        const std::uint64_t covers = digits[i].modulo * digits[i].divide;
        if (covers != above || digits[i].modulo > largest_number / digits[i].divide) {
            throw ConfigError(
                fmt::format("digit {} does not join the other digits of axis {}",
                            to_string(digits[i]), axis),
                above == 0 ? "the slowest digit of an axis has no modulo"
                           : fmt::format("its modulo must be {} / {}", above, digits[i].divide));
        }
    }
    if (digits.back().divide != 1) {
        throw ConfigError(
            fmt::format("axis {} has no digit {}%{}", axis, axis, digits.back().divide),
            "without it elements fall onto each other");
    }
}

}  // namespace

LayoutSentence parse_sentence(std::string_view text) {
    LayoutSentence sentence = SentenceReader(text).read();
    require_complete(sentence);
    return sentence;
}

std::string to_string(const LayoutDigit& digit) {
    std::string text(1, digit.axis);
    text += digit.divide == 1 ? "" : fmt::format("/{}", digit.divide);
    text += digit.modulo == 0 ? "" : fmt::format("%{}", digit.modulo);
    text += digit.ragged ? "~" : "";
    text += digit.reversed ? "-" : "";
    text += digit.pitch == 0 ? "" : fmt::format(":{}", digit.pitch);
    text += digit.align == 1 ? "" : fmt::format("^{}", digit.align);
    return text;
}

std::string to_string(const LayoutSentence& sentence) {
    std::string text;
    for (const LayoutDigit& digit : sentence) {
        text += text.empty() ? "" : " ";
        text += to_string(digit);
    }
    return text;
}

void require_complete(const LayoutSentence& sentence) {
    std::string axes;
    for (const LayoutDigit& digit : sentence) {
        if (axes.find(digit.axis) == std::string::npos) {
            axes += digit.axis;
        }
    }
    for (const char axis : axes) {
        std::vector<LayoutDigit> digits;
        std::ranges::copy_if(sentence, std::back_inserter(digits),
                             [axis](const LayoutDigit& digit) { return digit.axis == axis; });
        require_chain(axis, digits);
    }
}

}  // namespace npuscope
