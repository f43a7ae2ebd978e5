// SPDX-License-Identifier: Apache-2.0
// A seeded choice of mistakes in many programs, tried one after the other in a few processes: a
// mistake that kills a process counts, and the next ones continue in another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/mutation/trial.h"

namespace npuscope::bench {

/// The machine's outcomes of mistakes, by program, kind and mistake. Valid as long as the machine
/// and the programs do not change.
using KnownEffects = std::map<std::string, Effect>;

struct Campaign {
    std::vector<Subject> subjects;
    std::vector<std::string> kinds;  ///< empty: all
    std::uint64_t seed = 1;
    double mistakes_per_kind = 1;  ///< per program; below 1 only some programs have one
    unsigned jobs = 2;
    KnownEffects known{};
};

std::string effect_key(const TrialRow& row);

struct CampaignResult {
    std::vector<TrialRow> rows;
    /// Warnings and errors about the good programs, a line each.
    std::vector<std::string> false_alarms;
};

CampaignResult run_campaign(const Campaign& campaign);

KnownEffects read_effects(const std::filesystem::path& file);
void write_effects(const std::filesystem::path& file, const KnownEffects& effects);

/// Rows as CSV, one line each below a header line.
std::string campaign_csv(const CampaignResult& result);
/// The table by kind, the totals, and `examples` mistakes of each kind that were not found, not
/// named, or wrongly taken for mistakes.
std::string campaign_table(const CampaignResult& result, std::size_t examples);

/// Of mistakes that matter and are not contents: percentage found and named; of those without
/// effect: percentage warned of.
struct Reached {
    std::size_t mattering = 0;
    std::size_t harmless = 0;
    double found = 0;
    double named = 0;
    double warned = 0;
};
Reached reached_by(const std::vector<TrialRow>& rows);

}  // namespace npuscope::bench
