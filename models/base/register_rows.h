// SPDX-License-Identifier: Apache-2.0
// How a unit lists its registers: one register per row, its fields in braces. `ro` and `rw` say who
// may change a field: only the hardware, or also the host; a field that triggers something when
// written (an op-enable, an interrupt clear) is `rw` too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "models/base/register_map.h"

namespace npuscope {

/// One row as written. Only for constants with static storage: the rows made of it point into it.
struct RegisterText {
    std::string_view name;
    std::uint32_t offset;
    std::initializer_list<RegisterField> fields;
};

consteval RegisterField ro(std::string_view name, std::uint8_t lsb, std::uint8_t width,
                           std::uint32_t reset = 0) {
    return {name, lsb, width, RegisterAccess::ReadOnly, reset};
}

consteval RegisterField rw(std::string_view name, std::uint8_t lsb, std::uint8_t width,
                           std::uint32_t reset = 0) {
    return {name, lsb, width, RegisterAccess::ReadWrite, reset};
}

template <std::size_t N>
constexpr std::array<RegisterRow, N> to_rows(const RegisterText (&text)[N]) {
    std::array<RegisterRow, N> rows{};
    for (std::size_t i = 0; i < N; ++i) {
        rows[i] = {text[i].name, text[i].offset, {text[i].fields.begin(), text[i].fields.size()}};
    }
    return rows;
}

}  // namespace npuscope
