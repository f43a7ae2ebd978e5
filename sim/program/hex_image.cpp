// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "sim/program/memory_image.h"
#include "sim/program/text_scanner.h"

namespace npuscope {
namespace {

constexpr std::string_view spaces = " \t\r\n";

/// Adjacent bytes join the last run.
void append(MemoryImage& image, std::uint64_t offset, std::uint8_t byte) {
    if (image.runs.empty() || image.runs.back().offset + image.runs.back().size != offset) {
        image.runs.push_back({offset, image.bytes.size(), 0});
    }
    image.bytes.push_back(byte);
    ++image.runs.back().size;
}

class Lines {
 public:
    Lines(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    /// The next line without its end; false after the last one.
    bool next(std::string_view& line) {
        if (at_ >= text_.size()) {
            return false;
        }
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        line = text_.substr(at_, end - at_);
        at_ = end + 1;
        ++number_;
        return true;
    }
    [[noreturn]] void refuse(std::size_t column, const std::string& what,
                             const std::string& remedy) const {
        throw ConfigError(Place{file_, number_, static_cast<unsigned>(column + 1)}, what, remedy);
    }

 private:
    std::string_view text_;
    const std::string& file_;
    std::size_t at_ = 0;
    unsigned number_ = 0;
};

/// One record's bytes after the colon, checksum included.
std::vector<std::uint8_t> record_bytes(const Lines& lines, std::string_view line) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 1; i < line.size(); i += 2) {
        const int high = hex_digit_value(line[i]);
        const int low = i + 1 < line.size() ? hex_digit_value(line[i + 1]) : -1;
        if (high < 0 || low < 0) {
            lines.refuse(i, "not a byte of two hexadecimal digits",
                         "a record is :LLAAAATT<data>CC");
        }
        bytes.push_back(static_cast<std::uint8_t>(16 * high + low));
    }
    return bytes;
}

void check_record(const Lines& lines, const std::vector<std::uint8_t>& bytes) {
    if (bytes.size() < 5 || bytes.size() != bytes.front() + 5U) {
        lines.refuse(0, "the record's length does not match its length byte",
                     "a record is :LLAAAATT<data>CC");
    }
    unsigned sum = 0;
    for (const std::uint8_t byte : bytes) {
        sum += byte;
    }
    if ((sum & 0xffU) != 0) {
        lines.refuse(0, "the record's checksum is wrong", "its bytes must add up to 0 modulo 256");
    }
}

std::string_view trimmed(std::string_view line) {
    const std::size_t end = line.find_last_not_of(spaces);
    line = end == std::string_view::npos ? std::string_view() : line.substr(0, end + 1);
    const std::size_t begin = line.find_first_not_of(spaces);
    return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

/// A line of a $readmemh file with blanks in place of its comments. `open`: a comment of the lines
/// before it has not ended; then whether one of this line has not.
std::string without_comments(std::string_view line, bool& open) {
    std::string text(line);
    for (std::size_t at = 0; at < text.size();) {
        if (open) {
            const std::size_t end = text.find("*/", at);
            const std::size_t stop = end == std::string::npos ? text.size() : end + 2;
            text.replace(at, stop - at, stop - at, ' ');
            open = end == std::string::npos;
            at = stop;
        } else if (text.compare(at, 2, "//") == 0) {
            text.resize(at);
        } else if (text.compare(at, 2, "/*") == 0) {
            text.replace(at, 2, 2, ' ');
            open = true;
            at += 2;
        } else {
            ++at;
        }
    }
    return text;
}

/// A word of a $readmemh file, from its first digit on.
struct HexWord {
    std::string digits;   ///< without the underscores between them
    std::size_t end = 0;  ///< after its last digit

    std::uint64_t value() const {
        std::uint64_t value = 0;
        for (const char digit : digits) {
            value = value << 4U | static_cast<unsigned>(hex_digit_value(digit));
        }
        return value;
    }
    /// Byte `i`, the least significant first.
    std::uint8_t byte(std::size_t i) const {
        const auto nibble = [&](std::size_t n) {
            return n < digits.size() ? hex_digit_value(digits[digits.size() - 1 - n]) : 0;
        };
        return static_cast<std::uint8_t>(16 * nibble(2 * i + 1) + nibble(2 * i));
    }
};
void take_word(std::string_view line, std::size_t begin, HexWord& word) {
    word.digits.clear();
    for (word.end = begin; word.end < line.size(); ++word.end) {
        if (line[word.end] == '_') {
            continue;
        }
        if (hex_digit_value(line[word.end]) < 0) {
            break;
        }
        word.digits += line[word.end];
    }
}

}  // namespace

MemoryImage parse_intel_hex(std::string_view text, const std::string& file) {
    MemoryImage image;
    Lines lines(text, file);
    std::uint64_t upper = 0;
    for (std::string_view raw; lines.next(raw);) {
        const std::string_view line = trimmed(raw);
        if (line.empty()) {
            continue;
        }
        if (line.front() != ':') {
            lines.refuse(0, "a record does not start with a colon", "is this an Intel HEX file?");
        }
        const std::vector<std::uint8_t> bytes = record_bytes(lines, line);
        check_record(lines, bytes);
        const unsigned type = bytes[3];
        const std::uint64_t word =
            bytes.front() >= 2 ? (std::uint64_t{bytes[4]} << 8U | bytes[5]) : 0;
        if (type == 1) {
            return image;
        }
        if (type == 2 || type == 4) {
            upper = word << (type == 2 ? 4U : 16U);
        } else if (type == 0) {
            const std::uint64_t offset = upper + (std::uint64_t{bytes[1]} << 8U | bytes[2]);
            for (std::size_t i = 0; i < bytes.front(); ++i) {
                append(image, offset + i, bytes[4 + i]);
            }
        } else if (type != 3 && type != 5) {
            lines.refuse(0, fmt::format("unknown record type {}", type), "0 to 5");
        }
    }
    lines.refuse(0, "the file has no end record", "it must end with :00000001FF");
}

namespace {

/// A word, or an address if an @ is before it; `begin` is its first digit.
void check_word(const Lines& lines, std::string_view line, std::size_t begin, const HexWord& word,
                std::size_t most_digits) {
    const bool address = begin > 0 && line[begin - 1] == '@';
    const bool ended = word.end == line.size() || spaces.find(line[word.end]) != std::string::npos;
    if (!ended || word.digits.empty() || word.digits.size() > (address ? 16 : most_digits)) {
        lines.refuse(begin,
                     fmt::format("neither a word of up to {} hexadecimal digits nor an @address",
                                 most_digits),
                     "`word` says how many bytes a word has");
    }
}

}  // namespace

MemoryImage parse_readmemh(std::string_view text, const std::string& file, const HexWords& words) {
    MemoryImage image;
    Lines lines(text, file);
    HexWord word;
    std::uint64_t offset = 0;
    const std::size_t most_digits = std::size_t{2} * words.bytes;
    bool in_comment = false;
    for (std::string_view raw; lines.next(raw);) {
        const std::string line = without_comments(raw, in_comment);
        for (std::size_t at = line.find_first_not_of(spaces); at != std::string_view::npos;
             at = line.find_first_not_of(spaces, at)) {
            const bool address = line[at] == '@';
            const std::size_t begin = at + (address ? 1 : 0);
            take_word(line, begin, word);
            at = word.end;
            check_word(lines, line, begin, word, most_digits);
            if (address) {
                if (word.value() > ~std::uint64_t{0} / words.bytes) {
                    lines.refuse(begin, "the address lies outside every memory",
                                 "note that @ADDRESS counts words");
                }
                offset = word.value() * words.bytes;
                continue;
            }
            for (std::uint32_t i = 0; i < words.bytes; ++i) {
                append(image, offset++, word.byte(words.big_endian ? words.bytes - 1 - i : i));
            }
        }
    }
    if (in_comment) {
        lines.refuse(0, "the file ends within a comment", "close the comment with */");
    }
    return image;
}

}  // namespace npuscope
