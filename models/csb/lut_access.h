// SPDX-License-Identifier: Apache-2.0
// The look-up tables of SDP and CDP as the host loads them: a table and an entry are selected in
// S_LUT_ACCESS_CFG, then every access to S_LUT_ACCESS_DATA moves on by one entry.
//
//     S_LUT_ACCESS_CFG   bits 0-9 LUT_ADDR | bit 16 LUT_TABLE_ID 0 = LE, 1 = LO |
//                        bit 17 LUT_ACCESS_TYPE 0 = read, 1 = write
//
// The two units differ at the edges: see LutPort::Style. Interpolation is arithmetic, not here.
// source: nv_small RTL of SDP and CDP register access
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/base/register_map.h"

namespace npuscope {

inline constexpr std::string_view lut_select_register = "S_LUT_ACCESS_CFG";
inline constexpr std::string_view lut_data_register = "S_LUT_ACCESS_DATA";

/// Contents of both tables; shared by the two register groups.
struct LutTables {
    std::array<std::int16_t, 65> le{};   ///< source: NVDLA LUT page, "X table entries"
    std::array<std::int16_t, 257> lo{};  ///< source: NVDLA LUT page, "Y table entries"

    bool operator==(const LutTables&) const = default;
};

/// Whether an operation with these registers, of SDP or CDP, looks values up.
bool lut_is_used(const RegisterValues& values);

/// The window through which the host reaches the tables.
class LutPort {
 public:
    /// Sdp: the entry moves on at every data access, past the end as well (there writes are lost
    /// and reads give 0); the selection reads back as written. Cdp: the entry moves on when the
    /// access agrees with the selected type, and stays at the last entry of the table; the
    /// selection reads back with the present entry.
    enum class Style { Sdp, Cdp };

    /// What became of a data write.
    enum class Written { Stored, TypeIsRead, PastEnd, LastAgain };

    explicit LutPort(Style style) : style_(style) {}

    void select(std::uint32_t value);
    std::uint32_t selection() const;
    Written write(std::uint32_t value);
    std::uint32_t read();

    const LutTables& tables() const { return tables_; }

 private:
    std::int16_t* present_entry();
    void move_on();
    std::uint32_t last_entry() const;

    Style style_;
    LutTables tables_;
    std::uint32_t selected_ = 0;  // as written
    std::uint32_t entry_ = 0;
    bool last_written_ = false;  // Cdp: the last entry of the table has its value
};

}  // namespace npuscope
