// SPDX-License-Identifier: Apache-2.0
// One run of memory, read from its beginning to its end. What was asked for and not taken yet
// has its place in a buffer of so many beats; a place is asked for again in the cycle after its
// beat was taken. It is cut into pieces of limited length, each a transaction of its own.
// Times only, no SystemC.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/link/read_stream.h"

namespace npuscope {

struct ByteStreamSetup {
    Cycles first;               ///< no beat stands at the arbiter before
    Bytes beat{4};              ///< of the bus
    std::uint64_t buffer = 16;  ///< beats that may wait to be taken
    std::uint64_t run = 64;     ///< beats of one transaction at most
};

class ByteStream : public ReadStream {
 public:
    /// The run has bytes.
    ByteStream(const ByteStreamSetup& setup, const ByteRun& run);

    std::uint64_t beats() const override { return beats_; }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override {
        arrivals_.insert(arrivals_.end(), times.begin(), times.end());
    }

    /// Beats that hold the first `bytes` bytes.
    std::uint64_t beats_until(Bytes bytes) const;
    /// When beat `number` arrived; it has been issued and not been taken.
    Cycles arrival(std::uint64_t number) const { return arrivals_[number - taken_]; }
    std::uint64_t taken() const { return taken_; }
    /// The next beat is taken at `time`, not before the one in front of it.
    void take(Cycles time);

 private:
    /// When a beat may be asked for; nothing when that is not known yet.
    std::optional<Cycles> place_for(std::uint64_t beat) const;
    /// From a beat on to the next border of a run.
    ByteRun run_from(std::uint64_t beat) const;

    ByteStreamSetup setup_;
    ByteRun run_;
    std::uint64_t beats_;
    std::uint64_t asked_ = 0;
    std::uint64_t taken_ = 0;
    std::deque<Cycles> arrivals_;     // of beats that were not taken
    std::vector<Cycles> taken_last_;  // a ring: when the last beats were taken
};

}  // namespace npuscope
