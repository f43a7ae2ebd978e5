// SPDX-License-Identifier: Apache-2.0
// A run's timeline as a value change dump, which GTKWave and other waveform viewers show. Time is in
// picoseconds of the NPU's clock.
//
//   npuscope.units.UNIT.ACTIVITY   three wires: `work`, `starved`, `blocked`; none of them is set
//                                  where the activity has nothing to do
//   npuscope.operations.UNIT       `index` of the operation that runs in the result's table, all ones
//                                  where none does; `running`: how many do, of both register groups
//   npuscope.buffers               entries that are filled
//   npuscope.memory.CLIENT         `read` and `write`: bytes a cycle, by the timeline's windows
//
// source: IEEE Std 1364-2005, clause 18
#pragma once

#include <string>

#include "sim/run/result.h"

namespace npuscope {

/// A result without a timeline shows its operations alone.
std::string wave_report(const Result& result);

}  // namespace npuscope
