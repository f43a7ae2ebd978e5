// SPDX-License-Identifier: Apache-2.0
// When entries of a buffer are released, as a running total: a filler that looks ahead asks at what
// time there is room. Times only, no SystemC.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/fingerprint.h"
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
        steps_.push_back({time, total() - left_out_ + entries});
    }
    /// This many more entries count as released before all others: they were never filled.
    void leave_out(std::uint64_t entries) { left_out_ += entries; }
    /// The first step at which `entries` have been released in total; nothing while not known.
    std::optional<Step> reached(std::uint64_t entries) const {
        if (entries == 0) {
            return Step{};
        }
        if (entries <= left_out_) {
            return Step{Cycles(1), left_out_};
        }
        const auto step = std::ranges::lower_bound(steps_, entries - left_out_, {}, &Step::total);
        return step == steps_.end() ? std::nullopt
                                    : std::optional(Step{step->time, step->total + left_out_});
    }
    std::uint64_t total() const { return left_out_ + (steps_.empty() ? 0 : steps_.back().total); }
    Cycles last_time() const { return steps_.empty() ? Cycles(0) : steps_.back().time; }
    /// What is released later.
    void add_state(Fingerprint& state) const {
        for (auto step = steps_.rbegin(); step != steps_.rend() && step->time > state.since();
             ++step) {
            state.add(step->time);
            state.add(total() - left_out_ - step->total);
        }
    }
    void clear() {
        steps_.clear();
        left_out_ = 0;
    }

 private:
    std::uint64_t left_out_ = 0;
    std::vector<Step> steps_;
};

}  // namespace npuscope
