// SPDX-License-Identifier: Apache-2.0
#include "models/link/atom_run.h"

#include "models/base/check.h"

namespace npuscope {

void EndMarks::enter(Cycles last, bool end) {
    if (end) {
        ends_.push_back(last);
    }
}

std::optional<std::uint64_t> EndMarks::wrong_end(std::uint64_t atoms, bool end) const {
    if (!stale_ || *stale_ >= left_ + atoms || (end && *stale_ + 1 == left_ + atoms)) {
        return std::nullopt;
    }
    return *stale_ + 1 - left_;
}

EndMarks::Meeting EndMarks::meeting(Cycles entered) const {
    if (!last_end_ || entered > *last_end_ + latency_) {
        return Meeting::Apart;
    }
    return entered == *last_end_ + latency_ ? Meeting::AtOnce : Meeting::Together;
}

EndMarks::Meeting EndMarks::leave(std::uint64_t atoms, Cycles last, bool end) {
    left_ += atoms;
    if (!end) {
        return Meeting::Apart;
    }
    NPU_CHECK(!ends_.empty(), "an end enters the delivery buffer before it leaves");
    const Meeting met = meeting(ends_.front());
    ends_.pop_front();
    last_end_ = last;
    const std::uint64_t place = (left_ - 1) % depth_;
    if (met == Meeting::AtOnce) {
        const std::uint64_t ahead = (second_ + depth_ - place) % depth_;
        stale_ = left_ - 1 + (ahead == 0 ? depth_ : ahead);
    } else if (stale_ || met == Meeting::Together) {
        second_ = place;
    }
    if (stale_ == left_ - 1) {  // its own mark comes after the surplus one, in the same slot
        *stale_ += depth_;
    }
    return met;
}

}  // namespace npuscope
