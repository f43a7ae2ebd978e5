// SPDX-License-Identifier: Apache-2.0
#include "models/base/diagnostic.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

Diagnostic finding_of(Severity severity, const std::string& message) {
    Diagnostic finding;
    finding.severity = severity;
    finding.id = "register_in_use";
    finding.sentence = message;
    finding.unit = "sdp";
    return finding;
}

TEST(FindingTest, notes_and_warnings_are_no_errors) {
    DiagnosticLog log;
    log.add(finding_of(Severity::Note, "a"));
    log.add(finding_of(Severity::Warning, "b"));
    EXPECT_FALSE(log.has_errors());
    log.add(finding_of(Severity::Error, "c"));
    EXPECT_TRUE(log.has_errors());
    EXPECT_EQ(log.findings().size(), 3U);
}

TEST(FindingTest, the_same_finding_is_listed_once_per_operation) {
    DiagnosticLog log;
    log.add(finding_of(Severity::Note, "a"));
    log.add(finding_of(Severity::Note, "a"));
    EXPECT_EQ(log.findings().size(), 1U);
    Diagnostic next_operation = finding_of(Severity::Note, "a");
    next_operation.operation = "conv 2";
    log.add(next_operation);
    EXPECT_EQ(log.findings().size(), 2U);
}

}  // namespace
}  // namespace npuscope
