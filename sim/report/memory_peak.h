// SPDX-License-Identifier: Apache-2.0
// What the memory of a run can move at most, and which fields of a configuration change that. It is
// known where all data is in one region: a network's, of an NPU that used one port, or any
// program's if there is only one. Of a network that used two ports, the region behind each is known.
// Peaks of a DRAM are those of its data buses, which refreshes, closed rows and turnarounds leave no
// program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/run/result.h"

namespace npuscope {

class MemoryPeak {
 public:
    explicit MemoryPeak(const Result& result);

    /// Cycles per beat of a port.
    Cycles beat_interval(std::string_view port) const;
    /// Bytes a second of all reads and writes together; nothing where only the ports limit them.
    std::optional<double> shared() const;
    /// What all NPUs of the run moved, in bytes a second.
    double moved() const;
    /// The memory is what limits the run.
    bool is_saturated() const;
    /// Fields that raise the shared peak.
    std::string_view fields() const;
    /// Of these fields, with commas between them, those that have an effect here; a region's own
    /// in place of the memory's.
    std::string effective(std::string_view fields) const;

 private:
    Cycles beat_interval_of(const MemoryRegionConfig* region) const;
    std::string effect_of(std::string_view field) const;

    const Result& result_;
    const MemoryRegionConfig* region_ = nullptr;
};

}  // namespace npuscope
