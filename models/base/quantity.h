// SPDX-License-Identifier: Apache-2.0
// Typed quantities: a count of cycles is not a count of bytes, and neither is a bare integer.
// Time in the models is an integer number of cycles; nothing here knows of SystemC or of seconds.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace npuscope {

/// An unsigned 64-bit amount of one kind. Amounts of one kind add; scaling is by plain integers.
template <class Kind>
struct Quantity {
    std::uint64_t value = 0;

    constexpr Quantity() = default;
    constexpr explicit Quantity(std::uint64_t amount) : value(amount) {}

    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity& operator+=(Quantity other) {
        value += other.value;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other) {
        value -= other.value;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) {
        return Quantity(a.value + b.value);
    }
    friend constexpr Quantity operator-(Quantity a, Quantity b) {
        return Quantity(a.value - b.value);
    }
    friend constexpr Quantity operator*(Quantity a, std::uint64_t n) {
        return Quantity(a.value * n);
    }
    friend constexpr Quantity operator*(std::uint64_t n, Quantity a) { return a * n; }
    /// How many whole times `b` fits into `a`.
    friend constexpr std::uint64_t operator/(Quantity a, Quantity b) { return a.value / b.value; }
};

using Cycles = Quantity<struct CyclesKind>;
using Bytes = Quantity<struct BytesKind>;
using Hertz = Quantity<struct HertzKind>;

/// A byte address in the NPU's 64-bit memory space. Differences of addresses are `Bytes`.
struct Address {
    std::uint64_t value = 0;

    constexpr Address() = default;
    constexpr explicit Address(std::uint64_t byte) : value(byte) {}

    constexpr auto operator<=>(const Address&) const = default;
    friend constexpr Address operator+(Address a, Bytes n) { return Address(a.value + n.value); }
    friend constexpr Bytes operator-(Address a, Address b) { return Bytes(a.value - b.value); }
};

/// `0x9000abcd`: how every message and every result spells an address.
std::string to_hex(std::uint64_t value);
inline std::string to_hex(Address address) { return to_hex(address.value); }

/// Smallest whole number of `step`s that covers `amount`.
constexpr std::uint64_t divide_up(std::uint64_t amount, std::uint64_t step) {
    return (amount + step - 1) / step;
}
constexpr std::uint64_t round_up(std::uint64_t amount, std::uint64_t step) {
    return divide_up(amount, step) * step;
}

}  // namespace npuscope
