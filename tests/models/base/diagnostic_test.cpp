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

TEST(FindingTest, what_repeats_a_rule_about_one_register_is_left_out) {
    DiagnosticLog log;
    Diagnostic finding = finding_of(Severity::Warning, "written in group 0");
    finding.register_name = "NVDLA_SDP.D_DST_LINE_STRIDE_0";
    log.add(finding);
    finding.sentence = "written in group 1";
    log.add(finding);
    EXPECT_EQ(log.findings().size(), 1U);
    finding.register_name = "NVDLA_SDP.D_DST_SURFACE_STRIDE_0";
    log.add(finding);
    EXPECT_EQ(log.findings().size(), 2U);
}

TEST(FindingTest, surfaces_outside_of_operations_are_told_apart_by_their_sentences) {
    DiagnosticLog log;
    Diagnostic finding = finding_of(Severity::Error, "'a.dat' overwrites bytes of 'b.dat'");
    finding.surface = "a.dat";
    log.add(finding);
    finding.sentence = "'a.dat' overwrites bytes of 'c.dat'";
    log.add(finding);
    EXPECT_EQ(log.findings().size(), 2U);
    finding.operation = "conv 0";
    log.add(finding);
    finding.sentence = "another byte";
    log.add(finding);
    EXPECT_EQ(log.findings().size(), 3U);
}

TEST(FindingTest, overlaps_of_one_described_surface_are_told_apart_by_the_other_one) {
    DiagnosticLog log;
    Diagnostic finding = finding_of(Severity::Error, "'c' and 'a' overlap");
    finding.id = "surface_overlap";
    finding.register_name = "NVDLA_CDMA.D_DAIN_ADDR_LOW_0_0";
    finding.surface = "c";
    log.add(finding);
    log.add(finding);
    finding.sentence = "'c' and 'b' overlap";
    log.add(finding);
    EXPECT_EQ(log.findings().size(), 2U);
}

}  // namespace
}  // namespace npuscope
