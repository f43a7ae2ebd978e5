// SPDX-License-Identifier: Apache-2.0
// Runs reference rows on the machine, one after the other in this process, and compares the result
// with the RTL's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/reference_rows.h"
#include "sim/run/session.h"

namespace npuscope::bench {

/// One row and the machine's result.
struct ReplayedRow {
    ReferenceRow reference;
    std::string failure;  ///< why there is no result; empty where there is one
    std::uint64_t cycles = 0;
    std::map<std::string, std::int64_t> beat_errors;  ///< by client, and `write`; 0 where right
    std::optional<std::int64_t> first_mac_error;      ///< in cycles
    bool values_right = true;
    bool causes_sum = true;  ///< the causes of every operation sum to its cycles

    bool ran() const { return failure.empty(); }
    std::int64_t cycle_error() const {
        return static_cast<std::int64_t>(cycles) - static_cast<std::int64_t>(reference.cycles);
    }
    /// Share of the RTL's cycles, in percent.
    double percent() const {
        return 100.0 * static_cast<double>(cycle_error()) / static_cast<double>(reference.cycles);
    }
    bool beats_right() const;
};

/// `system` is the machine; the row's setting replaces the memory's.
ReplayedRow replay(const ReferenceRow& row, SystemConfig system, const RunOptions& options);

}  // namespace npuscope::bench
