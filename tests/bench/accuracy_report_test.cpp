// SPDX-License-Identifier: Apache-2.0
#include "bench/accuracy_report.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "models/base/error.h"

namespace npuscope::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

ReplayedRow row(const std::string& name, std::uint64_t latency, std::uint64_t ours) {
    ReplayedRow replayed;
    replayed.reference.set = "t";
    replayed.reference.name = name;
    replayed.reference.family = family_of(name);
    replayed.reference.setting = {latency, 1};
    replayed.reference.cycles = 1000;
    replayed.cycles = ours;
    return replayed;
}

AccuracyReport report() {
    AccuracyReport result;
    result.rows = {row("pw_a", 200, 1010), row("pw_b", 50, 1000), row("c3_a", 50, 980)};
    result.left_out["no program"] = 4;
    return result;
}

TEST(AccuracyReport, GroupsByFamilyAndBySettingFromLowToHigh) {
    const std::string text = tables_of(report(), TableStyle::Text, 10);
    EXPECT_THAT(text, HasSubstr("t pw"));
    EXPECT_THAT(text, HasSubstr("t c3"));
    EXPECT_LT(text.find("  50/1 "), text.find("  200/1 "));
    EXPECT_THAT(text, HasSubstr("not replayed: 4 rows, no program"));
    EXPECT_THAT(text, HasSubstr("on 3 of 3 rows"));
}

TEST(AccuracyReport, WorstRowsStandFirstAndExactOnesNowhere) {
    const std::string text = tables_of(report(), TableStyle::Text, 10);
    const std::string worst = text.substr(text.find("Worst rows"));
    EXPECT_LT(worst.find("t/c3_a"), worst.find("t/pw_a"));
    EXPECT_THAT(worst, Not(HasSubstr("t/pw_b")));
    EXPECT_THAT(rows_of(report()), HasSubstr("t/pw_b"));
}

TEST(AccuracyReport, RowsThatFailForOneReasonAreOneLine) {
    AccuracyReport failing = report();
    for (ReplayedRow& entry : failing.rows) {
        entry.failure = "dir/" + entry.reference.name + ".cfg:3: no such unit";
    }
    EXPECT_THAT(tables_of(failing, TableStyle::Text, 10),
                HasSubstr("failed: 3 rows, first pw_a: no such unit\n"));
}

TEST(AccuracyReport, MarkdownTableHasARuleUnderItsHead) {
    const std::string text = tables_of(report(), TableStyle::Markdown, 10);
    EXPECT_THAT(text, HasSubstr("### By family\n\n| "));
    EXPECT_THAT(text, HasSubstr("| --- | ---: |"));
}

TEST(AccuracyReport, TablesReplaceWhatStandsBetweenTheMarkers) {
    const std::string page =
        "head\n" + std::string(begin_marker) + "\nold\n" + std::string(end_marker) + "\nfoot\n";
    const std::string once = with_tables(page, "new\n", "p.md");
    EXPECT_EQ(once, "head\n" + std::string(begin_marker) + "\n\nnew\n" + std::string(end_marker) +
                        "\nfoot\n");
    EXPECT_EQ(with_tables(once, "new\n", "p.md"), once);
}

TEST(AccuracyReport, PageWithoutMarkersIsRefused) {
    EXPECT_THROW(with_tables("no markers", "new", "p.md"), ConfigError);
}

}  // namespace
}  // namespace npuscope::bench
