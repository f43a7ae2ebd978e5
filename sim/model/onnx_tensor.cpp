// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/config/text_table.h"

namespace npuscope {
namespace {

constexpr std::size_t most_synthetic = 150'000'000;  ///< missing elements: enough for VGG-16

template <class Field>
void read_field(const Field& field, std::vector<double>& numbers) {
    if (static_cast<std::size_t>(field.size()) != numbers.size()) {
        throw ConfigError(fmt::format("it holds {}, but its shape needs {}",
                                      counted(static_cast<std::size_t>(field.size()), "element"),
                                      with_separators(numbers.size())),
                          "export the model again");
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<double>(field[static_cast<int>(i)]);
    }
}

void read_numbers(const onnx::TensorProto& tensor, ElementType type, std::vector<double>& numbers) {
    switch (type) {
        case ElementType::Float32:
            return read_field(tensor.float_data(), numbers);
        case ElementType::Float64:
            return read_field(tensor.double_data(), numbers);
        case ElementType::Int64:
            return read_field(tensor.int64_data(), numbers);
        case ElementType::Uint32:
        case ElementType::Uint64:
            return read_field(tensor.uint64_data(), numbers);
        case ElementType::Float16:  // as their bits
            read_field(tensor.int32_data(), numbers);
            for (double& number : numbers) {
                number = from_float16(static_cast<std::uint16_t>(to_integer(number)));
            }
            return;
        default:
            return read_field(tensor.int32_data(), numbers);
    }
}

bool is_external(const onnx::TensorProto& tensor) {
    return tensor.data_location() == onnx::TensorProto_DataLocation_EXTERNAL ||
           tensor.external_data_size() > 0;
}

bool has_numbers(const onnx::TensorProto& tensor) {
    return tensor.float_data_size() + tensor.int32_data_size() + tensor.int64_data_size() +
               tensor.double_data_size() + tensor.uint64_data_size() + tensor.string_data_size() >
           0;
}

/// One of the keys of external data; empty if omitted.
std::string external_entry(const onnx::TensorProto& tensor, std::string_view key) {
    for (const auto& entry : tensor.external_data()) {
        if (entry.key() == key) {
            return entry.value();
        }
    }
    return {};
}

std::uint64_t external_number(const onnx::TensorProto& tensor, std::string_view key,
                              std::uint64_t fallback) {
    const std::string text = external_entry(tensor, key);
    std::uint64_t number = fallback;
    const char* end = text.data() + text.size();
    if (!text.empty() && std::from_chars(text.data(), end, number).ptr != end) {
        throw ConfigError(fmt::format("the {} of its data is '{}'", key, text),
                          "export the model again");
    }
    return number;
}

void check_form(const onnx::TensorProto& tensor) {
    if (tensor.has_segment()) {
        throw ConfigError("it is a segmented tensor", "save the model without segmented tensors");
    }
    if (tensor.has_raw_data() && has_numbers(tensor)) {
        throw ConfigError("it holds its data twice, as bytes and as numbers",
                          "export the model again");
    }
}

/// An element type that graphs hold as another one.
struct PackedType {
    int onnx;  ///< its code
    ElementType held;
    std::size_t bits;
};
// source: onnx.proto, TensorProto.DataType; ONNX, "Int4", where the low half comes first
constexpr std::size_t bits_of_nibble = 4;
constexpr std::array packed_types{PackedType{16, ElementType::Float32, 16},  // bfloat16
                                  PackedType{21, ElementType::Uint8, bits_of_nibble},
                                  PackedType{22, ElementType::Int8, bits_of_nibble}};

const PackedType* find_packed(int number) {
    const auto found = std::ranges::find(packed_types, number, &PackedType::onnx);
    return found == packed_types.end() ? nullptr : found;
}

/// How a file holds a tensor's elements.
struct StoredForm {
    TensorType type;
    std::size_t elements;
    const PackedType* packed;  ///< null: as graphs do

