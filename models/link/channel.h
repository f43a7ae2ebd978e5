// SPDX-License-Identifier: Apache-2.0
// A wire between two units that carries whole packages in order: `give` blocks while the channel is
// full, `take` while it is empty. One giver, one taker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <utility>

#include "models/link/activity.h"

namespace npuscope {

template <class Package>
class Channel {
 public:
    explicit Channel(std::string name, std::size_t capacity = 2)
        : name_(std::move(name)), capacity_(capacity) {}

    /// Called once, before the first package goes in.
    void before_first(std::function<void()> start) { start_ = std::move(start); }

    /// What became of a package that was offered for immediate taking.
    enum class Offer {
        Declined,  ///< it waits in the channel for the taker's thread
        Taken,     ///< without a thread switch
        Ahead,     ///< the same, and the next one can be taken before its time has come
    };
    /// While the taker waits, `take` is offered each package in the giver's thread. It must not
    /// wait.
    void offer_to(std::function<Offer(const Package&)> take) { offer_ = std::move(take); }

    Offer give(Activity& giver, Package package, WaitKind kind = WaitKind::Blocked) {
        if (offer_ && taker_waits_ && packages_.empty()) {
            const Offer offer = offer_(package);
            if (offer != Offer::Declined) {
                return offer;
            }
        }
        while (packages_.size() >= capacity_) {
            giver_waits_ = true;
            giver.wait_for(space_, kind, name_);
            giver_waits_ = false;
        }
        push(std::move(package));
        return Offer::Declined;
    }

    /// Without a thread, for launches: the channel accepts it even when full. At most two launches
    /// wait, because there are two shadow groups.
    void push(Package package) {
        if (start_) {
            std::exchange(start_, nullptr)();
        }
        packages_.push_back(std::move(package));
        if (taker_waits_) {
            filled_.notify(sc_core::SC_ZERO_TIME);
        }
    }

    Package take(Activity& taker, WaitKind kind = WaitKind::Starved) {
        while (packages_.empty()) {
            taker_waits_ = true;
            taker.wait_for(filled_, kind, name_);
            taker_waits_ = false;
        }
        Package package = std::move(packages_.front());
        packages_.pop_front();
        if (giver_waits_) {
            space_.notify(sc_core::SC_ZERO_TIME);
        }
        return package;
    }

    bool empty() const { return packages_.empty(); }
    /// Its packages, and whether its ends wait; `of_package` adds a package's contents.
    template <class OfPackage>
    void add_state(Fingerprint& state, const OfPackage& of_package) const {
        state.add(packages_.size());
        state.add((taker_waits_ ? 1U : 0U) + (giver_waits_ ? 2U : 0U));
        for (const Package& package : packages_) {
            of_package(package);
        }
    }
    /// Packages that can be given without waiting.
    std::size_t room() const { return capacity_ - std::min(capacity_, packages_.size()); }
    const std::string& name() const { return name_; }

 private:
    std::string name_;
    std::size_t capacity_;
    std::deque<Package> packages_;
    std::function<void()> start_;
    std::function<Offer(const Package&)> offer_;
    sc_core::sc_event filled_;
    sc_core::sc_event space_;
    bool taker_waits_ = false;
    bool giver_waits_ = false;
};

// A unit of fixed latency has no thread of its own: what its neighbour gives passes through
// immediately, and the package carries the later time.

template <class Package>
class Sink {
 public:
    virtual ~Sink() = default;
    /// May block the giver, counted as the giver's wait. True if the next package is accepted
    /// before its time has come.
    virtual bool accept(Activity& giver, const Package& package) = 0;
};

}  // namespace npuscope
