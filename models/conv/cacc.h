// SPDX-License-Identifier: Apache-2.0
// The MAC array and the accumulator behind it: units of fixed latency.
#pragma once

#include <functional>
#include <memory>

#include "models/base/value_thread.h"
#include "models/conv/cacc_math.h"
#include "models/conv/conv_config.h"
#include "models/conv/conv_work.h"
#include "models/layout/datapath.h"
#include "models/link/atom_run.h"
#include "models/link/channel.h"

namespace npuscope {

/// The MAC array, both halves as one. A stripe passes through with a fixed latency that the
/// accumulator's figures include, so the unit has no thread; it counts what it does.
class Cmac : public Sink<StripePackage> {
 public:
    explicit Cmac(Sink<StripePackage>& accumulator) : accumulator_(accumulator) {}

    bool accept(Activity& giver, const StripePackage& package) override {
        stripes_ += 1;
        return accumulator_.accept(giver, package);
    }
    /// Stripes passed so far.
    std::uint64_t stripes() const { return stripes_; }

 private:
    Sink<StripePackage>& accumulator_;
    std::uint64_t stripes_ = 0;
};

/// Convolution accumulator: sums the partial sums of a stripe, truncates, and hands atoms to SDP.
/// It has a fixed number of credits; the sequencer takes one per output of a stripe and gets it
/// back some time after SDP has taken the atom. A unit of fixed latency: it has no thread.
class Cacc : public Sink<StripePackage> {
 public:
    Cacc(const CaccConfig& config, const DatapathConfig& datapath, ValueThread& values);

    TimedCounter credits;
    Channel<AtomRun<std::int32_t>> atoms{"cacc.atoms", 64};

    bool accept(Activity& giver, const StripePackage& package) override;
    /// No operation end is marked at the wrong atom.
    bool marks_are_right() const { return !marks_.stale(); }
    void add_state(Fingerprint& state) const;
    /// Other state that the next operation depends on.
    void add_next_state(Fingerprint& state) const { marks_.add_state(state); }
    EndMarks& marks() { return marks_; }
    /// Operations whose last atom has been handed on.
    std::uint64_t ended() const { return ended_; }
    /// `count` atoms pass without being simulated.
    void leave_out(std::uint64_t count) { marks_.leave_out(count); }
    /// Called when the last atom of an operation has been handed to SDP.
    void on_done(std::function<void(const std::shared_ptr<ConvWork>&)> listener) {
        done_ = std::move(listener);
    }

 private:
    AccumulatedSums sums_of(ConvWork& work, const WeightKernels& kernels) const;
    void compute(const std::shared_ptr<ConvWork>& work) const;
    /// Computes the next of the groups that have arrived.
    void compute_group(ConvWork& work) const;

    const CaccConfig config_;
    const DatapathConfig datapath_;
    ValueThread& values_;
    EndMarks marks_;
    std::uint64_t ended_ = 0;
    std::function<void(const std::shared_ptr<ConvWork>&)> done_;
};

}  // namespace npuscope
