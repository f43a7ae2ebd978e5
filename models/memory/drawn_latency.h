// SPDX-License-Identifier: Apache-2.0
// How many cycles later than its latency a memory with `latency_spread` answers. The value belongs
// to the beat, not to the time: it is derived from the seed, the address and the direction, so that
// all who request the same beats, in whatever order, see the same memory: npuscope, and an RTL test
// bench next to it.
#pragma once

#include <cstdint>

namespace npuscope {

/// 0 to `spread` cycles, all equally likely. `address` is that of the beat's first byte.
inline std::uint64_t drawn_latency(std::uint64_t spread, std::uint64_t seed, std::uint64_t address,
                                   bool write) {
    // source: the finaliser of SplitMix64 (Steele, Lea, Flood 2014), which mixes all bits
    std::uint64_t bits = address * 2 + (write ? 1 : 0) + seed * 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111eb;
    bits ^= bits >> 31U;
    return bits % (spread + 1);
}

}  // namespace npuscope
