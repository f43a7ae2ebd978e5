// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/register_image.h"

#include <algorithm>

#include "models/base/check.h"
#include "models/csb/register_blocks.h"

namespace npuscope {

RegisterImage::RegisterImage(std::string_view block) : block_(find_block(block)) {
    NPU_CHECK(block_ != nullptr, "no register block " + std::string(block));
    values_.reserve(block_->rows.size());
    for (const RegisterRow& row : block_->rows) {
        values_.push_back(reset_value(row));
    }
}

RegisterValues RegisterImage::decoded() const {
    RegisterValues decoded(*block_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
        decoded.set(block_->rows[i].offset, values_[i]);
    }
    return decoded;
}

std::uint32_t& RegisterImage::value_of(std::string_view register_name, const RegisterRow*& row) {
    row = find_register(*block_, register_name);
    NPU_CHECK(row != nullptr, "no register " + std::string(register_name));
    return values_[static_cast<std::size_t>(row - block_->rows.data())];
}

RegisterImage& RegisterImage::field(std::string_view register_name, std::string_view field_name,
                                    std::uint64_t value) {
    const RegisterRow* row = nullptr;
    std::uint32_t& word = value_of(register_name, row);
    const auto field = std::ranges::find(row->fields, field_name, &RegisterField::name);
    const std::string spelled = std::string(register_name) + "." + std::string(field_name);
    NPU_CHECK(field != row->fields.end(), "no field " + spelled);
    const std::uint64_t ones = (std::uint64_t{1} << field->width) - 1;
    NPU_CHECK(value <= ones, "a value does not fit " + spelled);
    word = static_cast<std::uint32_t>((word & ~(ones << field->lsb)) | (value << field->lsb));
    return *this;
}

RegisterImage& RegisterImage::signed_field(std::string_view register_name,
                                           std::string_view field_name, std::int64_t value) {
    const RegisterRow* row = nullptr;
    value_of(register_name, row);
    const auto field = std::ranges::find(row->fields, field_name, &RegisterField::name);
    NPU_CHECK(field != row->fields.end(), "no field " + std::string(field_name));
    const std::int64_t half = std::int64_t{1} << (field->width - 1);
    NPU_CHECK(value >= -half && value < half, "a value does not fit " + std::string(field_name));
    const std::uint64_t ones = (std::uint64_t{1} << field->width) - 1;
    return this->field(register_name, field_name, static_cast<std::uint64_t>(value) & ones);
}

RegisterImage& RegisterImage::size(std::string_view register_name, std::string_view field_name,
                                   std::uint64_t value) {
    NPU_CHECK(value > 0, "a size is 1 or more");
    return field(register_name, field_name, value - 1);
}

RegisterImage& RegisterImage::address(const std::string& stem, Address address) {
    only(stem + "_LOW", address.value & 0xffffffffU);
    return only(stem + "_HIGH", address.value >> 32U);
}

RegisterImage& RegisterImage::whole(std::string_view register_name, std::uint32_t value) {
    const RegisterRow* row = nullptr;
    value_of(register_name, row) = value;
    return *this;
}

}  // namespace npuscope
