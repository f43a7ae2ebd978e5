// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/support/generate_parts.h"

namespace npuscope {

namespace {

using oracle::LutSlope;
using oracle::LutTable;

std::vector<std::int32_t> random_entries(Random& random, std::size_t count) {
    std::vector<std::int32_t> entries(count);
    const std::uint32_t style = random.size(0, 2);
    const std::int64_t first = random.between(-32768, 32767);
    const std::int64_t last = random.between(-32768, 32767);
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const auto end = static_cast<std::int64_t>(count - 1);
        const std::int64_t ramp = first + (last - first) * at / end;
        const std::int64_t wave = style == 2 ? random.between(-200, 200) : 0;
        entries[i] = static_cast<std::int32_t>(
            style == 0 ? random.between(-32768, 32767)
                       : std::clamp<std::int64_t>(ramp + wave, -32768, 32767));
    }
    return entries;
}

LutSlope random_slope(Random& random) {
    return {static_cast<std::int32_t>(random.between(-32768, 32767)),
            static_cast<std::int32_t>(random.chance(80) ? random.between(0, 15)
                                                        : random.between(-16, 15))};
}

/// A start somewhere in or a little before the range.
std::int64_t random_start(Random& random, std::int64_t low, std::int64_t high) {
    const std::int64_t span = high - low + 2;
    return random.chance(50) ? low + random.between(-2, 2) : low + random.between(-span / 4, span);
}

void choose_linear(Random& random, LutTable& table, std::int64_t reach) {
    const auto entries = static_cast<std::int64_t>(table.entries.size() - 1);
    std::int32_t select = 0;
    while ((entries << select) < reach && select < 26) {
        ++select;
    }
    while (select > -6 && select <= 0 && entries > reach * 2 && random.chance(60)) {
        --select;
        reach *= 2;
    }
    table.index_select = select + static_cast<std::int32_t>(random.between(-2, 1));
    const std::int64_t width =
        table.index_select >= 0 ? entries << table.index_select : entries >> -table.index_select;
    table.end = table.start + width + (random.chance(20) ? random.between(-9, 9) : 0);
}

void choose_exponent(Random& random, LutTable& table, std::int64_t reach) {
    const auto power = static_cast<std::int32_t>(std::log2(static_cast<double>(reach)));
    table.exponent = true;
    table.index_offset = static_cast<std::int32_t>(
        random.chance(70) ? random.between(0, std::max(power / 2, 1)) : random.between(-64, 4));
    table.end = table.start + random.between(1, reach * 2);
}

/// Slopes of SDP's exponent table grow from 2^offset: kept to offsets that 32 bits can hold.
LutTable random_table(Random& random, std::size_t count, std::int64_t low, std::int64_t high) {
    LutTable table;
    table.entries = random_entries(random, count);
    table.start = random_start(random, low, high);
    table.underflow = random_slope(random);
    table.overflow = random_slope(random);
    return table;
}

std::vector<RegisterValue> table_writes(Random& random, const LutTable& table, bool lo,
                                        const std::string& unit) {
    std::vector<RegisterValue> writes;
    const std::size_t pause = random.chance(20) ? random.bits() % table.entries.size() : 0;
    for (std::size_t i = 0; i < table.entries.size(); ++i) {
        if (i == 0 || i == pause) {  // the address increments by itself
            const std::uint32_t access = 0x20000U | (lo ? 0x10000U : 0U);
            writes.push_back({unit + "S_LUT_ACCESS_CFG_0", access | static_cast<std::uint32_t>(i)});
        }
        writes.push_back({unit + "S_LUT_ACCESS_DATA_0", field(table.entries[i], 16)});
    }
    return writes;
}

void add_edge(std::vector<RegisterValue>& writes, const std::string& name, std::int64_t value,
              TableUser user) {
    if (user == TableUser::Sdp) {
        writes.push_back({name + "_0", field(value, 32)});
        return;
    }
    writes.push_back({name + "_LOW_0", field(value, 32)});
    writes.push_back({name + "_HIGH_0", field(value >> 32, 6)});
}

void add_slopes(std::vector<RegisterValue>& writes, const std::string& name,
                const LutTable& table) {
    writes.push_back({name + "_SLOPE_SCALE_0",
                      field(table.underflow.scale, 16) | field(table.overflow.scale, 16, 16)});
    writes.push_back({name + "_SLOPE_SHIFT_0",
                      field(table.underflow.shift, 5) | field(table.overflow.shift, 5, 5)});
}

}  // namespace

oracle::Lut random_lut(Random& random, std::int64_t low, std::int64_t high, TableUser user) {
    oracle::Lut lut;
    // x - start stays under 2^31, and CDP compares 22 bits.
    const std::int64_t limit = user == TableUser::Sdp ? std::int64_t{1} << 29 : 1 << 20;
    low = std::max(low, -limit);
    high = std::min(high, limit);
    lut.le = random_table(random, 65, low, high);
    lut.lo = random_table(random, 257, low, high);
    const std::int64_t reach = std::max<std::int64_t>(high - low, 4);
    if (random.chance(50)) {
        choose_exponent(random, lut.le, reach);
    } else {
        choose_linear(random, lut.le, reach);
    }
    choose_linear(random, lut.lo, reach);
    lut.underflow_lo = random.chance(50);
    lut.overflow_lo = random.chance(50);
    lut.hybrid_lo = random.chance(50);
    return lut;
}

std::vector<RegisterValue> lut_writes(Random& random, const oracle::Lut& lut, TableUser user) {
    const std::string unit = user == TableUser::Sdp ? "NVDLA_SDP." : "NVDLA_CDP.";
    std::vector<RegisterValue> writes = table_writes(random, lut.le, false, unit);
    const std::vector<RegisterValue> lo = table_writes(random, lut.lo, true, unit);
    writes.insert(writes.end(), lo.begin(), lo.end());
    writes.push_back(
        {unit + "S_LUT_CFG_0", (lut.le.exponent ? 0U : 1U) | (lut.underflow_lo ? 0x10U : 0U) |
                                   (lut.overflow_lo ? 0x20U : 0U) | (lut.hybrid_lo ? 0x40U : 0U)});
    const std::int32_t unused = static_cast<std::int32_t>(random.between(-128, 127));
    writes.push_back(
        {unit + "S_LUT_INFO_0", field(lut.le.exponent ? lut.le.index_offset : unused, 8) |
                                    field(lut.le.exponent ? unused : lut.le.index_select, 8, 8) |
                                    field(lut.lo.index_select, 8, 16)});
    add_edge(writes, unit + "S_LUT_LE_START", lut.le.start, user);
    add_edge(writes, unit + "S_LUT_LE_END", lut.le.end, user);
    add_edge(writes, unit + "S_LUT_LO_START", lut.lo.start, user);
    add_edge(writes, unit + "S_LUT_LO_END", lut.lo.end, user);
    add_slopes(writes, unit + "S_LUT_LE", lut.le);
    add_slopes(writes, unit + "S_LUT_LO", lut.lo);
    return writes;
}

}  // namespace npuscope
