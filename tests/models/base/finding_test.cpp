// SPDX-License-Identifier: Apache-2.0
#include "models/base/finding.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

Finding finding_of(Severity severity, const std::string& message) {
    Finding finding;
    finding.severity = severity;
    finding.kind = "register_in_use";
    finding.message = message;
    finding.unit = "sdp";
    return finding;
}

TEST(FindingTest, notes_and_warnings_are_no_errors) {
    FindingLog log;
    log.add(finding_of(Severity::Note, "a"));
    log.add(finding_of(Severity::Warning, "b"));
    EXPECT_FALSE(log.has_errors());
    log.add(finding_of(Severity::Error, "c"));
    EXPECT_TRUE(log.has_errors());
    EXPECT_EQ(log.findings().size(), 3U);
}

TEST(FindingTest, the_same_finding_is_listed_once_per_operation) {
    FindingLog log;
    log.add(finding_of(Severity::Note, "a"));
    log.add(finding_of(Severity::Note, "a"));
    EXPECT_EQ(log.findings().size(), 1U);
    Finding next_operation = finding_of(Severity::Note, "a");
    next_operation.operation = "conv 2";
    log.add(next_operation);
    EXPECT_EQ(log.findings().size(), 2U);
}

}  // namespace
}  // namespace npuscope
