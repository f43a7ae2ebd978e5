// SPDX-License-Identifier: Apache-2.0
// A store of entries between one filler and one reader, as the convolution buffer gives to data and
// to weights: the filler reserves free entries and fills them, the reader waits for filled ones and
// later releases them. Contents are not kept here: values travel with the work, entries are only
// counted.
#pragma once

#include <algorithm>
#include <string>

#include "models/link/timed_counter.h"

namespace npuscope {

class EntryStore {
 public:
    explicit EntryStore(const std::string& name)
        : free_(name + " (free entries)"), filled_(name + " (filled entries)") {}

    /// Gives the store a capacity, all of it free. Nobody may use it at that moment.
    void allocate(std::uint64_t entries) {
        capacity_ = entries;
        free_.reset(entries);
        filled_.reset(0);
    }
    std::uint64_t capacity() const { return capacity_; }

    /// Takes as many free entries as there are, at most `wanted`; waits for at least one.
    std::uint64_t reserve_some(Activity& filler, std::uint64_t wanted) {
        free_.wait_for(filler, 1, WaitKind::Blocked);
        const std::uint64_t granted = std::min(wanted, free_.value());
        free_.take(filler, granted, WaitKind::Blocked);
        return granted;
    }
    void reserve(Activity& filler, std::uint64_t entries) {
        free_.take(filler, entries, WaitKind::Blocked);
    }
    void fill_at(Cycles time, std::uint64_t entries) { filled_.add_at(time, entries); }

    /// Waits until so many filled entries are there, and takes them.
    void take_filled(Activity& reader, std::uint64_t entries) {
        filled_.take(reader, entries, WaitKind::Starved);
    }
    /// Entries that were taken are free again from `time` on.
    void release_at(Cycles time, std::uint64_t entries) { free_.add_at(time, entries); }
    /// Waits until all entries are free: nobody reads what is there any more.
    void wait_empty(Activity& filler) { free_.wait_for(filler, capacity_, WaitKind::Blocked); }

 private:
    std::uint64_t capacity_ = 0;
    TimedCounter free_;
    TimedCounter filled_;
};

}  // namespace npuscope
