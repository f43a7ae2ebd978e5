// SPDX-License-Identifier: Apache-2.0
// Samples what the clients of a machine's memory interface have moved, for a timeline: notified of
// work and waits, it checks whether a window has passed. It takes no simulated time and has no
// process of its own, so that a stopped machine stays stopped.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "models/npu/machine.h"
#include "sim/run/timeline.h"

namespace npuscope {

class TrafficSampler : public Recorder {
 public:
    /// Forwards everything that it receives to `next`.
    TrafficSampler(Recorder& next, const Machine& machine) : next_(next), machine_(machine) {}

    void worked(const std::string& activity, Span span) override;
    void waited(const std::string& activity, WaitKind kind, std::string_view what,
                Span span) override;
    void counted(const std::string& counter, Cycles time, std::int64_t change) override;
    void restarted(const std::string& counter, Cycles time, std::int64_t value) override;

    /// Bytes by client and direction, `cdma_dat read`, as they had been moved at each sample; the
    /// last one is now. Clients that moved nothing are left out.
    std::map<std::string, std::vector<TimelineStep>> take();

 private:
    void look();
    void sample();
    /// Removes every second sample and doubles the windows.
    void thin_out();
    /// Reads are counted when they are granted, many at once: what a port cannot have moved by then
    /// counts as moved later, for all clients in proportion.
    void spread(std::string_view direction, double bytes_per_cycle);

    Recorder& next_;
    const Machine& machine_;
    std::map<std::string, std::vector<TimelineStep>> moved_;
    Cycles window_{64};
    Cycles due_{0};
};

}  // namespace npuscope
