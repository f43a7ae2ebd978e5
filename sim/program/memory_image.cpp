// SPDX-License-Identifier: Apache-2.0
#include "sim/program/memory_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <optional>
#include <utility>

#include "sim/config/file_io.h"
#include "sim/program/text_scanner.h"

namespace npuscope {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

/// Values of hexadecimal digits; 0xff for every other character.
constexpr std::array<std::uint8_t, 256> digit_values = [] {
    std::array<std::uint8_t, 256> values{};
    for (std::size_t c = 0; c < values.size(); ++c) {
        const int digit = c < 128 ? hex_digit_value(static_cast<char>(c)) : -1;
        values[c] = digit < 0 ? std::uint8_t{0xff} : static_cast<std::uint8_t>(digit);
    }
    return values;
}();

/// `0xhh` at `text`, four characters that exist; a value over 255 if it is something else.
unsigned byte_at(const char* text) {
    const unsigned high = digit_values[static_cast<unsigned char>(text[2])];
    const unsigned low = digit_values[static_cast<unsigned char>(text[3])];
    const bool prefix = text[0] == '0' && (text[1] | 0x20) == 'x';
    return prefix && (high | low) < 16 ? high << 4 | low : 256;
}

/// Reads one byte of a list; the blanks before it have been skipped.
std::uint8_t take_byte(TextScanner& scanner) {
    constexpr std::size_t width = 4;
    const unsigned byte = scanner.left() >= width ? byte_at(scanner.position()) : 256;
    const char after = scanner.left() > width ? scanner.position()[width] : '\0';
    if (byte > 255 || digit_values[static_cast<unsigned char>(after)] != 0xff) {
        const bool cut = scanner.left() < width && scanner.rest().find('\n') == std::string::npos;
        if (cut) {
            scanner.advance(scanner.left());
        }
        scanner.fail_expected("a byte as 0x and two digits");
    }
    scanner.advance(width);
    return static_cast<std::uint8_t>(byte);
}

/// Appends a run, joined to the last one if it continues it.
void append_run(MemoryImage& image, std::uint64_t offset, std::uint64_t size) {
    if (!image.runs.empty()) {
        MemoryImage::Run& last = image.runs.back();
        if (last.offset + last.size == offset) {
            last.size += size;
            return;
        }
    }
    image.runs.push_back({offset, image.bytes.size(), size});
}

/// Reads a word or character of the format, after any blanks.
void expect(TextScanner& scanner, std::string_view text) {
    scanner.skip_blanks();
    if (!scanner.take(text)) {
        scanner.fail_expected(fmt::format("'{}'", text));
    }
}

/// `name:number`, with blanks anywhere between.
std::uint64_t take_field(TextScanner& scanner, std::string_view name) {
    expect(scanner, name);
    expect(scanner, ":");
    scanner.skip_blanks();
    return scanner.take_number(name);
}

void take_payload(TextScanner& scanner, std::uint64_t size, std::vector<std::uint8_t>& bytes) {
    expect(scanner, "payload");
    expect(scanner, ":");
    for (std::uint64_t i = 0; i < size; ++i) {
        scanner.skip_blanks();
        if (scanner.peek() == '}') {
            throw ConfigError(scanner.place(),
                              fmt::format("the payload has {} byte{}, but its size field is {}", i,
                                          i == 1 ? "" : "s", size));
        }
        bytes.push_back(take_byte(scanner));
    }
    scanner.skip_blanks();
    if (!scanner.take('}')) {
        scanner.fail_expected(
            fmt::format("'}}' after {} byte{} of payload", size, size == 1 ? "" : "s"));
    }
}

/// One packet, after its `{`.
void take_packet(TextScanner& scanner, MemoryImage& image) {
    const char* start = scanner.position() - 1;
    const std::uint64_t offset = take_field(scanner, "offset");
    expect(scanner, ",");
    const std::uint64_t size = take_field(scanner, "size");
    expect(scanner, ",");
    if (size > largest - offset) {
        throw ConfigError(scanner.place_of(start),
                          "the packet ends beyond the 64-bit address space");
    }
    append_run(image, offset, size);
    take_payload(scanner, size, image.bytes);
}

/// Whether the whole file is in braces: two `{` before anything else.
bool take_outer_brace(TextScanner& scanner) {
    TextScanner ahead = scanner;
    ahead.skip_space();
    if (!ahead.take('{')) {
        return false;
    }
    ahead.skip_space();
    if (ahead.peek() != '{' && ahead.peek() != '}') {
        return false;
    }
    scanner = ahead;
    return true;
}

void parse_packets(TextScanner& scanner, MemoryImage& image) {
    const bool outer = take_outer_brace(scanner);
    scanner.skip_space();
    while (scanner.take('{')) {
        take_packet(scanner, image);
        scanner.skip_space();
        const bool comma = scanner.take(',');
        scanner.skip_space();
        if (!comma && scanner.peek() == '{') {
            scanner.fail_expected("',' between packets");
        }
    }
    if (outer && !scanner.take('}')) {
        scanner.fail_expected("'{' of a packet or the closing '}'");
    }
    scanner.skip_space();
    if (!scanner.at_end()) {
        scanner.fail_expected(outer ? "nothing after the closing '}'" : "'{' of a packet");
    }
}

/// A line before or after the bytes; returns the size if it has one.
std::optional<std::uint64_t> take_header_line(TextScanner& scanner) {
    const std::string_view line = scanner.rest().substr(0, scanner.rest().find('\n'));
    const bool of_a_dump = line.starts_with("memory type:") || line.starts_with("dump done") ||
                           line.starts_with("dumped memory") || line.starts_with("====");
    const std::size_t equals = line.find('=');
    const auto may_be_in_key = [](unsigned char c) {
        return c == '_' || c == ' ' || c == '\t' || std::isalnum(c) != 0;
    };
    const bool has_key = equals != std::string_view::npos &&
                         std::ranges::all_of(line.substr(0, equals), may_be_in_key);
    if (!has_key && !of_a_dump) {
        scanner.fail_expected("a byte 0xhh, key=value, a comment or a '{' packet");
    }
    std::optional<std::uint64_t> size;
    if (line.starts_with("Data_size")) {
        scanner.advance(equals + 1);
        scanner.skip_blanks();
        size = scanner.take_number("Data_size");
    }
    scanner.skip_line();
    return size;
}

void parse_listing(TextScanner& scanner, MemoryImage& image) {
    std::uint64_t declared = 0;
    for (scanner.skip_space(); !scanner.at_end(); scanner.skip_space()) {
        if (scanner.peek() == '0') {
            image.bytes.push_back(take_byte(scanner));
        } else if (const auto size = take_header_line(scanner)) {
            declared = *size;
        }
    }
    if (image.bytes.size() < declared) {
        throw ConfigError(
            scanner.place(),
            fmt::format("the file has {} byte{}, but its Data_size is {}", image.bytes.size(),
                        image.bytes.size() == 1 ? "" : "s", declared),
            "the file is cut short");
    }
    if (image.bytes.empty()) {
        throw ConfigError(scanner.place(), "the file holds no bytes",
                          "list them as 0xhh, or give raw bytes in a file that ends in .bin");
    }
    image.runs.push_back({0, 0, image.bytes.size()});
}

}  // namespace

