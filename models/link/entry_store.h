// SPDX-License-Identifier: Apache-2.0
// A store of entries between one filler and one reader, as in the convolution buffer for data and
// for weights: the filler looks up when there is room and announces what it fills, the reader waits
// for filled entries and later releases them. Contents are not kept here: values travel with the
// work, entries are only counted.
#pragma once

#include <string>

#include "models/link/release_ledger.h"
#include "models/link/timed_counter.h"

namespace npuscope {

class EntryStore {
 public:
    explicit EntryStore(const std::string& name) : name_(name), filled_(name + " (filled)") {}

    /// Sets the capacity, all of it free. The store must not be in use.
    void allocate(std::uint64_t entries) {
        capacity_ = entries;
        promised_ = 0;
        releases_.clear();
        filled_.reset(0);
        if (recorder_ != nullptr) {
            recorder_->restarted(name_, now(), 0);
        }
    }
    std::uint64_t capacity() const { return capacity_; }

    /// The filler will fill this many more entries; returns how many it had promised since the
    /// store was allocated. There is room for entry number n once n - capacity are released.
    std::uint64_t promise(std::uint64_t entries) {
        const std::uint64_t before = promised_;
        promised_ += entries;
        return before;
    }
    /// Entries that were promised since the store was allocated.
    std::uint64_t promised() const { return promised_; }
    const ReleaseLedger& releases() const { return releases_; }
    /// Entries were released, or will be.
    const sc_core::sc_event& released() const { return released_; }
    void fill_at(Cycles time, std::uint64_t entries) {
        filled_.add_at(time, entries);
        record(time, static_cast<std::int64_t>(entries));
    }
    /// Waits until all promised entries except `lost` ones, which will not be released, are free
    /// again: the contents are no longer used.
    void wait_empty(Activity& filler, std::uint64_t lost = 0) {
        while (releases_.total() + lost < promised_) {
            filler.wait_for(released_, WaitKind::Blocked, name_);
        }
        filler.wait_until(releases_.last_time(), WaitKind::Blocked, name_);
    }

    /// Waits until this many filled entries are available, takes them, and returns since when.
    Cycles take_filled(Activity& reader, std::uint64_t entries) {
        return filled_.take(reader, entries, WaitKind::Starved);
    }
    /// Entries that were taken are free again from `time` on.
    void release_at(Cycles time, std::uint64_t entries) {
        record(time, -static_cast<std::int64_t>(entries));
        releases_.release(time, entries);
        released_.notify(sc_core::SC_ZERO_TIME);
    }

    void add_state(Fingerprint& state) const {
        filled_.add_state(state);
        releases_.add_state(state);
    }
    /// This many of the promised entries count as filled, taken and released before all others;
    /// `filled`: they had been filled already.
    void leave_out(std::uint64_t entries, bool filled) {
        releases_.leave_out(entries);
        if (filled) {
            filled_.drop(entries);
        }
    }

    /// From now on `recorder` learns how many entries are filled and not released; null ends that.
    void record_to(Recorder* recorder) { recorder_ = recorder; }

 private:
    void record(Cycles time, std::int64_t change) {
        if (recorder_ != nullptr) {
            recorder_->counted(name_, time, change);
        }
    }

    Recorder* recorder_ = nullptr;
    std::string name_;
    std::uint64_t capacity_ = 0;
    std::uint64_t promised_ = 0;
    ReleaseLedger releases_;
    TimedCounter filled_;
    sc_core::sc_event released_;
};

}  // namespace npuscope
