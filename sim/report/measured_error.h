// SPDX-License-Identifier: Apache-2.0
// How far the cycles of a bundled preset are from those of its RTL, if measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/config/system_config.h"

namespace npuscope {

/// Over the rows of a preset's RTL; errors are absolute, in percent of the RTL's cycles.
struct MeasuredError {
    std::string_view npu;
    std::uint32_t rows;
    double exact;  ///< percent of the rows
    double mean;
    double worst;
};

/// All presets that were measured. `accuracy --measured` of bench/ writes them.
std::span<const MeasuredError> measured_errors();

/// Null for an NPU that was not measured, and for a modified preset.
const MeasuredError* measured_error(const SystemConfig& system);

/// `cycles: mean error 0.02 %, worst 0.4 %, against 88 runs of the RTL`, or that they were not
/// measured, or not with such a memory, or not with this many NPUs (`instances`, 0: one) at it.
std::string measured_line(const SystemConfig& system, std::size_t instances = 0);

}  // namespace npuscope
