// SPDX-License-Identifier: Apache-2.0
// Statistics of a set of replayed rows: share of rows that are cycle-exact, and mean, median, 95th
// percentile and maximum of the absolute error in percent of the RTL's cycles.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/replay.h"

namespace npuscope::bench {

struct ErrorStatistics {
    std::uint64_t rows = 0;
    std::uint64_t failed = 0;  ///< rows without a result; excluded from all other values
    std::uint64_t exact = 0;
    double mean = 0;  ///< percent, as the next three
    double median = 0;
    double p95 = 0;
    double maximum = 0;
    std::uint64_t wrong_beats = 0;
    std::uint64_t wrong_values = 0;
    std::uint64_t wrong_causes = 0;
    std::uint64_t mac_rows = 0;   ///< rows with a MAC start in both
    std::uint64_t mac_exact = 0;  ///< of these, cycle-exact
    double mac_mean = 0;          ///< cycles, absolute
    std::int64_t mac_worst = 0;

    double exact_share() const {
        return rows == 0 ? 0 : static_cast<double>(exact) / static_cast<double>(rows);
    }
};

ErrorStatistics statistics_of(std::span<const ReplayedRow* const> rows);

/// Value that `share` of the sorted values do not exceed; the nearest one, no interpolation.
double percentile(std::span<const double> sorted, double share);

/// Beats of one client, over all rows.
struct ClientErrors {
    std::string client;
    std::uint64_t rows = 0;
    std::uint64_t exact = 0;
    std::int64_t worst = 0;
};

std::vector<ClientErrors> client_errors(std::span<const ReplayedRow> rows);

}  // namespace npuscope::bench
