// SPDX-License-Identifier: Apache-2.0
#include "models/layout/register_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "models/base/check.h"

namespace npuscope {
namespace {

const RegisterRow& row_of(const RegisterBlock& block, std::string_view name) {
    const RegisterRow* row = find_register(block, name);
    NPU_CHECK(row != nullptr, "no register " + std::string(name));
    return *row;
}

const RegisterField& field_of(const RegisterRow& row, std::string_view name) {
    const auto field = std::ranges::find(row.fields, name, &RegisterField::name);
    NPU_CHECK(field != row.fields.end(),
              "no field " + std::string(row.name) + "." + std::string(name));
    return *field;
}

}  // namespace

void RegisterEncoder::put(std::string_view register_name, std::string_view field_name,
                          std::uint64_t value) {
    const RegisterRow& row = row_of(values_.block(), register_name);
    const RegisterField& field = field_of(row, field_name);
    const std::uint64_t ones = (std::uint64_t{1} << field.width) - 1;
    NPU_CHECK(value <= ones,
              "a value does not fit " + std::string(register_name) + "." + std::string(field_name));
    const std::uint64_t others = values_.raw(register_name) & ~(ones << field.lsb);
    values_.set(row.offset, static_cast<std::uint32_t>(others | (value << field.lsb)));
}

void RegisterEncoder::put_signed(std::string_view register_name, std::string_view field_name,
                                 std::int64_t value) {
    const RegisterField& field = field_of(row_of(values_.block(), register_name), field_name);
    const std::int64_t half = std::int64_t{1} << (field.width - 1);
    NPU_CHECK(value >= -half && value < half, "a value does not fit " + std::string(field_name));
    const std::uint64_t ones = (std::uint64_t{1} << field.width) - 1;
    put(register_name, field_name, static_cast<std::uint64_t>(value) & ones);
}

void RegisterEncoder::word(std::string_view register_name, std::uint64_t value) {
    const RegisterRow& row = row_of(values_.block(), register_name);
    NPU_CHECK((value & ~std::uint64_t{write_mask(row)}) == 0,
              "a value does not fit " + std::string(register_name));
    values_.set(row.offset, static_cast<std::uint32_t>(value));
}

void RegisterEncoder::start(std::string_view stem, DataKind /*kind*/, Bytes /*memory_atom*/,
                            Address base) {
    address(fmt::format("D_{}_BASE_ADDR_HIGH", stem), fmt::format("D_{}_BASE_ADDR_LOW", stem),
            base);
}

void RegisterEncoder::strides(std::string_view stem, DataKind /*kind*/, Bytes /*memory_atom*/,
                              Bytes line_stride, Bytes surface_stride) {
    bytes(fmt::format("D_{}_LINE_STRIDE", stem), line_stride);
    bytes(fmt::format("D_{}_SURFACE_STRIDE", stem), surface_stride);
}

}  // namespace npuscope
