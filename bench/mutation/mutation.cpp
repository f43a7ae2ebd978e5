// SPDX-License-Identifier: Apache-2.0
// `mutation`: how many of a driver's mistakes `check` finds without running the program. Mistakes
// of every kind are put into programs that real hardware ran; the machine says which of them matter.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "bench/bench_main.h"
#include "bench/mutation/campaign.h"
#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/config/nearest_name.h"
#include "tests/support/reference_data.h"

namespace npuscope::bench {
namespace {

struct Arguments {
    std::vector<std::string> kinds;
    std::string only;
    std::string csv;
    std::string effects;
    std::uint64_t seed = 1;
    std::size_t count = 4000;
    std::size_t examples = 0;
    unsigned jobs = 2;
    bool lists_kinds = false;
};

void refuse_unknown_kinds(const std::vector<std::string>& asked) {
    std::vector<std::string> names;
    for (const MistakeKind& kind : mistake_kinds()) {
        names.emplace_back(kind.name);
    }
    for (const std::string& name : asked) {
        if (std::ranges::find(names, name) == names.end()) {
            throw ConfigError("--kind " + name + ": there is no such kind",
                              name_remedy(name, names));
        }
    }
}

Campaign campaign_of(const Arguments& arguments) {
    Campaign campaign;
    campaign.subjects = reference_subjects(NPUSCOPE_SOURCE, reference_data(NPUSCOPE_SOURCE));
    std::erase_if(campaign.subjects, [&](const Subject& subject) {
        return subject.name.find(arguments.only) == std::string::npos;
    });
    if (campaign.subjects.empty()) {
        throw ConfigError("--only " + arguments.only + ": no program has such a name");
    }
    campaign.kinds = arguments.kinds;
    campaign.seed = arguments.seed;
    campaign.jobs = arguments.jobs;
    const std::size_t kinds =
        campaign.kinds.empty() ? mistake_kinds().size() : campaign.kinds.size();
    campaign.mistakes_per_kind = static_cast<double>(arguments.count) /
                                 static_cast<double>(kinds * campaign.subjects.size());
    if (!arguments.effects.empty()) {
        campaign.known = read_effects(arguments.effects);
    }
    return campaign;
}

int measure(const Arguments& arguments) {
    refuse_unknown_kinds(arguments.kinds);
    Campaign campaign = campaign_of(arguments);
    const CampaignResult result = run_campaign(campaign);
    std::cout << campaign_table(result, arguments.examples);
    if (!arguments.csv.empty()) {
        write_atomically(arguments.csv, campaign_csv(result));
    }
    if (!arguments.effects.empty()) {
        for (const TrialRow& row : result.rows) {
            campaign.known[effect_key(row)] = row.effect;
        }
        write_effects(arguments.effects, campaign.known);
    }
    return 0;
}

int run(int argc, char** argv) {
    CLI::App app("how many of a driver's mistakes `check` finds without running the program",
                 "mutation");
    Arguments arguments;
    app.add_option("--count", arguments.count,
                   "mistakes that are tried, about; fewer where programs have no place for a kind")
        ->capture_default_str();
    app.add_option("--kind", arguments.kinds, "only this kind of mistake; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--only", arguments.only, "only programs whose name contains this");
    app.add_option("--seed", arguments.seed, "another choice of mistakes")->capture_default_str();
    app.add_option("--csv", arguments.csv, "file for a row for each mistake");
    app.add_option("--examples", arguments.examples,
                   "print so many mistakes of each kind that were not found or not named");
    app.add_option(
        "--effects", arguments.effects,
        "file that keeps what mistakes do on the machine, so that another measurement of "
        "`check` alone need not run them again");
    app.add_option("--jobs", arguments.jobs, "processes at once, 1 or 2")->capture_default_str();
    app.add_flag("--kinds", arguments.lists_kinds, "list the kinds of mistakes");
    app.footer(
        "Programs of the reference data that NPUSCOPE_REFERENCE_DATA names, and of "
        "tests/golden.");
    CLI11_PARSE(app, argc, argv);
    if (arguments.lists_kinds) {
        for (const MistakeKind& kind : mistake_kinds()) {
            std::cout << kind.name << ": " << kind.sentence << (kind.content ? " (contents)" : "")
                      << '\n';
        }
        return 0;
    }
    return measure(arguments);
}

}  // namespace
}  // namespace npuscope::bench

int main(int argc, char** argv) {
    return npuscope::bench::bench_main(argc, argv, npuscope::bench::run);
}
