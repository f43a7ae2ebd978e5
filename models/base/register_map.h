// SPDX-License-Identifier: Apache-2.0
// What a register map is: blocks of registers of fields, as plain rows, and how a register is found
// by name or address. No behaviour: the shadow groups, triggers and findings live in
// csb/register_file.h; the rows are next to their units.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

enum class RegisterAccess { ReadOnly, ReadWrite };

/// A run of bits, `lsb` upwards.
struct RegisterField {
    std::string_view name;
    std::uint8_t lsb;
    std::uint8_t width;
    RegisterAccess access;
    std::uint32_t reset;  ///< value of only this field, not shifted
};

/// One 32-bit register. Names as NVIDIA publishes them, without the trailing `_0`:
/// `S_` registers are shared, `D_` registers exist once in each of the two shadow groups.
struct RegisterRow {
    std::string_view name;
    std::uint32_t offset;  ///< bytes from the start of the block
    std::span<const RegisterField> fields;
};

/// The registers of one unit, e.g. `NVDLA_CDMA` at 0x3000.
struct RegisterBlock {
    std::string_view name;
    std::uint32_t base;  ///< byte address of the block in the CSB's space
    std::span<const RegisterRow> rows;
};

/// A block whose fields in the named registers extend up to the next field, as far as there are
/// spare bits. It owns its rows.
class WideBlock {
 public:
    WideBlock(const RegisterBlock& block, std::span<const std::string_view> registers);
    WideBlock(const WideBlock&) = delete;
    WideBlock& operator=(const WideBlock&) = delete;

    const RegisterBlock& block() const { return block_; }

 private:
    std::vector<RegisterRow> rows_;
    std::vector<std::vector<RegisterField>> fields_;
    RegisterBlock block_;
};

/// Values of every register of one block as one operation sees them: shared registers plus one
/// shadow group. This is all that a job is decoded from.
class RegisterValues {
 public:
    explicit RegisterValues(const RegisterBlock& block);  ///< all registers at their reset value

    const RegisterBlock& block() const { return *block_; }
    void set(std::uint32_t offset, std::uint32_t value);
    std::uint32_t raw(std::string_view register_name) const;
    /// All of them, in the order of the block's rows.
    const std::vector<std::uint32_t>& words() const { return values_; }
    /// An unknown name is a bug of the simulator (InternalError).
    std::uint32_t field(std::string_view register_name, std::string_view field_name) const;
    /// The same, sign-extended from the field's width.
    std::int32_t signed_field(std::string_view register_name, std::string_view field_name) const;
    /// A field that counts from zero: its value plus one.
    std::uint32_t size(std::string_view register_name, std::string_view field_name) const {
        return field(register_name, field_name) + 1;
    }

 private:
    const RegisterBlock* block_;
    std::vector<std::uint32_t> values_;  // one per row
};

std::uint32_t reset_value(const RegisterRow& row);
/// Bits that a write can change.
std::uint32_t write_mask(const RegisterRow& row);
const RegisterRow* find_register(const RegisterBlock& block, std::string_view name);
const RegisterRow* find_register(const RegisterBlock& block, std::uint32_t offset);

/// Joins the parts of a register or field name. Programs are encoded name by name: every run passes
/// through this.
inline std::string name_of(std::initializer_list<std::string_view> parts) {
    std::string name;
    name.reserve(48);
    for (const std::string_view part : parts) {
        name += part;
    }
    return name;
}

inline constexpr Bytes register_block_size{0x1000};  ///< address space of one block

/// `NVDLA_SDP` of `NVDLA_SDP.D_DST_LINE_STRIDE_0`.
inline std::string_view block_of(std::string_view register_name) {
    return register_name.substr(0, register_name.find('.'));
}

/// `NVDLA_CDMA.D_LINE_STRIDE_0`, as traces and messages spell a register. The published spelling
/// ends in `_0`, also after a name that ends in a digit: `NVDLA_CDMA.D_DATAIN_SIZE_0_0`.
std::string spelled(std::string_view block_name, std::string_view register_name);

/// One register of one block of a map.
struct RegisterPlace {
    const RegisterBlock* block = nullptr;
    const RegisterRow* row = nullptr;

    std::uint32_t address() const { return block->base + row->offset; }
    std::string name() const { return spelled(block->name, row->name); }
};

/// `name` as published, e.g. `NVDLA_CDMA`; nullptr where there is none.
const RegisterBlock* find_block(std::span<const RegisterBlock> blocks, std::string_view name);
/// `NVDLA_CDMA.D_OP_ENABLE_0`; the trailing `_0` may be left out.
std::optional<RegisterPlace> find_place(std::span<const RegisterBlock> blocks,
                                        std::string_view name);
/// The register at a byte address.
std::optional<RegisterPlace> find_place(std::span<const RegisterBlock> blocks,
                                        std::uint32_t address);

}  // namespace npuscope
