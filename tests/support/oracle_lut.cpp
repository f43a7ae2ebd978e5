// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_lut.h"

namespace npuscope::oracle {

namespace {

enum class Side { Below, Inside, Above };

struct Hit {
    Side side = Side::Inside;
    std::size_t index = 0;
    Wide fraction = 0;  ///< of 2^35
};

constexpr unsigned fraction_bits = 35;  // source: nv_small RTL, NV_NVDLA_SDP_HLS_lut_line.v

int floor_log2(Wide value) {
    int power = 0;
    while ((value >> power) > 1) {
        ++power;
    }
    return power;
}

Hit place(Wide index, Wide fraction, std::size_t last) {
    if (index >= static_cast<Wide>(last)) {
        return {Side::Above, last, 0};
    }
    return {Side::Inside, static_cast<std::size_t>(index), fraction};
}

Hit find(const LutTable& table, std::int64_t x) {
    const Wide distance = Wide{x} - table.start;
    const std::size_t last = table.entries.size() - 1;
    if (distance <= 0) {
        return {Side::Below, 0, 0};
    }
    if (table.exponent) {
        const int power = floor_log2(distance);
        if (power < table.index_offset) {
            return {Side::Below, 0, 0};
        }
        const Wide rest = distance - (Wide{1} << power);
        return place(Wide{power} - table.index_offset, (rest << fraction_bits) >> power, last);
    }
    if (table.index_select < 0) {
        const int left = -table.index_select;
        return left > 30 ? Hit{Side::Above, last, 0} : place(distance << left, 0, last);
    }
    const Wide scaled = (distance << fraction_bits) >> table.index_select;
    return place(scaled >> fraction_bits, scaled & ((Wide{1} << fraction_bits) - 1), last);
}

/// Which table answers, LO or LE.
bool lo_answers(const Lut& lut, const Hit& le, const Hit& lo) {
    if (le.side == Side::Below && lo.side == Side::Below) {
        return lut.underflow_lo;
    }
    if (le.side == Side::Above && lo.side == Side::Above) {
        return lut.overflow_lo;
    }
    if ((le.side == Side::Inside) == (lo.side == Side::Inside)) {
        return lut.hybrid_lo;
    }
    return lo.side == Side::Inside;
}

/// The slope outside a table, before saturation; `bits` is what the shift saturates to.
Wide beyond(const LutTable& table, Side side, std::int64_t x, unsigned bits) {
    const bool below = side == Side::Below;
    const LutSlope& slope = below ? table.underflow : table.overflow;
    Wide edge = below ? table.start : table.end;
    if (below && table.exponent && table.index_offset >= 0) {
        edge += Wide{1} << table.index_offset;
    }
    const Wide entry = below ? table.entries.front() : table.entries.back();
    return entry + shift_signed((Wide{x} - edge) * slope.scale, slope.shift, bits);
}

}  // namespace

std::int64_t look_up_sdp(const Lut& lut, std::int64_t x) {
    const Hit le = find(lut.le, x);
    const Hit lo = find(lut.lo, x);
    const bool use_lo = lo_answers(lut, le, lo);
    const LutTable& table = use_lo ? lut.lo : lut.le;
    const Hit& hit = use_lo ? lo : le;
    if (hit.side != Side::Inside) {
        return static_cast<std::int64_t>(saturate(beyond(table, hit.side, x, 32), 32));
    }
    const Wide one = Wide{1} << fraction_bits;
    const Wide sum = table.entries[hit.index] * (one - hit.fraction) +
                     table.entries[hit.index + 1] * hit.fraction;
    return static_cast<std::int64_t>(shift_right(sum, fraction_bits, {53, 32}));
}

std::int64_t look_up_cdp(const Lut& lut, std::int64_t x) {
    const Hit le = find(lut.le, x);
    const Hit lo = find(lut.lo, x);
    const bool use_lo = lo_answers(lut, le, lo);
    const LutTable& table = use_lo ? lut.lo : lut.le;
    const Hit& hit = use_lo ? lo : le;
    if (hit.side != Side::Inside) {
        return static_cast<std::int64_t>(saturate(beyond(table, hit.side, x, 88), 16));
    }
    const Wide fraction = hit.fraction >> (fraction_bits - 16);
    const Wide rise = (Wide{table.entries[hit.index + 1]} - table.entries[hit.index]) * fraction;
    return static_cast<std::int64_t>(
        saturate(table.entries[hit.index] + round_shift(rise, 16), 16));
}

}  // namespace npuscope::oracle
