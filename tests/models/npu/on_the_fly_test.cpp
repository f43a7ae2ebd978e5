// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/npu/launch_engine.h"

namespace npuscope {
namespace {

OnTheFlyPair agreeing() {
    return {{"conv 1", {.shape = {24, 7, 9}}}, {"sdp 0", {.shape = {24, 7, 9}}}};
}

TEST(OnTheFlyPair, EndsThatAgreeHaveNoFinding) {
    EXPECT_TRUE(agreeing().contradictions("NVDLA_SDP").empty());
}

TEST(OnTheFlyPair, AnotherShapeOrderOrNumberOfBatchesIsAnError) {
    OnTheFlyPair pair = agreeing();
    pair.consumer.cube.shape.width = 4;
    Diagnostics findings = pair.contradictions("NVDLA_SDP");
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].severity, Severity::Error);
    EXPECT_EQ(findings[0].id, "shape_mismatch");
    EXPECT_EQ(findings[0].unit, "NVDLA_SDP");
    EXPECT_EQ(findings[0].register_name, "NVDLA_SDP.D_DATA_CUBE_WIDTH_0");
    EXPECT_EQ(
        findings[0].sentence,
        "NVDLA_SDP.D_DATA_CUBE_WIDTH_0: conv 1 produces 24x7x9 (channels x height x width, by "
        "NVDLA_CACC.D_DATAOUT_SIZE_0_0, NVDLA_CACC.D_DATAOUT_SIZE_1_0), but sdp 0 expects 24x7x4");
    pair = agreeing();
    pair.consumer.cube.batches = 2;
    findings = pair.contradictions("NVDLA_SDP");
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].sentence,
              "NVDLA_SDP.D_FEATURE_MODE_CFG_0: conv 1 produces 24x7x9 (channels x height x width, "
              "by NVDLA_CACC.D_DATAOUT_SIZE_0_0, NVDLA_CACC.D_DATAOUT_SIZE_1_0), but sdp 0 expects "
              "24x7x9, 2 batches");
    pair = agreeing();
    pair.consumer.cube.winograd = true;
    EXPECT_EQ(pair.contradictions("NVDLA_SDP").size(), 1U);
}

TEST(OnTheFlyPair, IntegersAndFp16DoNotMeetButIntegersMay) {
    OnTheFlyPair pair = agreeing();
    pair.consumer.cube.precision = Precision::Fp16;
    Diagnostics findings = pair.contradictions("NVDLA_SDP");
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].severity, Severity::Error);
    EXPECT_EQ(findings[0].sentence,
              "NVDLA_SDP.D_DATA_FORMAT_0: conv 1 produces int8, but sdp 0 expects fp16");
    EXPECT_EQ(findings[0].register_name, "NVDLA_SDP.D_DATA_FORMAT_0");
    pair.consumer.cube.precision = Precision::Int16;
    findings = pair.contradictions("NVDLA_SDP");
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].severity, Severity::Warning);
    EXPECT_EQ(pair.contradictions("NVDLA_PDP").at(0).severity, Severity::Error);
}

TEST(OnTheFlyPair, OnlyDirectConvolutionsAreConverted) {
    OnTheFlyPair pair = agreeing();
    pair.consumer.leaves = Precision::Int16;
    EXPECT_TRUE(pair.contradictions("NVDLA_SDP").empty());
    pair.producer.mode = ConvMode::Winograd;
    const Diagnostics findings = pair.contradictions("NVDLA_SDP");
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].id, "precision_conversion");
    EXPECT_EQ(findings[0].severity, Severity::Warning);
    EXPECT_EQ(findings[0].field, "OUT_PRECISION");
    pair.consumer.leaves = Precision::Int8;
    EXPECT_TRUE(pair.contradictions("NVDLA_SDP").empty());
}

TEST(OnTheFlyPairs, EndsArePairedInTheirOrderWhicheverComesFirst) {
    OnTheFlyPairs pairs;
    EXPECT_FALSE(pairs.consume({"sdp 0", {}}));
    EXPECT_FALSE(pairs.consume({"sdp 1", {}}));
    const auto first = pairs.produce({"conv 2", {}});
    ASSERT_TRUE(first);
    EXPECT_EQ(first->consumer.operation, "sdp 0");
    const auto second = pairs.produce({"conv 3", {}});
    ASSERT_TRUE(second);
    EXPECT_EQ(second->consumer.operation, "sdp 1");
    EXPECT_FALSE(pairs.produce({"conv 4", {}}));
    EXPECT_EQ(pairs.consume({"sdp 5", {}})->producer.operation, "conv 4");
}

}  // namespace
}  // namespace npuscope
