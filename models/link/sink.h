// SPDX-License-Identifier: Apache-2.0
// A unit of fixed latency has no thread of its own: what its neighbour gives passes through at
// once, and the package carries the later time.
#pragma once

#include "models/link/activity.h"

namespace npuscope {

template <class Package>
class Sink {
 public:
    virtual ~Sink() = default;
    /// May hold the giver, on the giver's account.
    virtual void accept(Activity& giver, const Package& package) = 0;
};

}  // namespace npuscope
