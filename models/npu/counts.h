// SPDX-License-Identifier: Apache-2.0
// Arithmetic on counters, for work that is counted without being simulated.
#pragma once

#include "models/base/statistics.h"

namespace npuscope {

inline UnitStatistics difference(const UnitStatistics& later, const UnitStatistics& earlier) {
    return {later.busy - earlier.busy, later.starved - earlier.starved,
            later.blocked - earlier.blocked};
}

inline ClientTraffic difference(ClientTraffic later, const ClientTraffic& earlier) {
    later -= earlier;
    return later;
}

inline UnitStatistics times(const UnitStatistics& one, std::uint64_t count) {
    return {one.busy * count, one.starved * count, one.blocked * count};
}

inline ClientTraffic times(const ClientTraffic& one, std::uint64_t count) {
    return {one.read_bytes * count, one.write_bytes * count, one.read_beats * count,
            one.write_beats * count};
}

inline bool equal(const UnitStatistics& a, const UnitStatistics& b) {
    return a.busy == b.busy && a.starved == b.starved && a.blocked == b.blocked;
}

inline bool equal(const ClientTraffic& a, const ClientTraffic& b) {
    return a.read_bytes == b.read_bytes && a.write_bytes == b.write_bytes &&
           a.read_beats == b.read_beats && a.write_beats == b.write_beats;
}

}  // namespace npuscope
