// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_tensor.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/error.h"

namespace npuscope {
namespace {

const ElementRow& row_of(int number) {
    if (const ElementRow* row = find_onnx_element(number)) {
        return *row;
    }
    const std::string name = onnx::TensorProto_DataType_IsValid(number)
                                 ? onnx::TensorProto_DataType_Name(number)
                                 : std::to_string(number);
    throw ConfigError(fmt::format("element type {} is not supported", name),
                      "use float32, float64, bool or an integer type");
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
    // The data must be there before memory is taken for them.
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
    GraphValue value{type, {}};
    if (tensor.has_raw_data()) {
        const std::string& raw = tensor.raw_data();
        value.numbers = read_elements(
            row.type, {reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size()});
    } else {
        value.numbers.resize(elements);
        read_numbers(tensor, row.type, value.numbers);
        settle(value);
    }
    for (const double number : value.numbers) {
        if (std::isnan(number)) {
            throw ConfigError("it holds a NaN", "correct the model's values");
        }
    }
    return value;
}

TensorType type_of(const onnx::ValueInfoProto& info) {
    const std::string remedy = "export the model with fixed sizes";
    if (!info.has_type() || !info.type().has_tensor_type()) {
        throw ConfigError("it is not a tensor", "use tensors for inputs and outputs");
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
            throw ConfigError(fmt::format("{} is not a size", size.dim_value()), remedy);
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
