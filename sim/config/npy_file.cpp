// SPDX-License-Identifier: Apache-2.0
#include "sim/config/npy_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "models/base/error.h"
#include "sim/config/file_name.h"
#include "sim/config/text_table.h"

namespace npuscope {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t largest_array = std::uint64_t{1} << 48;

class HeaderReader {
 public:
    HeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    NpyHeader read() {
        NpyHeader header;
        expect("{");
        while (!take("}")) {
            const std::string_view key = quoted();
            expect(":");
            if (key == "descr") {
                refuse_fields();
                header.type = &type_of(quoted());
            } else if (key == "fortran_order") {
                header.fortran_order = take("True");
                if (!header.fortran_order) {
                    expect("False");
                }
            } else if (key == "shape") {
                header.shape = shape();
                shaped_ = true;
            } else {
                fail(fmt::format("the unknown key '{}'", key));
            }
            if (!take(",")) {
                expect("}");
                break;
            }
        }
        if (header.type == nullptr || !shaped_) {
            fail("no element type or no shape");
        }
        return header;
    }

 private:
    [[noreturn]] void fail(const std::string& what) const {
        throw ConfigError(fmt::format("'{}': the .npy header has {}", name_, what),
                          "write it with numpy.save");
    }
    void refuse_fields() {
        if (take("[")) {
            throw ConfigError(
                fmt::format("'{}' is a structured array, which is not supported", name_),
                "save one of its fields: numpy.save(file, a['field'])");
        }
    }
    void skip_spaces() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
            ++at_;
        }
    }
    bool take(std::string_view word) {
        skip_spaces();
        if (!text_.substr(at_).starts_with(word)) {
            return false;
        }
        at_ += word.size();
        return true;
    }
    void expect(std::string_view word) {
        if (!take(word)) {
            fail(fmt::format("no '{}' at character {}", word, at_ + 1));
        }
    }
    std::string_view quoted() {
        skip_spaces();
        const char quote = at_ < text_.size() ? text_[at_] : ' ';
        const std::size_t end =
            quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
        if (end == std::string_view::npos) {
            fail(fmt::format("no text in quotes at character {}", at_ + 1));
        }
        const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return text;
    }
    const ElementRow& type_of(std::string_view descr) const {
        for (const ElementRow& type : element_table) {
            if (type.descr == descr ||
                (type.bytes == 1 && type.descr.substr(1) == descr.substr(descr.empty() ? 0 : 1))) {
                return type;
            }
        }
        if (descr.starts_with('>')) {
            throw ConfigError(
                fmt::format("'{}' holds big-endian elements of type '{}'", name_, descr),
                fmt::format("save a.astype('<{}')", descr.substr(1)));
        }
        std::string known;
        for (const ElementRow& type : element_table) {
            known += fmt::format("{}{}", known.empty() ? "" : ", ", type.name);
        }
        throw ConfigError(
            fmt::format("'{}' holds elements of type '{}', which is not supported", name_, descr),
            known);
    }
    std::vector<std::uint64_t> shape() {
        std::vector<std::uint64_t> extents;
        std::uint64_t product = 1;
        expect("(");
        while (!take(")")) {
            skip_spaces();
            if (at_ < text_.size() && text_[at_] == '-') {
                fail(fmt::format("a negative extent at character {}", at_ + 1));
            }
            std::uint64_t extent = 0;
            const char* end = text_.data() + text_.size();
            const auto result = std::from_chars(text_.data() + at_, end, extent);
            if (result.ec == std::errc::invalid_argument) {
                fail(fmt::format("no extent at character {}", at_ + 1));
            }
            if (result.ec != std::errc() || (extent != 0 && product > largest_array / extent)) {
                fail(fmt::format("a shape of more than {} elements",
                                 with_separators(largest_array)));
            }
            product *= std::max<std::uint64_t>(extent, 1);
            at_ = static_cast<std::size_t>(result.ptr - text_.data());
            extents.push_back(extent);
            if (!take(",")) {
                expect(")");
                break;
            }
        }
        return extents;
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
    bool shaped_ = false;
};

std::uint64_t little(std::span<const std::uint8_t> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
        value = value << 8U | bytes[i];
    }
    return value;
}

}  // namespace

