// SPDX-License-Identifier: Apache-2.0
// Clamping to a signed width, as the saturators at the ends of NVDLA's integer pipelines do it.
// Values are plain integers that already fit the C++ type; the widths are those of the wires.
// source: nv_small RTL, NV_NVDLA_HLS_saturate.v
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace npuscope {

__extension__ typedef __int128 Int128;

/// A value that was narrowed, and whether the hardware counts it as saturated.
template <class Int>
struct Narrowed {
    Int value{};
    bool saturated = false;

    bool operator==(const Narrowed&) const = default;
};

/// Largest signed value of `bits` bits (1 <= bits <= width of Int).
template <class Int>
constexpr Int max_of_bits(unsigned bits) {
    return static_cast<Int>(((static_cast<Int>(1) << (bits - 1U)) - 1));
}
template <>
constexpr std::int64_t max_of_bits<std::int64_t>(unsigned bits) {
    return static_cast<std::int64_t>((~std::uint64_t{0} >> 1U) >> (64U - bits));
}

template <class Int>
constexpr Int min_of_bits(unsigned bits) {
    return static_cast<Int>(-max_of_bits<Int>(bits) - 1);
}

/// Clamp to a signed `bits`-bit value; flagged when the value did not fit.
template <class Int>
constexpr Narrowed<Int> saturate_flagged(Int value, unsigned bits) {
    if (value > max_of_bits<Int>(bits)) {
        return {max_of_bits<Int>(bits), true};
    }
    if (value < min_of_bits<Int>(bits)) {
        return {min_of_bits<Int>(bits), true};
    }
    return {value, false};
}

template <class Int>
constexpr Int saturate(Int value, unsigned bits) {
    return saturate_flagged(value, bits).value;
}

/// Clamp to the range of a C++ integer type: saturate_to<std::int8_t>(300) is 127.
template <class Out, class Int>
constexpr Out saturate_to(Int value) {
    static_assert(std::is_signed_v<Out>, "the pipelines saturate to signed types");
    return static_cast<Out>(saturate(value, static_cast<unsigned>(sizeof(Out)) * 8U));
}

/// The low `bits` bits of `value`, read as a signed number: what a wire of that width keeps.
constexpr std::int64_t sign_extend(std::uint64_t value, unsigned bits) {
    const unsigned unused = 64U - bits;
    return static_cast<std::int64_t>(value << unused) >> unused;
}

}  // namespace npuscope
