// SPDX-License-Identifier: Apache-2.0
// Random numbers of the program generator: the same on every machine and library (splitmix64; the
// distributions of the standard library differ between implementations).
#pragma once

#include <cstdint>
#include <initializer_list>

namespace npuscope {

class Random {
 public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        state_ += 0x9e3779b97f4a7c15ULL;  // source: Steele, Lea, Flood, splitmix64
        std::uint64_t z = state_;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
        return z ^ z >> 31;
    }
    std::uint32_t word() { return static_cast<std::uint32_t>(bits() >> 32); }
    std::uint8_t byte() { return static_cast<std::uint8_t>(bits() >> 56); }
    /// Both ends are included.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        const auto span = static_cast<std::uint64_t>(high - low) + 1;
        return low + static_cast<std::int64_t>(bits() % span);
    }
    std::uint32_t size(std::uint32_t low, std::uint32_t high) {
        return static_cast<std::uint32_t>(between(low, high));
    }
    bool chance(std::uint32_t percent) { return bits() % 100 < percent; }
    template <class T>
    T one_of(std::initializer_list<T> choices) {
        return *(choices.begin() + bits() % choices.size());
    }

 private:
    std::uint64_t state_;
};

}  // namespace npuscope
