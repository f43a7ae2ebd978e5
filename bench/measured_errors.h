// SPDX-License-Identifier: Apache-2.0
// What presets are measured with, and the table of their errors that `npuscope run` prints from:
// sim/report/measured_errors.inc.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bench/replay.h"

namespace npuscope::bench {

/// Tables of nv_small's rows and the folders of their programs, below the reference data.
std::vector<std::pair<std::filesystem::path, std::filesystem::path>> nv_small_tables(
    const std::filesystem::path& data);
std::filesystem::path nv_small_pairs(const std::filesystem::path& data);

/// The machine that a row was measured with; `npu` where the row names none.
SystemConfig measured_system(const ReferenceRow& row, const std::string& npu);

/// Replays the rows of every preset's own RTL whose programs are in the reference data; returns the
/// table's text.
std::string measured_table(const std::filesystem::path& data, unsigned jobs);

}  // namespace npuscope::bench
