// SPDX-License-Identifier: Apache-2.0
#include "bench/error_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>

namespace npuscope::bench {
namespace {

void keep_worst(std::int64_t& worst, std::int64_t error) {
    worst = std::abs(error) > std::abs(worst) ? error : worst;
}

void count(const ReplayedRow& row, ErrorStatistics& sum) {
    ++sum.rows;
    sum.exact += row.cycle_error() == 0 ? 1U : 0U;
    sum.wrong_beats += row.beats_right() ? 0U : 1U;
    sum.wrong_values += row.values_right ? 0U : 1U;
    sum.wrong_causes += row.causes_sum ? 0U : 1U;
    if (row.first_mac_error) {
        ++sum.mac_rows;
        sum.mac_exact += *row.first_mac_error == 0 ? 1U : 0U;
        sum.mac_mean += std::abs(static_cast<double>(*row.first_mac_error));
        keep_worst(sum.mac_worst, *row.first_mac_error);
    }
}

}  // namespace

double percentile(std::span<const double> sorted, double share) {
    if (sorted.empty()) {
        return 0;
    }
    const double rank = std::ceil(share * static_cast<double>(sorted.size()));
    const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
    return sorted[std::min(index, sorted.size() - 1)];
}

ErrorStatistics statistics_of(std::span<const ReplayedRow* const> rows) {
    ErrorStatistics sum;
    std::vector<double> errors;
    for (const ReplayedRow* row : rows) {
        if (!row->ran()) {
            ++sum.failed;
            continue;
        }
        count(*row, sum);
        errors.push_back(std::abs(row->percent()));
    }
    if (errors.empty()) {
        return sum;
    }
    std::ranges::sort(errors);
    sum.mean =
        std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
    sum.median = percentile(errors, 0.5);
    sum.p95 = percentile(errors, 0.95);
    sum.maximum = errors.back();
    sum.mac_mean = sum.mac_rows == 0 ? 0 : sum.mac_mean / static_cast<double>(sum.mac_rows);
    return sum;
}

std::vector<ClientErrors> client_errors(std::span<const ReplayedRow> rows) {
    std::map<std::string, ClientErrors> clients;
    for (const ReplayedRow& row : rows) {
        for (const auto& [client, error] : row.beat_errors) {
            ClientErrors& entry = clients[client];
            entry.client = client;
            ++entry.rows;
            entry.exact += error == 0 ? 1U : 0U;
            keep_worst(entry.worst, error);
        }
    }
    std::vector<ClientErrors> list;
    list.reserve(clients.size());
    for (auto& [client, entry] : clients) {
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace npuscope::bench
