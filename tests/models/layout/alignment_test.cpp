// SPDX-License-Identifier: Apache-2.0
#include "models/layout/alignment.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

namespace npuscope::alignment_test {
namespace {

const AlignmentNeed stride_need{DataKind::Feature, AlignedPart::LineStride, Bytes(8)};

TEST(Alignment, RulesOfAtomsScaleWithTheMemoryAtomAndRulesOfBytesDoNot) {
    EXPECT_EQ(required_multiple(DataKind::Feature, AlignedPart::Start, Bytes(32)), Bytes(32));
    EXPECT_EQ(required_multiple(DataKind::Feature, AlignedPart::Start, Bytes(8)), Bytes(8));
    EXPECT_EQ(required_multiple(DataKind::Weights, AlignedPart::Size, Bytes(8)), Bytes(128));
    EXPECT_EQ(required_multiple(DataKind::Weights, AlignedPart::LineStride, Bytes(8)), Bytes(1));
}

TEST(Alignment, LegalValuesPass) {
    EXPECT_FALSE(misaligned({"NVDLA_CDMA", "D_LINE_STRIDE", 0x1c0}, stride_need).has_value());
}

TEST(Alignment, AnErrorNamesTheRegisterItsValueTheMultipleAndTheNearestLegalValues) {
    const auto finding = misaligned({"NVDLA_CDMA", "D_LINE_STRIDE", 0x1c4}, stride_need);
    ASSERT_TRUE(finding.has_value());
    EXPECT_EQ(finding->id, "misaligned");
    EXPECT_EQ(finding->unit, "NVDLA_CDMA");
    EXPECT_EQ(finding->register_name, "NVDLA_CDMA.D_LINE_STRIDE_0");
    EXPECT_EQ(finding->value, "0x1c4");
    EXPECT_THAT(finding->sentence, testing::HasSubstr("NVDLA_CDMA.D_LINE_STRIDE_0 = 0x1c4"));
    EXPECT_THAT(finding->sentence, testing::HasSubstr("multiple of 8 bytes"));
    EXPECT_THAT(finding->remedy, testing::HasSubstr("0x1c0 and 0x1c8"));
}

}  // namespace
}  // namespace npuscope::alignment_test
