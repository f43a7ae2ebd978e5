// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_tensor.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>

#include "models/base/error.h"

namespace npuscope {
namespace {

struct ElementRow {
    int number;  ///< source: onnx.proto, TensorProto.DataType
    ElementType type;
    std::size_t bytes;
};
constexpr std::array element_rows{
    ElementRow{1, ElementType::Float32, 4},  ElementRow{2, ElementType::Uint8, 1},
    ElementRow{3, ElementType::Int8, 1},     ElementRow{4, ElementType::Uint16, 2},
    ElementRow{5, ElementType::Int16, 2},    ElementRow{6, ElementType::Int32, 4},
    ElementRow{7, ElementType::Int64, 8},    ElementRow{9, ElementType::Bool, 1},
    ElementRow{11, ElementType::Float64, 8}, ElementRow{12, ElementType::Uint32, 4},
    ElementRow{13, ElementType::Uint64, 8}};

const ElementRow& row_of(int number) {
    for (const ElementRow& row : element_rows) {
        if (row.number == number) {
            return row;
        }
    }
    const std::string name = onnx::TensorProto_DataType_IsValid(number)
                                 ? onnx::TensorProto_DataType_Name(number)
                                 : std::to_string(number);
    throw ConfigError(fmt::format("element type {} is not supported", name),
                      "use float32, float64, bool or an integer type");
}

template <class T>
void read_raw(const std::string& raw, std::vector<double>& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        T number{};
        std::memcpy(&number, raw.data() + i * sizeof(T), sizeof(T));
        numbers[i] = static_cast<double>(number);
    }
}

void read_raw_as(ElementType type, const std::string& raw, std::vector<double>& numbers) {
    switch (type) {
        case ElementType::Float32:
            return read_raw<float>(raw, numbers);
        case ElementType::Float64:
            return read_raw<double>(raw, numbers);
        case ElementType::Int8:
            return read_raw<std::int8_t>(raw, numbers);
        case ElementType::Bool:
        case ElementType::Uint8:
            return read_raw<std::uint8_t>(raw, numbers);
        case ElementType::Int16:
            return read_raw<std::int16_t>(raw, numbers);
        case ElementType::Uint16:
            return read_raw<std::uint16_t>(raw, numbers);
        case ElementType::Int32:
            return read_raw<std::int32_t>(raw, numbers);
        case ElementType::Uint32:
            return read_raw<std::uint32_t>(raw, numbers);
        case ElementType::Int64:
            return read_raw<std::int64_t>(raw, numbers);
        case ElementType::Uint64:
            return read_raw<std::uint64_t>(raw, numbers);
    }
}

template <class Field>
void read_field(const Field& field, std::vector<double>& numbers) {
    if (static_cast<std::size_t>(field.size()) != numbers.size()) {
        throw ConfigError(fmt::format("it holds {} numbers where its sizes ask for {}",
                                      field.size(), numbers.size()),
                          "write the model again");
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
        default:
            return read_field(tensor.int32_data(), numbers);
    }
}

}  // namespace

ElementType element_of(int number) { return row_of(number).type; }

GraphValue value_of(const onnx::TensorProto& tensor) {
    if (tensor.data_location() == onnx::TensorProto_DataLocation_EXTERNAL ||
        tensor.external_data_size() > 0) {
        throw ConfigError("its data lie in another file",
                          "save the model with all its data in one file");
    }
    if (tensor.has_segment()) {
        throw ConfigError("it is a segment of a tensor", "save the model with whole tensors");
    }
    const bool has_numbers = tensor.float_data_size() + tensor.int32_data_size() +
                                 tensor.int64_data_size() + tensor.double_data_size() +
                                 tensor.uint64_data_size() + tensor.string_data_size() >
                             0;
    if (tensor.has_raw_data() && has_numbers) {
        throw ConfigError("it holds its data twice, as bytes and as numbers",
                          "write the model again");
    }
    const ElementRow& row = row_of(tensor.data_type());
    TensorType type{row.type, {tensor.dims().begin(), tensor.dims().end()}};
    const std::size_t elements = count_elements(type.sizes);
    // the data are there before memory is taken for them
    if (tensor.has_raw_data() && tensor.raw_data().size() != elements * row.bytes) {
        throw ConfigError(
            fmt::format("it holds {} bytes where its sizes ({}) ask for {}",
                        tensor.raw_data().size(), sizes_text(type.sizes), elements * row.bytes),
            "write the model again");
    }
    if (!tensor.has_raw_data() && elements > tensor.ByteSizeLong()) {
        throw ConfigError(fmt::format("its data are missing ({} elements)", elements),
                          "write the model again");
    }
    GraphValue value{type, std::vector<double>(elements)};
    if (tensor.has_raw_data()) {
        read_raw_as(row.type, tensor.raw_data(), value.numbers);
    } else {
        read_numbers(tensor, row.type, value.numbers);
        settle(value);
    }
    for (const double number : value.numbers) {
        if (std::isnan(number)) {
            throw ConfigError("it holds a NaN, which is no number", "mend the model's values");
        }
    }
    return value;
}

TensorType type_of(const onnx::ValueInfoProto& info) {
    const std::string remedy = "export the model with fixed sizes";
    if (!info.has_type() || !info.type().has_tensor_type()) {
        throw ConfigError("it is no tensor", "use tensors for inputs and outputs");
    }
    const auto& tensor = info.type().tensor_type();
    TensorType type{element_of(tensor.elem_type()), {}};
    if (!tensor.has_shape()) {
        throw ConfigError("its sizes are not stated", remedy);
    }
    for (const auto& size : tensor.shape().dim()) {
        if (!size.has_dim_value()) {
            throw ConfigError(fmt::format("its size '{}' is not fixed (a dynamic shape)",
                                          size.has_dim_param() ? size.dim_param() : "?"),
                              remedy);
        }
        if (size.dim_value() < 1) {
            throw ConfigError(fmt::format("{} is no size", size.dim_value()), remedy);
        }
        type.sizes.push_back(size.dim_value());
    }
    count_elements(type.sizes);
    return type;
}

bool is_stated(const onnx::ValueInfoProto& info) {
    if (!info.has_type() || !info.type().has_tensor_type() ||
        !info.type().tensor_type().has_shape()) {
        return false;
    }
    for (const auto& size : info.type().tensor_type().shape().dim()) {
        if (!size.has_dim_value()) {
            return false;
        }
    }
    return true;
}

}  // namespace npuscope
