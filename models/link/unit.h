// SPDX-License-Identifier: Apache-2.0
// What every hardware unit is: a SystemC module with named activities (threads). A unit's thread
// has four verbs: take a package, compute, spend cycles, pass a package on. Statistics are counted
// by Activity.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <systemc>
#include <utility>
#include <vector>

#include "models/base/statistics.h"
#include "models/link/activity.h"
#include "models/link/channel.h"

namespace npuscope {

/// One operation in a register-launched unit; each unit adds its job.
struct UnitWork {
    std::string name;
    unsigned group = 0;
    bool values = true;      ///< false: only time is simulated
    bool uses_rdma = false;  ///< the unit's read DMA was enabled with it
    Cycles rdma_enabled;     ///< when that happened
    OperationRecord record;
};

/// What a register of the unit shows after an operation.
struct StatusValue {
    std::string_view register_name;
    std::uint64_t value = 0;
};
using StatusValues = std::vector<StatusValue>;

class Unit : public sc_core::sc_module {
 public:
    explicit Unit(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}

    /// Sum over the unit's activities.
    UnitStatistics statistics() const;
    const std::deque<Activity>& activities() const { return activities_; }
    std::deque<Activity>& activities() { return activities_; }
    /// Reports every activity's work and waits to `recorder`.
    void record_to(Recorder* recorder);
    /// What ended a thread of this unit prematurely, or null.
    const std::exception_ptr& failure() const { return failure_; }
    /// Ends all threads, so that what they hold is freed; to be called while the simulation runs.
    void kill_threads();

 protected:
    /// Starts a thread that runs `body` again and again. An exception in it stops the simulation
    /// and is kept in failure().
    void repeat(const std::string& name, std::function<void(Activity&)> body);
    /// The same for a body that begins by taking from `work`: the thread starts with the first
    /// package, so that a unit without work costs nothing.
    template <class Package>
    void repeat_from(Channel<Package>& work, const std::string& name,
                     std::function<void(Activity&)> body) {
        work.before_first([this, &activity = add_activity(name), name, run = std::move(body)] {
            start_thread(activity, name, run);
        });
    }

 private:
    Activity& add_activity(const std::string& name);
    void start_thread(Activity& activity, const std::string& name,
                      std::function<void(Activity&)> body);

    std::deque<Activity> activities_;
    std::vector<sc_core::sc_process_handle> threads_;
    std::exception_ptr failure_;
};

}  // namespace npuscope