std::uint64_t NpyHeader::elements() const {
    std::uint64_t product = 1;
    for (const std::uint64_t extent : shape) {
        product *= extent;
    }
    return product;
}

bool is_npy(std::span<const std::uint8_t> file) {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

bool names_npy(const std::filesystem::path& path) { return lower_ending(path) == ".npy"; }

NpyHeader read_npy_header(std::span<const std::uint8_t> file, const std::string& name) {
    const auto cut = [&name] {
        throw ConfigError(fmt::format("'{}' is cut off in its .npy header", name));
    };
    if (!is_npy(file)) {
        throw ConfigError(fmt::format("'{}' is not a .npy file", name), "write it with numpy.save");
    }
    if (file.size() < 12) {
        cut();
    }
    const std::uint8_t version = file[6];
    if (version < 1 || version > 3) {
        throw ConfigError(fmt::format("'{}' has .npy version {}", name, version),
                          "1 to 3 are supported");
    }
    const std::size_t begin = version == 1 ? 10 : 12;
    const std::uint64_t length = little(file.subspan(8, begin - 8));
    if (length > file.size() - begin) {
        cut();
    }
    const std::string_view text(reinterpret_cast<const char*>(file.data()) + begin, length);
    NpyHeader header = HeaderReader(text, name).read();
    header.data_begin = begin + length;
    const std::uint64_t needed = header.elements() * header.type->bytes;
    if (file.size() - header.data_begin != needed) {
        throw ConfigError(fmt::format("'{}' has {} of data, but shape ({}) of {} needs {}", name,
                                      counted(file.size() - header.data_begin, "byte"),
                                      fmt::join(header.shape, ", "), header.type->name,
                                      with_separators(needed)));
    }
    return header;
}

std::string to_string(const NpyHeader& header) {
    return fmt::format("{} ({}{})", header.type->name, fmt::join(header.shape, ", "),
                       header.shape.size() == 1 ? "," : "");
}

std::string npy_header(const ElementRow& type, std::span<const std::uint64_t> shape) {
    std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type.descr,
                    fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    constexpr std::size_t before = 10;
    const std::size_t whole = (before + text.size() + 1 + 63) / 64 * 64;
    text.resize(whole - before - 1, ' ');
    text += '\n';
    std::string header(magic);
    header += '\x01';
    header += '\0';
    header += static_cast<char>(text.size() & 0xFFU);
    header += static_cast<char>(text.size() >> 8U & 0xFFU);
    return header + text;
}

std::vector<std::uint8_t> in_c_order(const NpyHeader& header, std::span<const std::uint8_t> data) {
    const std::size_t bytes = header.type->bytes;
    std::vector<std::uint8_t> ordered(data.begin(), data.end());
    if (!header.is_transposed() || ordered.empty()) {
        return ordered;
    }
    std::vector<std::size_t> steps;  // bytes from one index to the next in the file, axis by axis
    std::size_t step = bytes;
    for (const std::uint64_t extent : header.shape) {
        steps.push_back(step);
        step *= extent;
    }
    std::vector<std::uint64_t> index(header.shape.size(), 0);
    std::size_t from = 0;
    for (std::size_t to = 0; to < ordered.size(); to += bytes) {
        std::memcpy(ordered.data() + to, data.data() + from, bytes);
        for (std::size_t axis = index.size(); axis-- > 0;) {
            from += steps[axis];
            if (++index[axis] < header.shape[axis]) {
                break;
            }
            from -= steps[axis] * header.shape[axis];
            index[axis] = 0;
        }
    }
    return ordered;
}

std::vector<double> npy_numbers(const NpyHeader& header, std::span<const std::uint8_t> data) {
    std::vector<std::uint8_t> ordered;
    if (header.is_transposed()) {
        ordered = in_c_order(header, data);
        data = ordered;
    }
    return read_elements(header.type->type, data);
}

std::string npy_bytes(const ElementRow& type, std::span<const std::uint64_t> shape,
                      std::span<const double> numbers) {
    std::string bytes = npy_header(type, shape);
    bytes.reserve(bytes.size() + numbers.size() * type.bytes);
    append_elements(type.type, numbers, bytes);
    return bytes;
}

}  // namespace npuscope
