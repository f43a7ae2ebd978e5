// SPDX-License-Identifier: Apache-2.0
// Registers of one block as a test writes them: field by field, by name.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "models/base/check.h"
#include "models/base/register_map.h"

namespace npuscope {

/// Sets one field and leaves the register's others as they are.
inline void write_field(RegisterValues& values, std::string_view register_name,
                        std::string_view field_name, std::uint32_t value) {
    const RegisterRow* row = find_register(values.block(), register_name);
    NPU_CHECK(row != nullptr, "the test names a register that exists");
    for (const RegisterField& field : row->fields) {
        if (field.name != field_name) {
            continue;
        }
        const std::uint32_t ones = field.width == 32 ? ~0U : (1U << field.width) - 1U;
        const std::uint32_t others = values.raw(register_name) & ~(ones << field.lsb);
        values.set(row->offset, others | ((value & ones) << field.lsb));
        return;
    }
    NPU_CHECK(false, "the test names a field that exists");
}

/// Where a surface is: the registers D_<stem>_BASE_ADDR_LOW, .._HIGH, .._LINE_STRIDE and
/// .._SURFACE_STRIDE, in bytes.
inline void place_surface(RegisterValues& values, const std::string& stem, std::uint32_t base,
                          std::uint32_t line_stride, std::uint32_t surface_stride) {
    const auto write = [&](const std::string& name, std::uint32_t value) {
        write_field(values, "D_" + stem + name, stem + name, value);
    };
    write("_BASE_ADDR_LOW", base);
    write("_BASE_ADDR_HIGH", 0);
    write("_LINE_STRIDE", line_stride);
    write("_SURFACE_STRIDE", surface_stride);
}

/// Sets every register of the block to `value`: a driver's leftovers.
inline void fill_registers(RegisterValues& values, std::uint32_t value) {
    for (const RegisterRow& row : values.block().rows) {
        values.set(row.offset, value);
    }
}

inline std::uint32_t below(std::mt19937& random, std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
}

/// Random bits wherever the host may write.
inline void randomise_registers(RegisterValues& values, std::mt19937& random) {
    for (const RegisterRow& row : values.block().rows) {
        values.set(row.offset, static_cast<std::uint32_t>(random()) & write_mask(row));
    }
}

}  // namespace npuscope
