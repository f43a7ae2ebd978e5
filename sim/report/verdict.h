// SPDX-License-Identifier: Apache-2.0
// The answer in six lines: whether the run is right, how long it took, how much of the MAC array
// and of the memory's ports was used, what bound it, and what would help.
#pragma once

#include <string>
#include <vector>

#include "sim/config/text_table.h"
#include "sim/run/result.h"

namespace npuscope {

/// A row of what a run consists of: a layer of a network, or an operation of a program without
/// layers. Rows sum to the run's cycles.
std::vector<LayerRecord> rows_of(const Result& result);
/// Traffic of all clients and ports.
ClientTraffic moved_by(const LayerRecord& row);
/// Share of the run's cycles, 0 to 1.
double share_of(const LayerRecord& row, const Result& result);
/// Inputs that the NPUs compute per second, all instances together: with several inputs or frames
/// their average rate, not that of the first. 0 if the run took no time.
double inputs_per_second(const Result& result);
CauseCycles all_causes(const std::vector<LayerRecord>& rows);
/// `mac 62 %, sdp_drain 30 %`: causes of at least a twentieth of the cycles, largest first.
std::string causes_text(const CauseCycles& causes, Cycles of);
/// `12.3 %`.
std::string percent(double share);

std::string verdict(const Result& result, std::size_t width = report_width);

}  // namespace npuscope
