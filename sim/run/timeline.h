// SPDX-License-Identifier: Apache-2.0
// What the machine did when, as plain values: spans of work and waiting on named lanes, and counts
// that step up and down. Times are cycles.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

struct TimelineSpan {
    std::string name;    ///< `work`, or what was waited for
    std::string reason;  ///< work, starved, blocked
    Cycles begin;
    Cycles end;
};

struct TimelineStep {
    Cycles time;
    std::int64_t value = 0;  ///< from this time on
};

struct Timeline {
    /// By `unit.activity`; spans in the order of their end, none overlap.
    std::map<std::string, std::vector<TimelineSpan>> lanes;
    std::map<std::string, std::vector<TimelineStep>> counters;
    /// Bytes that had been moved at each sample, by client and direction: `cdma_dat read`.
    std::map<std::string, std::vector<TimelineStep>> moved{};

    std::size_t spans() const {
        std::size_t sum = 0;
        for (const auto& [name, spans] : lanes) {
            sum += spans.size();
        }
        return sum;
    }
};

}  // namespace npuscope
