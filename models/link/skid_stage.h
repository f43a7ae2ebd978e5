// SPDX-License-Identifier: Apache-2.0
// A pipe stage with a spare register, which holds a beat while the output is stalled. Times only,
// no SystemC. source: vmod/plugins/pipe.pm of branch master, option -is; the pipes in
// NV_NVDLA_CDMA_dc.v of nvdlav1
#pragma once

#include <algorithm>

#include "models/base/fingerprint.h"
#include "models/base/quantity.h"

namespace npuscope {

/// A stage that `waits` accepts nothing in the cycle after its output stalled, whether or not the
/// spare register is in use; one that does not, only while it is in use.
class SkidStage {
 public:
    SkidStage() = default;
    explicit SkidStage(bool waits) : waits_(waits) {}

    /// The first cycle from `offered` on in which the stage accepts something.
    Cycles accepts(Cycles offered) const {
        Cycles time = offered;
        if (!waits_) {
            const bool spare_in_use = taken_ < before_.left;
            return spare_in_use ? std::max(time, before_.left + Cycles(1)) : time;
        }
        while (true) {
            const Cycles before = time - Cycles(1);
            if (before >= last_.stood && before < last_.left) {
                time = last_.left + Cycles(1);
            } else if (before >= before_.stood && before < before_.left) {
                time = before_.left + Cycles(1);
            } else {
                return time;
            }
        }
    }
    /// When what it accepts at `time` is at its output.
    Cycles output(Cycles time) const { return std::max(time, last_.left) + Cycles(1); }
    /// Records when the last beat, accepted at `taken`, reached the output and left.
    void passed(Cycles taken, Cycles stood, Cycles left) {
        before_ = last_;
        last_ = {stood, left};
        taken_ = taken;
    }
    /// What later offers, from `state.since()` minus `early` on, depend on.
    void add_state(Fingerprint& state, Cycles early) const {
        for (const Cycles time : {last_.stood, last_.left, before_.stood, before_.left, taken_}) {
            state.add_coming(time + early + Cycles(1));
        }
    }

 private:
    struct Beat {
        Cycles stood;
        Cycles left;
    };
    bool waits_ = true;
    Beat last_;
    Beat before_;
    Cycles taken_;
};

}  // namespace npuscope
