// SPDX-License-Identifier: Apache-2.0
// Convolution sequence controller: waits for the input cube and for each group's weights in CBUF,
// then sends stripes to the MAC cells as fast as weight loading and the accumulator's credits
// allow. A package leaves before its last block enters, and carries the time of that. The sequencer
// sets the pipeline's pace, so the account of where a convolution's cycles went is kept here.
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

    /// What the MAC array and the buffer have done for all operations so far.
    struct Actions {
        std::array<std::uint64_t, 3> products{};  ///< MACs by Precision, in cells with a kernel
        std::uint64_t partial_sums = 0;           ///< read, added to and written back
        Bytes buffer_read;
        Bytes buffer_written;
    };
    const Actions& actions() const { return actions_; }

    /// Called when all stripes of an operation have been sent and its entries released.
    void on_done(std::function<void(const ConvWork&)> listener) { done_ = std::move(listener); }
    /// Called in the cycle in which a kernel group other than an operation's first begins. Returns
    /// how many groups from this one on are left out, and adds where their cycles went.
    using GroupListener =
        std::function<std::uint32_t(ConvWork&, std::uint32_t group, CauseCycles& causes)>;
    void on_group(GroupListener listener) { group_begins_ = std::move(listener); }
    /// State at the beginning of a group.
    void add_state(Fingerprint& state) const { state.add(last_block_); }
    /// Other state that the next operation depends on.
    void add_next_state(Fingerprint& state) const;
    /// Counts the actions between `from` and `to` `times` more times without simulating them.
    void count_again(const Actions& from, const Actions& to, std::uint64_t times);
    /// Outputs of a group, each an atom for the accumulator.
    std::uint64_t outputs_of_group() const { return plan_.outputs; }

 private:
    void run_operation(Activity& activity);
    StripePlan plan_of(const ConvWork& work) const;
    /// Releases what the previous operation left and this one does not reuse.
    void drop_left(const ConvWork& work);
    void release_data(ConvWork& work);
    /// Cycles that loading the group's weights into the cells takes.
    std::uint32_t group_load(const ConvJob& job, std::uint32_t group) const;
    /// Waits for a group's weights, and for the data with the first; returns its first atom's time.
    Cycles wait_for_group(Activity& activity, ConvWork& work, std::uint32_t group);
    void account_start(ConvWork& work, Cycles weights, Cycles start) const;
    void account_array(ConvWork& work) const;
    /// Pixels and kernels as the MAC cells combine them.
    void meet_pixels(const std::shared_ptr<ConvWork>& of, std::uint32_t group) const;
    /// A block of the group takes at least the time in which its weights are loaded.
    void shorten_blocks(const ConvJob& job, std::uint32_t group);
    /// Another group of kernels follows after this stripe.
    bool ends_group(const StripePackage& package) const;
    /// Runs a group, or a later one where some are left out; returns which.
    std::uint32_t run_group(Activity& activity, const std::shared_ptr<ConvWork>& work,
                            std::uint32_t group);
    /// True if the next stripe may begin ahead of its time.
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
    CauseCycles array_;          // of the operation, from its first MAC on
    Cycles next_block_;          // first cycle in which another block may enter
    Cycles last_block_;          // start of the last block that entered
    std::optional<Cycles> end_;  // last atom of the previous operation, plus one
    // entries that the previous operation left in the buffer
    std::uint64_t left_data_ = 0;
    std::uint64_t left_weights_ = 0;
    std::uint64_t left_masks_ = 0;
};

}  // namespace npuscope
