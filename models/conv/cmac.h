// SPDX-License-Identifier: Apache-2.0
// The array of multipliers: both halves as one. A stripe passes through with a fixed latency that
// the accumulator's figures include, so the unit has no thread; it counts what it does.
#pragma once

#include "models/conv/conv_work.h"
#include "models/link/channel.h"

namespace npuscope {

class Cmac : public Sink<StripePackage> {
 public:
    explicit Cmac(Sink<StripePackage>& accumulator) : accumulator_(accumulator) {}

    void accept(Activity& giver, const StripePackage& package) override {
        stripes_ += 1;
        accumulator_.accept(giver, package);
    }
    /// Stripes that passed since the start.
    std::uint64_t stripes() const { return stripes_; }

 private:
    Sink<StripePackage>& accumulator_;
    std::uint64_t stripes_ = 0;
};

}  // namespace npuscope