std::uint64_t MemoryImage::end() const {
    std::uint64_t last = 0;
    for (const Run& run : runs) {
        last = std::max(last, run.offset + run.size);
    }
    return last;
}

MemoryImage parse_memory_text(std::string_view text, const std::string& file) {
    TextScanner scanner(text, file, TextScanner::Quotes::Nothing);
    MemoryImage image;
    image.bytes.reserve(text.size() /
                        12);  // packets of 4 bytes take 50 characters, listings 5 per byte
    scanner.skip_space();
    if (scanner.at_end()) {
        scanner.fail_expected("memory data");
    }
    scanner.peek() == '{' ? parse_packets(scanner, image) : parse_listing(scanner, image);
    return image;
}

MemoryImage raw_image(std::string_view bytes) {
    return raw_image(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

MemoryImage raw_image(std::vector<std::uint8_t> bytes) {
    MemoryImage image;
    image.bytes = std::move(bytes);
    if (!image.bytes.empty()) {
        image.runs.push_back({0, 0, image.bytes.size()});
    }
    return image;
}

void ImageBudget::take(const MemoryImage& image, const Place& place) {
    const Bytes taken(image.bytes.size() + image.runs.size() * sizeof(MemoryImage::Run));
    if (taken > left_) {
        throw ConfigError(
            place, fmt::format("all images together take more than {} bytes", largest_file.value),
            "load smaller images");
    }
    left_ -= taken;
}

MemoryImage read_memory_file(const std::filesystem::path& path, const std::string& shown,
                             const Place& asked_at, Bytes most) {
    const std::string text = read_whole_file(path, asked_at, most);
    if (path.extension() != ".bin") {
        return parse_memory_text(text, shown);
    }
    if (text.empty()) {
        throw ConfigError(asked_at, fmt::format("'{}' is empty", shown),
                          "give a file with the bytes of the image");
    }
    return raw_image(text);
}

}  // namespace npuscope
