// SPDX-License-Identifier: Apache-2.0
// A share of the mistakes that the benchmark `mutation` puts into good programs: how many of those
// that matter `check` finds, and how many of the others it warns of.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/mutation/campaign.h"
#include "tests/support/reference_data.h"

namespace npuscope::bench {
namespace {

Campaign repository_campaign() {
    Campaign campaign;
    campaign.subjects = reference_subjects(NPUSCOPE_SOURCE, {});
    campaign.seed = 7;
    campaign.mistakes_per_kind = 1;
    return campaign;
}

TEST(MutationOfTheRepository, finds_and_names_what_matters) {
    const CampaignResult result = run_campaign(repository_campaign());
    const Reached reached = reached_by(result.rows);
    EXPECT_GT(reached.mattering, 500U);
    EXPECT_GT(reached.harmless, 150U);
    EXPECT_GE(reached.found, 97.0) << campaign_table(result, 3);
    EXPECT_GE(reached.named, 93.0) << campaign_table(result, 3);
    EXPECT_LE(reached.warned, 3.0) << campaign_table(result, 3);
    EXPECT_EQ(std::ranges::count(result.rows, Effect::Lost, &TrialRow::effect), 0)
        << campaign_table(result, 3);
}

TEST(MutationOfTheReferenceData, finds_and_names_what_matters) {
    Campaign campaign;
    campaign.subjects = reference_subjects(NPUSCOPE_SOURCE, reference_data(NPUSCOPE_SOURCE));
    if (reference_data(NPUSCOPE_SOURCE).empty()) {
        GTEST_SKIP() << "no reference data: set NPUSCOPE_REFERENCE_DATA to spoil its programs";
    }
    campaign.seed = 11;
    campaign.mistakes_per_kind = 0.02;
    const CampaignResult result = run_campaign(campaign);
    const Reached reached = reached_by(result.rows);
    EXPECT_GT(reached.mattering, 400U);
    EXPECT_GE(reached.found, 97.0) << campaign_table(result, 3);
    EXPECT_GE(reached.named, 93.0) << campaign_table(result, 3);
    EXPECT_LE(reached.warned, 3.0) << campaign_table(result, 3);
    const auto is_of = [](const std::string& alarm, const char* id) {
        return alarm.find(id) != std::string::npos;
    };
    for (const std::string& alarm : result.false_alarms) {
        // short convolutions without a wait; vectors of the C model that the RTL computes
        // differently
        const bool is_c_model = is_of(alarm, "nv_full/vectors/");
        EXPECT_TRUE(is_of(alarm, "ends_meet") || is_of(alarm, "reuse_of_nothing") ||
                    (is_c_model &&
                     (is_of(alarm, "precision_conversion") || is_of(alarm, "windows_flushed"))))
            << alarm;
    }
}

TEST(MutationKinds, are_many_and_each_has_a_place_in_some_program) {
    std::set<std::string_view> names;
    std::set<std::string_view> placed;
    for (const MistakeKind& kind : mistake_kinds()) {
        names.insert(kind.name);
    }
    EXPECT_EQ(names.size(), mistake_kinds().size());
    EXPECT_GT(std::ranges::count(mistake_kinds(), false, &MistakeKind::content), 30);
    for (const Subject& subject : reference_subjects(NPUSCOPE_SOURCE, {})) {
        const Trial trial(subject);
        for (const MistakeKind& kind : mistake_kinds()) {
            if (!kind.list(trial.site()).empty()) {
                placed.insert(kind.name);
            }
        }
    }
    names.erase("image_short_sparse");  // images of the repository's programs omit no zeros
    EXPECT_EQ(placed, names);
}

TEST(MutationEffects, are_the_same_when_they_are_read_again) {
    Campaign campaign = repository_campaign();
    std::erase_if(campaign.subjects, [](const Subject& subject) {
        return subject.name.find("pdp_") == std::string::npos;
    });
    const CampaignResult first = run_campaign(campaign);
    ASSERT_FALSE(first.rows.empty());
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / "npuscope_mutation_effects.tsv";
    for (const TrialRow& row : first.rows) {
        campaign.known[effect_key(row)] = row.effect;
    }
    write_effects(file, campaign.known);
    EXPECT_EQ(read_effects(file), campaign.known);
    std::filesystem::remove(file);
    const CampaignResult second = run_campaign(campaign);
    ASSERT_EQ(first.rows.size(), second.rows.size());
    EXPECT_EQ(campaign_csv(first), campaign_csv(second));
}

}  // namespace
}  // namespace npuscope::bench
