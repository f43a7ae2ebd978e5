// SPDX-License-Identifier: Apache-2.0
#include "sim/model/npy_file.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>

#include "models/base/error.h"
#include "sim/config/whole_file.h"

namespace npuscope {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct DescrRow {
    std::string_view descr;
    ElementType type;
    std::size_t bytes;
};
constexpr std::array descr_rows{
    DescrRow{"<f4", ElementType::Float32, 4}, DescrRow{"<f8", ElementType::Float64, 8},
    DescrRow{"|i1", ElementType::Int8, 1},    DescrRow{"|u1", ElementType::Uint8, 1},
    DescrRow{"<i2", ElementType::Int16, 2},   DescrRow{"<u2", ElementType::Uint16, 2},
    DescrRow{"<i4", ElementType::Int32, 4},   DescrRow{"<u4", ElementType::Uint32, 4},
    DescrRow{"<i8", ElementType::Int64, 8},   DescrRow{"<u8", ElementType::Uint64, 8},
    DescrRow{"|b1", ElementType::Bool, 1}};

[[noreturn]] void refuse(const std::string& file, const std::string& sentence,
                         const std::string& remedy) {
    throw ConfigError(Place{file, 0, 0}, sentence, remedy);
}

/// The text behind `key` in the header's dictionary.
std::string_view entry(std::string_view header, std::string_view key, const std::string& file) {
    const std::string quoted = fmt::format("'{}':", key);
    const std::size_t at = header.find(quoted);
    if (at == std::string_view::npos) {
        refuse(file, fmt::format("the .npy header has no '{}'", key), "write the file again");
    }
    std::string_view rest = header.substr(at + quoted.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return rest;
}

const DescrRow& row_of(std::string_view header, const std::string& file) {
    const std::string_view rest = entry(header, "descr", file);
    for (const DescrRow& row : descr_rows) {
        if (rest.starts_with(fmt::format("'{}'", row.descr))) {
            return row;
        }
    }
    refuse(file, fmt::format("elements of type {} are not supported", rest.substr(0, 8)),
           "use little-endian integers or floats of 32 or 64 bits");
}

Sizes shape_of(std::string_view header, const std::string& file) {
    std::string_view rest = entry(header, "shape", file);
    const std::size_t end = rest.find(')');
    if (!rest.starts_with('(') || end == std::string_view::npos) {
        refuse(file, "the .npy header's shape is broken", "write the file again");
    }
    rest = rest.substr(1, end - 1);
    Sizes sizes;
    while (!rest.empty()) {
        std::int64_t size = 0;
        const auto [at, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
        if (error != std::errc{}) {
            refuse(file, "the .npy header's shape is broken", "write the file again");
        }
        sizes.push_back(size);
        rest.remove_prefix(static_cast<std::size_t>(at - rest.data()));
        rest.remove_prefix(std::min(rest.find_first_not_of(", "), rest.size()));
    }
    return sizes;
}

template <class T>
double load(const char* bytes) {
    T number{};
    std::memcpy(&number, bytes, sizeof(T));
    return static_cast<double>(number);
}
template <class T>
void store(std::string& bytes, double number) {
    const T typed = static_cast<T>(number);
    bytes.append(reinterpret_cast<const char*>(&typed), sizeof(T));
}

double load_as(ElementType type, const char* bytes) {
    switch (type) {
        case ElementType::Float32:
            return load<float>(bytes);
        case ElementType::Float64:
            return load<double>(bytes);
        case ElementType::Int8:
            return load<std::int8_t>(bytes);
        case ElementType::Bool:
        case ElementType::Uint8:
            return load<std::uint8_t>(bytes);
        case ElementType::Int16:
            return load<std::int16_t>(bytes);
        case ElementType::Uint16:
            return load<std::uint16_t>(bytes);
        case ElementType::Int32:
            return load<std::int32_t>(bytes);
        case ElementType::Uint32:
            return load<std::uint32_t>(bytes);
        case ElementType::Int64:
            return load<std::int64_t>(bytes);
        case ElementType::Uint64:
            return load<std::uint64_t>(bytes);
    }
    return 0;
}

void store_as(ElementType type, double number, std::string& bytes) {
    switch (type) {
        case ElementType::Float32:
            return store<float>(bytes, number);
        case ElementType::Float64:
            return store<double>(bytes, number);
        case ElementType::Int8:
            return store<std::int8_t>(bytes, number);
        case ElementType::Bool:
        case ElementType::Uint8:
            return store<std::uint8_t>(bytes, number);
        case ElementType::Int16:
            return store<std::int16_t>(bytes, number);
        case ElementType::Uint16:
            return store<std::uint16_t>(bytes, number);
        case ElementType::Int32:
            return store<std::int32_t>(bytes, number);
        case ElementType::Uint32:
            return store<std::uint32_t>(bytes, number);
        case ElementType::Int64:
        case ElementType::Uint64: {
            const std::int64_t integer = to_integer(number);
            bytes.append(reinterpret_cast<const char*>(&integer), sizeof(integer));
            return;
        }
    }
}

}  // namespace

GraphValue parse_npy(const std::string& bytes, const std::string& file) {
    const std::string remedy = "name a .npy file as NumPy writes it";
    if (!bytes.starts_with(magic) || bytes.size() < 12) {
        refuse(file, "this is no .npy file", remedy);
    }
    const bool wide = bytes[6] != 1;
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + 8, wide ? 4 : 2);
    const std::size_t begin = wide ? 12 : 10;
    if (length > bytes.size() - begin) {
        refuse(file, "the .npy header is cut short", remedy);
    }
    const std::string_view header = std::string_view(bytes).substr(begin, length);
    if (entry(header, "fortran_order", file).starts_with("True")) {
        refuse(file, "the array is in Fortran order", "save it in C order");
    }
    const DescrRow& row = row_of(header, file);
    TensorType type{row.type, shape_of(header, file)};
    std::size_t elements = 0;
    try {
        elements = count_elements(type.sizes);
    } catch (const ConfigError& error) {
        refuse(file, error.sentence(), error.remedy());
    }
    const std::size_t data = begin + length;
    if (bytes.size() - data != elements * row.bytes) {
        refuse(file,
               fmt::format("an array of {} takes {} bytes, but {} follow", sizes_text(type.sizes),
                           elements * row.bytes, bytes.size() - data),
               remedy);
    }
    GraphValue value = zeros(type);
    for (std::size_t i = 0; i < elements; ++i) {
        value.numbers[i] = load_as(row.type, bytes.data() + data + i * row.bytes);
    }
    return value;
}

GraphValue read_npy(const std::filesystem::path& path) {
    return parse_npy(read_whole_file(path), path.string());
}

std::string npy_bytes(const GraphValue& value) {
    std::string_view descr;
    for (const DescrRow& row : descr_rows) {
        descr = row.type == value.type.element ? row.descr : descr;
    }
    std::string shape;
    for (const std::int64_t size : value.type.sizes) {
        shape += fmt::format("{}, ", size);
    }
    if (value.type.sizes.size() > 1) {
        shape.erase(shape.size() - 2);
    }
    std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
    constexpr std::size_t before = 10;
    header.append(63 - (before + header.size()) % 64, ' ');
    header += '\n';
    std::string bytes(magic);
    bytes += '\x01';
    bytes += '\x00';
    bytes += static_cast<char>(header.size() & 0xffU);
    bytes += static_cast<char>(header.size() >> 8U);
    bytes += header;
    for (const double number : value.numbers) {
        store_as(value.type.element, number, bytes);
    }
    return bytes;
}

}  // namespace npuscope