    std::size_t bytes() const {
        return packed == nullptr ? elements * element_row(type.element).bytes
                                 : (elements * packed->bits + 7) / 8;
    }
};

double unpacked(const PackedType& packed, const std::uint8_t* bytes, std::size_t index) {
    if (packed.bits == bits_of_nibble) {
        const int nibble = bytes[index / 2] >> (index % 2 * bits_of_nibble) & 0xf;
        return packed.held == ElementType::Int8 && nibble > 7 ? nibble - 16 : nibble;
    }
    const std::uint32_t upper = bytes[2 * index] | std::uint32_t{bytes[2 * index + 1]} << 8U;
    return static_cast<double>(std::bit_cast<float>(upper << 16U));
}

/// `int32_data` of a packed type: a byte, or the bits of an element, in each number.
std::string packed_bytes(const onnx::TensorProto& tensor, const PackedType& packed) {
    std::string bytes;
    for (const std::int32_t number : tensor.int32_data()) {
        bytes.push_back(static_cast<char>(number & 0xff));
        if (packed.bits != bits_of_nibble) {
            bytes.push_back(static_cast<char>(number >> 8 & 0xff));
        }
    }
    return bytes;
}

GraphValue from_bytes(const StoredForm& form, std::string_view bytes) {
    if (bytes.size() != form.bytes()) {
        throw ConfigError(
            fmt::format("it holds {} where its sizes ({}) need {}", counted(bytes.size(), "byte"),
                        sizes_text(form.type.sizes), with_separators(form.bytes())),
            "export the model again");
    }
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    if (form.packed == nullptr) {
        return {form.type, read_elements(form.type.element, {data, bytes.size()})};
    }
    GraphValue value{form.type, std::vector<double>(form.elements)};
    for (std::size_t i = 0; i < form.elements; ++i) {
        value.numbers[i] = unpacked(*form.packed, data, i);
    }
    return value;
}

}  // namespace

bool is_held_as_another(int number) { return find_packed(number) != nullptr; }

bool is_four_bits(int number) {
    const PackedType* packed = find_packed(number);
    return packed != nullptr && packed->bits == bits_of_nibble;
}

const ElementRow& onnx_element(int number) {
    if (const ElementRow* row = find_onnx_element(number)) {
        return *row;
    }
    const std::string name = onnx::TensorProto_DataType_IsValid(number)
                                 ? onnx::TensorProto_DataType_Name(number)
                                 : std::to_string(number);
    throw ConfigError(fmt::format("element type {} is not supported", name),
                      "use float32, float64, float16, bool or an integer type");
}

GraphValue OnnxTensors::value_of(const onnx::TensorProto& tensor) {
    check_form(tensor);
    const PackedType* packed = find_packed(tensor.data_type());
    const ElementType element =
        packed == nullptr ? onnx_element(tensor.data_type()).type : packed->held;
    const TensorType type{element, {tensor.dims().begin(), tensor.dims().end()}};
    const std::size_t elements = count_elements(type.sizes);
    const StoredForm form{type, elements, packed};
    GraphValue value{type, {}};
    // The data must exist before memory is allocated for them.
    if (is_external(tensor)) {
        const auto bytes = external_bytes(tensor, form.bytes());
        value = bytes ? from_bytes(form, *bytes) : synthetic(type);
    } else if (tensor.has_raw_data()) {
        value = from_bytes(form, tensor.raw_data());
    } else if (by_shape_ && elements > 0 && !has_numbers(tensor)) {
        value = synthetic(type);
    } else if (packed != nullptr && has_numbers(tensor)) {
        value = from_bytes(form, packed_bytes(tensor, *packed));
    } else if (elements > tensor.ByteSizeLong()) {
        throw ConfigError(fmt::format("its data are missing ({})", counted(elements, "element")),
                          "export the model again, or run it by its shapes alone: --values off");
    } else {
        value.numbers.resize(elements);
        read_numbers(tensor, element, value.numbers);
        settle(value);
    }
    if (std::ranges::any_of(value.numbers, [](double number) { return std::isnan(number); })) {
        throw ConfigError("it holds a NaN", "correct the model's values");
    }
    return value;
}

GraphValue OnnxTensors::synthetic(const TensorType& type) {
    const std::size_t elements = count_elements(type.sizes);
    if (type.element == ElementType::Int64) {
        throw ConfigError("its data are missing, and int64 data may determine shapes",
                          "put its external data file next to the model");
    }
    synthetic_count_ += elements;
    if (synthetic_count_ > most_synthetic) {
        throw ConfigError(
            fmt::format("more than {} elements of the model are missing", most_synthetic),
            "put its external data files next to the model");
    }
    GraphValue value{type, std::vector<double>(elements)};
    const double step = is_float(type.element) ? 1.0 / 64 : 1;
    const std::uint32_t middle = range_of(type.element).low < 0 ? 64 : 0;
    for (std::size_t i = 0; i < elements; ++i) {
        const std::uint32_t mixed = static_cast<std::uint32_t>(i) * 2654435761U >> 25U;  // 0..127
        value.numbers[i] = (static_cast<double>(mixed) - middle) * step;
    }
    return value;
}

std::optional<std::string_view> OnnxTensors::external_bytes(const onnx::TensorProto& tensor,
                                                            std::size_t bytes) {
    const std::string location = external_entry(tensor, "location");
    const std::filesystem::path inside = std::filesystem::path(location).lexically_normal();
    if (location.empty() || inside.is_absolute() || *inside.begin() == "..") {
        throw ConfigError(
            fmt::format("its data are stored in '{}', outside the model's folder", location),
            "save the model with its data beside it");
    }
    if (!file_exists(folder_ / inside)) {
        if (by_shape_) {
            return std::nullopt;
        }
        throw ConfigError(
            fmt::format("its data lie in the file '{}', which is not there",
                        (folder_ / inside).string()),
            "put it beside the model, or run the model by its shapes alone: --values off");
    }
    const std::string& file = file_of(inside.string());
    const std::uint64_t offset = external_number(tensor, "offset", 0);
    const std::uint64_t length = external_number(tensor, "length", bytes);
    if (offset > file.size() || length > file.size() - offset) {
        throw ConfigError(
            fmt::format("its data are bytes {} to {} of '{}', which has only {}", offset,
                        offset + length, (folder_ / inside).string(), file.size()),
            "the file is truncated: copy it again");
    }
    return std::string_view(file).substr(offset, length);
}

const std::string& OnnxTensors::file_of(const std::string& location) {
    const auto found = files_.find(location);
    return found != files_.end()
               ? found->second
               : files_.emplace(location, read_whole_file(folder_ / location)).first->second;
}

}  // namespace npuscope
