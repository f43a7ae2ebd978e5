// SPDX-License-Identifier: Apache-2.0
// Compares much state by one number: the state of the machine's parts at one moment, with times
// relative to that moment, so that it is equal at another moment from which they will behave the
// same.
#pragma once

#include <cstdint>

#include "models/base/quantity.h"

namespace npuscope {

/// `all` combined with one more number: equal only where everything mixed in was equal, but for
/// rare collisions.
constexpr std::uint64_t mixed(std::uint64_t all, std::uint64_t next) {
    constexpr std::uint64_t spread = 0x9E3779B97F4A7C15ULL;  // 2^64 divided by the golden ratio
    all = (all ^ next) * spread;
    return all ^ (all >> 29U);
}

class Fingerprint {
 public:
    /// `since`: what happens from then on may not have been computed yet.
    Fingerprint(Cycles moment, Cycles since) : moment_(moment), since_(since) {}

    Cycles moment() const { return moment_; }
    Cycles since() const { return since_; }
    std::uint64_t value() const { return all_; }

    void add(std::uint64_t count) { all_ = mixed(all_, count); }
    void add(Cycles time) { add(time.value - moment_.value); }
    /// A time that no longer matters once it has passed.
    void add_coming(Cycles time) { add(time > since_ ? time.value - moment_.value : 0); }

 private:
    Cycles moment_;
    Cycles since_;
    std::uint64_t all_ = 0;
};

}  // namespace npuscope
