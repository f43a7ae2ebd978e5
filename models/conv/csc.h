// SPDX-License-Identifier: Apache-2.0
// Convolution sequence controller: waits for the input cube and for each group's weights in CBUF,
// then sends stripes to the MAC cells as fast as weights load and the accumulator has credits. A
// package leaves before its last block enters, and says when that will be. The sequencer is
// the pipeline's pacemaker, so the account of where a convolution's cycles went is kept here.
// Lines and weights that an operation leaves in the buffer are kept for the next one.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "models/base/value_thread.h"
#include "models/conv/conv_config.h"
#include "models/conv/conv_work.h"
#include "models/conv/csc_timing.h"
#include "models/layout/datapath.h"
#include "models/link/channel.h"
#include "models/link/entry_store.h"
#include "models/link/unit.h"

namespace npuscope {

class Csc : public Unit {
 public:
    /// What the sequencer is wired to.
    struct Wires {
        EntryStore& data;
        EntryStore& weights;
        EntryStore& masks;
        TimedCounter& credits;
        Sink<StripePackage>& stripes;
        ValueThread& values;
        std::uint32_t most_credits = std::numeric_limits<std::uint32_t>::max();
    };
    Csc(const sc_core::sc_module_name& name, const CscConfig& config,
        const DatapathConfig& datapath, const Wires& wires);

    Channel<std::shared_ptr<ConvWork>> launches{"csc.launches"};

    /// What array and buffer did for all operations so far.
    struct Actions {
        std::array<std::uint64_t, 3> products{};  ///< by Precision, of cells with a kernel
        std::uint64_t partial_sums = 0;           ///< read, added to and written back
        Bytes buffer_read;
        Bytes buffer_written;
    };
    const Actions& actions() const { return actions_; }

    /// Called when all stripes of an operation have been sent and its entries released.
    void on_done(std::function<void(const ConvWork&)> listener) { done_ = std::move(listener); }
    /// Called in the cycle in which a group of kernels other than an operation's first begins. It
    /// answers how many groups from this one on are left out, and adds where their cycles went.
    using GroupListener =
        std::function<std::uint32_t(ConvWork&, std::uint32_t group, CauseCycles& causes)>;
    void on_group(GroupListener listener) { group_begins_ = std::move(listener); }
    /// As a group begins.
    void add_state(Fingerprint& state) const { state.add(last_block_); }
    /// What the next operation depends on besides.
    void add_next_state(Fingerprint& state) const;
    /// What was done in between is done so many times more without being simulated.
    void count_again(const Actions& from, const Actions& to, std::uint64_t times);
    /// Outputs of a group, each an atom for the accumulator.
    std::uint64_t outputs_of_group() const { return plan_.outputs; }

 private:
    void run_operation(Activity& activity);
    StripePlan plan_of(const ConvWork& work) const;
    /// Gives back what the operation before left and this one does not take over.
    void drop_left(const ConvWork& work);
    void release_data(ConvWork& work);
    /// Waits for a group's weights, with the first group for the data; the group's first atom.
    /// Cycles that loading the group's weights into the cells takes.
    std::uint32_t group_load(const ConvJob& job, std::uint32_t group) const;
    Cycles wait_for_group(Activity& activity, ConvWork& work, std::uint32_t group);
    void account_start(ConvWork& work, Cycles weights, Cycles start) const;
    void account_array(ConvWork& work) const;
    /// Pixels and kernels as the MAC cells meet them.
    void meet_pixels(const std::shared_ptr<ConvWork>& of, std::uint32_t group) const;
    /// A block of the group takes at least the time in which its weights are loaded.
    void shorten_blocks(const ConvJob& job, std::uint32_t group);
    /// Another group of kernels follows after this stripe.
    bool ends_group(const StripePackage& package) const;
    /// Runs a group, or one after it where some are left out; which.
    std::uint32_t run_group(Activity& activity, const std::shared_ptr<ConvWork>& work,
                            std::uint32_t group);
    /// True where the next one may begin before its time has come.
    bool run_stripe(Activity& activity, StripePackage& package);
    void count_actions(const ConvWork& work);
    void release_weights(const ConvWork& work, std::uint32_t group, Cycles last_load);

    const CscConfig config_;
    const DatapathConfig datapath_;
    Wires wires_;
    std::function<void(const ConvWork&)> done_;
    GroupListener group_begins_;
    Actions actions_;
    StripePlan plan_;
    std::vector<std::uint32_t> stripes_;
    // the MAC cells' time; it runs ahead of the simulation, by a group of kernels at most
    CauseCycles array_;          // of the operation, from its first product on
    Cycles next_block_;          // first cycle in which another block may enter
    Cycles last_block_;          // start of the last block that entered
    std::optional<Cycles> end_;  // last atom of the operation before, and one
    // entries that the operation before left in the buffer
    std::uint64_t left_data_ = 0;
    std::uint64_t left_weights_ = 0;
    std::uint64_t left_masks_ = 0;
};

}  // namespace npuscope
