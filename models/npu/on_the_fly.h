// SPDX-License-Identifier: Apache-2.0
// Results that pass on the fly from one unit to the next, without memory: from the accumulators to
// the SDP, from the SDP to the PDP. Both units are programmed separately, and the hardware does not
// notice when their registers disagree.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "models/base/diagnostic.h"
#include "models/layout/feature_cube.h"

namespace npuscope {

/// An operation at one end, and the cube that its registers describe.
struct OnTheFlyEnd {
    std::string operation;  ///< `conv 1`
    FlyingCube cube;
};

struct OnTheFlyPair {
    OnTheFlyEnd producer;
    OnTheFlyEnd consumer;

    /// Where the two disagree, at the registers of the consumer. Errors: `shape_mismatch`, and
    /// `precision_mismatch`; the latter is a warning where the SDP takes integers of the
    /// accumulators in another width. `unit`: of the consumer, NVDLA_SDP or NVDLA_PDP.
    Diagnostics contradictions(std::string_view unit) const;
};

/// Producers and consumers between two units, paired in their order.
class OnTheFlyPairs {
 public:
    /// The pair that this end completes; nothing while the other end is missing.
    std::optional<OnTheFlyPair> produce(OnTheFlyEnd end);
    std::optional<OnTheFlyPair> consume(OnTheFlyEnd end);

 private:
    std::optional<OnTheFlyPair> pair();

    std::deque<OnTheFlyEnd> producers_;
    std::deque<OnTheFlyEnd> consumers_;
};

}  // namespace npuscope
