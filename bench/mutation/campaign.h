// SPDX-License-Identifier: Apache-2.0
// A seeded choice of mistakes in many programs, tried one after the other in a few processes: a
// mistake that ends a process counts, and the next ones go on in another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/mutation/trial.h"

namespace npuscope::bench {

/// What the machine made of mistakes, by program, kind and mistake. It holds as long as the
/// machine and the programs stay as they are.
using KnownEffects = std::map<std::string, Effect>;

struct Campaign {
    std::vector<Subject> subjects;
    std::vector<std::string> kinds;  ///< empty: all
    std::uint64_t seed = 1;
    double mistakes_per_kind = 1;  ///< of a program; below 1 only some programs have one
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

/// Rows as CSV, a line each below a head.
std::string campaign_csv(const CampaignResult& result);
/// The table by kind, the sums, and where `examples` is not 0 so many mistakes of each kind that were
/// not found, not named, or only thought to be mistakes.
std::string campaign_table(const CampaignResult& result, std::size_t examples);

/// Of mistakes that matter and are no contents: how many were found and named, in percent; of those
/// without effect: how many were warned of.
struct Reached {
    std::size_t mattering = 0;
    std::size_t harmless = 0;
    double found = 0;
    double named = 0;
    double warned = 0;
};
Reached reached_by(const std::vector<TrialRow>& rows);

}  // namespace npuscope::bench
