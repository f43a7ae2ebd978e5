// SPDX-License-Identifier: Apache-2.0
// Consequences of a mistake are listed beneath it, and independent findings are not.
#include "sim/check/causes.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/check/check_report.h"

namespace npuscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

Diagnostic found(const char* id, const char* operation, Severity severity = Severity::Error) {
    Diagnostic one;
    one.severity = severity;
    one.id = id;
    one.sentence = std::string(id) + " of " + operation;
    one.remedy = std::string("correct ") + operation;
    one.operation = operation;
    return one;
}

/// A wrong size of a convolution and its consequences, and a mistake of another operation.
CheckReport one_mistake() {
    CheckReport report;
    report.subject = "program";
    report.chains = {{"sdp 1", "conv 0"}};
    report.findings = {found("impossible_register", "conv 0"),
                       found("suspicious_register", "pdp 2"),
                       found("surface_overlap", "sdp 1"),
                       found("race", "pdp 2"),
                       found("compares_partly", "cdp 3", Severity::Warning),
                       found("unused", "", Severity::Note)};
    return report;
}

TEST(Causes, SurfacesFollowTheRegistersOfTheirChainAndComparisonsTheFirstCause) {
    EXPECT_THAT(causes_of(one_mistake()),
                ElementsAre(std::nullopt, std::nullopt, 0U, 1U, 0U, std::nullopt));
}

TEST(Causes, AnErrorIsNotHiddenBeneathAWarning) {
    CheckReport report;
    report.findings = {found("suspicious_register", "conv 0", Severity::Warning),
                       found("surface_overlap", "conv 0")};
    EXPECT_THAT(causes_of(report), ElementsAre(std::nullopt, std::nullopt));
    report.findings[1].severity = Severity::Warning;
    EXPECT_THAT(causes_of(report), ElementsAre(std::nullopt, 0U));
}

TEST(Causes, FindingsOfOneSurfaceOfAnImageBelongTogether) {
    CheckReport report;
    report.findings = {found("size_mismatch", ""), found("never_loaded", ""),
                       found("never_loaded", "")};
    report.findings[0].surface = report.findings[2].surface = "input";
    report.findings[1].surface = "weights";
    EXPECT_THAT(causes_of(report), ElementsAre(std::nullopt, std::nullopt, 0U));
}

TEST(Causes, SurfacesOfOneOperationAreMissingIndependently) {
    CheckReport report;
    report.findings = {found("never_loaded", "fc"), found("never_loaded", "fc"),
                       found("never_loaded", "fc")};
    report.findings[0].surface = "input";
    report.findings[0].register_name = "words 1 and 2 (input)";
    report.findings[1].surface = report.findings[2].surface = "weights";
    report.findings[1].register_name = report.findings[2].register_name = "words 9 and 10";
    EXPECT_THAT(causes_of(report), ElementsAre(std::nullopt, std::nullopt, 1U));
}

TEST(Causes, WhatAnOperationThatDoesNotStartLeavesBehindFollowsIt) {
    CheckReport report;
    report.findings = {found("never_starts", "sdp 1"), found("impossible_register", "conv 4"),
                       found("register_in_use", ""), found("shape_mismatch", "sdp 2")};
    EXPECT_THAT(causes_of(report), ElementsAre(std::nullopt, std::nullopt, 0U, 0U));
}

TEST(Causes, ReportsTellWhatFollowsInALineOfItsOwn) {
    const CheckReport report = one_mistake();
    const std::string text = check_text(report);
    EXPECT_THAT(text,
                HasSubstr("    consequence: error: surface_overlap of sdp 1 [surface_overlap]\n"));
    EXPECT_THAT(text, Not(HasSubstr("remedy: correct sdp 1")));
    EXPECT_THAT(text, HasSubstr("4 errors, 1 warning, 1 note"));
    const Json json = Json::parse(check_json(report));
    EXPECT_EQ(json["findings"][2]["follows"], 0);
    EXPECT_FALSE(json["findings"][0].contains("follows"));
    const Json sarif = Json::parse(check_sarif(report, "1"));
    const Json& results = sarif["runs"][0]["results"];
    EXPECT_EQ(results[3]["relatedLocations"][0]["message"]["text"],
              "follows from: suspicious_register of pdp 2");
    EXPECT_FALSE(results[0].contains("relatedLocations"));
}

TEST(Causes, NotesOfOneRuleAreToldOnceWithTheirNumber) {
    CheckReport report;
    for (const char* operation : {"sdp 0", "sdp 1", "sdp 2"}) {
        report.findings.push_back(found("register_read_only", operation, Severity::Note));
    }
    const std::string text = check_text(report);
    EXPECT_THAT(text, HasSubstr("register_read_only of sdp 0 [register_read_only, 3 times]"));
    EXPECT_THAT(text, Not(HasSubstr("sdp 1")));
}

}  // namespace
}  // namespace npuscope
