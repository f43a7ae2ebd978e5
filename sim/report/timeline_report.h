// SPDX-License-Identifier: Apache-2.0
// A run's timeline in the Trace Event Format that Chrome (about:tracing) and Perfetto show. A cycle
// is drawn as a microsecond.
//
//   process "operations"   one lane a pipeline: complete events ("X") with the causes of their
//                          cycles, cycles that each took, MACs, and the layer that they belong to
//   process "layers"       from the start of a layer's first operation to the end of its last
//   process "units"        one lane an activity: work, and waits named for what was missing;
//                          `cat` is work, starved or blocked
//   counters ("C")         entries of the convolution buffer that are filled
//   process "bandwidth"    GB/s that every client of the memory interface read and wrote, by windows
//                          that fit the run's length; a run of memory counts where it begins
//
// source: "Trace Event Format", Google
#pragma once

#include <string>
#include <vector>

#include "sim/run/result.h"

namespace npuscope {

/// What a client moved a cycle, from `begin` on.
struct Bandwidth {
    Cycles begin;
    double bytes_per_cycle = 0;
};

/// In each window between two samples of what had been moved, and none after the last.
std::vector<Bandwidth> bandwidth_of(const std::vector<TimelineStep>& moved);

/// A result without a timeline shows its operations alone.
std::string timeline_report(const Result& result);

}  // namespace npuscope
