// SPDX-License-Identifier: Apache-2.0
#include "models/layout/flying_cube.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

FlightEnd giver() { return {"conv 1", "NVDLA_CACC", {.shape = {24, 7, 9}}}; }
FlightEnd taker() { return {"sdp 0", "NVDLA_SDP", {.shape = {24, 7, 9}}}; }

TEST(FlyingCube, EndsThatAgreeHaveNoFinding) {
    EXPECT_TRUE(flight_contradictions(giver(), taker()).empty());
}

TEST(FlyingCube, AnotherShapeOrderOrNumberOfBatchesIsAnError) {
    FlightEnd end = taker();
    end.cube.shape.width = 4;
    std::vector<Diagnostic> findings = flight_contradictions(giver(), end);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].severity, Severity::Error);
    EXPECT_EQ(findings[0].id, "shape_mismatch");
    EXPECT_EQ(findings[0].unit, "NVDLA_SDP");
    EXPECT_EQ(findings[0].sentence,
              "conv 1 gives 24x7x9 (channels x height x width), but sdp 0 takes 24x7x4");
    end = taker();
    end.cube.batches = 2;
    findings = flight_contradictions(giver(), end);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].sentence,
              "conv 1 gives 24x7x9 (channels x height x width), but sdp 0 takes 24x7x9 2 times");
    end = taker();
    end.cube.winograd = true;
    EXPECT_EQ(flight_contradictions(giver(), end).size(), 1U);
}

TEST(FlyingCube, IntegersAndFp16DoNotMeetButIntegersMay) {
    FlightEnd end = taker();
    end.cube.precision = Precision::Fp16;
    std::vector<Diagnostic> findings = flight_contradictions(giver(), end);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].severity, Severity::Error);
    EXPECT_EQ(findings[0].sentence, "conv 1 gives int8, but sdp 0 takes fp16");
    EXPECT_EQ(flight_register(findings[0]), "NVDLA_SDP.D_DATA_FORMAT_0");
    end.cube.precision = Precision::Int16;
    findings = flight_contradictions(giver(), end);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].severity, Severity::Warning);
    end.unit = "NVDLA_PDP";
    EXPECT_EQ(flight_contradictions(giver(), end).at(0).severity, Severity::Error);
}

TEST(FlyingCube, EndsArePairedInTheirOrderWhicheverComesFirst) {
    FlightPairs pairs;
    FlightEnd narrow = taker();
    narrow.cube.shape.width = 4;
    EXPECT_TRUE(pairs.take(taker()).empty());
    EXPECT_TRUE(pairs.take(narrow).empty());
    EXPECT_TRUE(pairs.give(giver()).empty());
    EXPECT_EQ(pairs.give(giver()).size(), 1U);
    EXPECT_TRUE(pairs.give(giver()).empty());
    EXPECT_TRUE(pairs.take(taker()).empty());
}

}  // namespace
}  // namespace npuscope
