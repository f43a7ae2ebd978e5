// SPDX-License-Identifier: Apache-2.0
#include "models/csb/lut_access.h"

namespace npuscope {
namespace {

constexpr std::uint32_t entry_mask = 0x3ff;        // source: NVDLA register specification, LUT_ADDR
constexpr std::uint32_t table_is_lo = 1U << 16;    // source: LUT_TABLE_ID
constexpr std::uint32_t type_is_write = 1U << 17;  // source: LUT_ACCESS_TYPE

}  // namespace

bool lut_is_used(const RegisterValues& values) {
    if (find_register(values.block(), "D_DP_EW_CFG") != nullptr) {
        return values.field("D_DP_EW_CFG", "EW_BYPASS") == 0 &&
               values.field("D_DP_EW_CFG", "EW_LUT_BYPASS") == 0;
    }
    return values.field("D_FUNC_BYPASS", "MUL_BYPASS") == 0;
}

void LutPort::select(std::uint32_t value) {
    selected_ = value & (entry_mask | table_is_lo | type_is_write);
    entry_ = value & entry_mask;
    last_written_ = false;
}

std::uint32_t LutPort::selection() const {
    return style_ == Style::Sdp ? selected_ : (selected_ & ~entry_mask) | entry_;
}

std::uint32_t LutPort::last_entry() const {
    const std::size_t size = (selected_ & table_is_lo) != 0 ? tables_.lo.size() : tables_.le.size();
    return static_cast<std::uint32_t>(size - 1);
}

std::int16_t* LutPort::present_entry() {
    if (entry_ > last_entry()) {
        return nullptr;
    }
    return (selected_ & table_is_lo) != 0 ? &tables_.lo[entry_] : &tables_.le[entry_];
}

void LutPort::move_on() {
    if (style_ == Style::Sdp || entry_ != last_entry()) {
        entry_ = (entry_ + 1) & entry_mask;
    }
}

LutPort::Written LutPort::write(std::uint32_t value) {
    const bool is_write = (selected_ & type_is_write) != 0;
    std::int16_t* entry = present_entry();
    if (is_write && entry != nullptr) {
        *entry = static_cast<std::int16_t>(value & 0xffffU);
    }
    const bool at_last = entry_ == last_entry();
    if (is_write || style_ == Style::Sdp) {
        move_on();
    }
    if (!is_write) {
        return Written::TypeIsRead;
    }
    if (entry == nullptr) {
        return Written::PastEnd;
    }
    const bool again = style_ == Style::Cdp && at_last && last_written_;
    last_written_ = at_last;
    return again ? Written::LastAgain : Written::Stored;
}

std::uint32_t LutPort::read() {
    const bool is_write = (selected_ & type_is_write) != 0;
    const std::int16_t* entry = present_entry();
    std::int16_t value = entry == nullptr ? std::int16_t{0} : *entry;
    if (entry == nullptr && style_ == Style::Cdp) {  // its decoder falls back to the first entry
        value = (selected_ & table_is_lo) != 0 ? tables_.lo[0] : tables_.le[0];
    }
    if (!is_write || style_ == Style::Sdp) {
        move_on();
    }
    return static_cast<std::uint16_t>(value);
}

}  // namespace npuscope
