// SPDX-License-Identifier: Apache-2.0
#include "models/csb/csb_timing.h"

#include <algorithm>

namespace npuscope {

CsbAccessTimes CsbQueue::present(Cycles time) {
    CsbAccessTimes access{time, time};
    if (!effects_.empty()) {
        access.accepted = std::max(time, effects_.back() + Cycles(1));
    }
    access.effect = access.accepted;
    if (effects_.size() == depth_ && depth_ > 0) {
        access.effect = std::max(access.accepted, effects_.front() + round_trip_);
        effects_.pop_front();
    }
    effects_.push_back(access.effect);
    return access;
}

}  // namespace npuscope
