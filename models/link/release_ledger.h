// SPDX-License-Identifier: Apache-2.0
// Who gives entries of a buffer back, when, as a running total: a filler that looks ahead asks at
// what time there is room for it. Times only, no SystemC.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

class ReleaseLedger {
 public:
    /// A running total of released entries, reached at `time`.
    struct Step {
        Cycles time;
        std::uint64_t total = 0;
    };

    void release(Cycles time, std::uint64_t entries) {
        if (!steps_.empty()) {
            time = std::max(time, steps_.back().time);
        }
        steps_.push_back({time, total() + entries});
    }
    /// The first step at which `entries` have been released in total; nothing as long as that
    /// is not known.
    std::optional<Step> reached(std::uint64_t entries) const {
        if (entries == 0) {
            return Step{};
        }
        const auto step = std::ranges::lower_bound(steps_, entries, {}, &Step::total);
        return step == steps_.end() ? std::nullopt : std::optional(*step);
    }
    std::uint64_t total() const { return steps_.empty() ? 0 : steps_.back().total; }
    Cycles last_time() const { return steps_.empty() ? Cycles(0) : steps_.back().time; }
    void clear() { steps_.clear(); }

 private:
    std::vector<Step> steps_;
};

}  // namespace npuscope
