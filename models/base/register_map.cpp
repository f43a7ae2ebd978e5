// SPDX-License-Identifier: Apache-2.0
#include "models/base/register_map.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "models/base/check.h"

namespace npuscope {
namespace {

std::uint32_t mask_of(const RegisterField& field) {
    const std::uint32_t ones = field.width == 32 ? ~0U : (1U << field.width) - 1U;
    return ones << field.lsb;
}

const RegisterField& field_of(const RegisterBlock& block, std::string_view register_name,
                              std::string_view field_name) {
    const RegisterRow* row = find_register(block, register_name);
    NPU_CHECK(row != nullptr, "no register " + std::string(register_name));
    const auto field = std::ranges::find(row->fields, field_name, &RegisterField::name);
    NPU_CHECK(field != row->fields.end(),
              "no field " + std::string(register_name) + "." + std::string(field_name));
    return *field;
}

}  // namespace

std::uint32_t reset_value(const RegisterRow& row) {
    std::uint32_t value = 0;
    for (const RegisterField& field : row.fields) {
        value |= (field.reset << field.lsb) & mask_of(field);
    }
    return value;
}

std::uint32_t write_mask(const RegisterRow& row) {
    std::uint32_t mask = 0;
    for (const RegisterField& field : row.fields) {
        if (field.access == RegisterAccess::ReadWrite) {
            mask |= mask_of(field);
        }
    }
    return mask;
}

const RegisterRow* find_register(const RegisterBlock& block, std::string_view name) {
    // Names are nearly always literals: where one was found before is cached by its address.
    thread_local std::array<const RegisterRow*, 1024> found_before{};
    const auto places = (reinterpret_cast<std::uintptr_t>(name.data()) >> 2U) ^
                        (reinterpret_cast<std::uintptr_t>(block.rows.data()) >> 5U);
    const RegisterRow*& remembered = found_before[places % found_before.size()];
    const bool is_here = remembered != nullptr && remembered >= block.rows.data() &&
                         remembered < block.rows.data() + block.rows.size();
    if (is_here && remembered->name == name) {
        return remembered;
    }
    const auto row = std::ranges::find(block.rows, name, &RegisterRow::name);
    return row == block.rows.end() ? nullptr : remembered = &*row;
}

const RegisterRow* find_register(const RegisterBlock& block, std::uint32_t offset) {
    // registers are contiguous in most blocks
    const std::size_t guess = block.rows.empty() ? 0 : (offset - block.rows[0].offset) / 4;
    if (guess < block.rows.size() && block.rows[guess].offset == offset) {
        return &block.rows[guess];
    }
    const auto row = std::ranges::find(block.rows, offset, &RegisterRow::offset);
    return row == block.rows.end() ? nullptr : &*row;
}

std::string spelled(std::string_view block_name, std::string_view register_name) {
    return name_of({block_name, ".", register_name, "_0"});
}

const RegisterBlock* find_block(std::span<const RegisterBlock> blocks, std::string_view name) {
    const auto block = std::ranges::find(blocks, name, &RegisterBlock::name);
    return block == blocks.end() ? nullptr : &*block;
}

std::optional<RegisterPlace> find_place(std::span<const RegisterBlock> blocks,
                                        std::string_view name) {
    const std::size_t dot = name.find('.');
    const RegisterBlock* block = find_block(blocks, name.substr(0, dot));
    if (block == nullptr || dot == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view written = name.substr(dot + 1);
    const RegisterRow* row = nullptr;
    if (written.ends_with("_0")) {
        row = find_register(*block, written.substr(0, written.size() - 2));
    }
    if (row == nullptr) {
        row = find_register(*block, written);
    }
    return row == nullptr ? std::nullopt : std::optional(RegisterPlace{block, row});
}

std::optional<RegisterPlace> find_place(std::span<const RegisterBlock> blocks,
                                        std::uint32_t address) {
    for (const RegisterBlock& block : blocks) {
        if (address < block.base || address - block.base >= register_block_size.value) {
            continue;
        }
        const RegisterRow* row = find_register(block, address - block.base);
        return row == nullptr ? std::nullopt : std::optional(RegisterPlace{&block, row});
    }
    return std::nullopt;
}

WideBlock::WideBlock(const RegisterBlock& block, std::span<const std::string_view> registers)
    : rows_(block.rows.begin(), block.rows.end()), block_(block) {
    fields_.reserve(registers.size());  // the spans below stay valid
    for (RegisterRow& row : rows_) {
        if (std::ranges::find(registers, row.name) == registers.end()) {
            continue;
        }
        std::vector<RegisterField>& fields =
            fields_.emplace_back(row.fields.begin(), row.fields.end());
        for (RegisterField& field : fields) {
            unsigned end = 32;
            for (const RegisterField& other : fields) {
                end = other.lsb > field.lsb ? std::min<unsigned>(end, other.lsb) : end;
            }
            field.width = static_cast<std::uint8_t>(end - field.lsb);
        }
        row.fields = fields;
    }
    block_.rows = rows_;
}

RegisterValues::RegisterValues(const RegisterBlock& block) : block_(&block) {
    for (const RegisterRow& row : block.rows) {
        values_.push_back(reset_value(row));
    }
}

void RegisterValues::set(std::uint32_t offset, std::uint32_t value) {
    const RegisterRow* row = find_register(*block_, offset);
    NPU_CHECK(row != nullptr, "no register at offset " + to_hex(offset));
    values_[static_cast<std::size_t>(row - block_->rows.data())] = value;
}

std::uint32_t RegisterValues::raw(std::string_view register_name) const {
    const RegisterRow* row = find_register(*block_, register_name);
    NPU_CHECK(row != nullptr, "no register " + std::string(register_name));
    return values_[static_cast<std::size_t>(row - block_->rows.data())];
}

std::uint32_t RegisterValues::field(std::string_view register_name,
                                    std::string_view field_name) const {
    const RegisterField& field = field_of(*block_, register_name, field_name);
    return (raw(register_name) & mask_of(field)) >> field.lsb;
}

std::int32_t RegisterValues::signed_field(std::string_view register_name,
                                          std::string_view field_name) const {
    const unsigned unused = 32U - field_of(*block_, register_name, field_name).width;
    return static_cast<std::int32_t>(this->field(register_name, field_name) << unused) >>
           static_cast<int>(unused);
}

}  // namespace npuscope
