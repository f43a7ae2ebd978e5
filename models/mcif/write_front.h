// SPDX-License-Identifier: Apache-2.0
// How a client's writes come to the channel where its requests are cut into bursts. Times only.
#pragma once

#include <algorithm>

#include "models/base/quantity.h"

namespace npuscope {

/// The way of a client's writes to the channel where requests are cut into bursts of a turn's beats.
/// A burst's command takes a cycle before its beats, and so does the next request's command before
/// that; in a request that begins in the middle of a beat each whole burst waits a cycle more. A
/// burst leaves when its last beat is there, and that one is not taken before the last burst has
/// left. source: NV_NVDLA_MCIF_WRITE_IG_bpt.v of nvdlav1, cmd_en, dat_en and is_swizzle; nv_full
/// RTL, simulated
class WriteFront {
 public:
    /// Where a beat stands in its request and its burst.
    struct Place {
        bool begins_request = false;
        bool begins_burst = false;
        bool ends_burst = false;
        bool same_beat = false;  ///< another part of the beat that passed last
        bool shifted = false;    ///< a whole burst of a request that begins in the middle of a beat
    };
    /// When a beat passes that is there from `there` on.
    Cycles pass(Cycles there, const Place& place) {
        Cycles gap(place.same_beat ? 0 : 1);
        if (place.begins_request) {
            gap += Cycles(2);
        } else if (place.begins_burst) {
            gap += Cycles(place.shifted ? 2 : 1);
        }
        if (any_ && (place.begins_request || place.begins_burst)) {
            left_ = std::max(last_, left_ + Cycles(1)) + beats_ - Cycles(1);
            beats_ = Cycles(0);
        }
        last_ = any_ ? std::max(there, last_ + gap) : there;
        if (place.ends_burst) {
            last_ = std::max(last_, left_);
        }
        beats_ += Cycles(place.same_beat ? 0 : 1);
        any_ = true;
        return last_;
    }

 private:
    bool any_ = false;
    Cycles last_;   // beat that passed
    Cycles left_;   // last beat of the burst before
    Cycles beats_;  // of the present burst
};

}  // namespace npuscope
