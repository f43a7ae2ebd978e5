// SPDX-License-Identifier: Apache-2.0
#include "models/layout/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/error.h"

namespace npuscope {
namespace {

const AlignmentNeed stride_need{DataKind::Feature, AlignedPart::LineStride, Bytes(8)};

TEST(Alignment, RulesOfAtomsScaleWithTheMemoryAtomAndRulesOfBytesDoNot) {
    EXPECT_EQ(required_multiple(DataKind::Feature, AlignedPart::Start, Bytes(32)), Bytes(32));
    EXPECT_EQ(required_multiple(DataKind::Feature, AlignedPart::Start, Bytes(8)), Bytes(8));
    EXPECT_EQ(required_multiple(DataKind::Weights, AlignedPart::Size, Bytes(8)), Bytes(128));
    EXPECT_EQ(required_multiple(DataKind::Weights, AlignedPart::LineStride, Bytes(8)), Bytes(1));
}

TEST(Alignment, LegalValuesPass) {
    EXPECT_NO_THROW(require_aligned({"NVDLA_CDMA", "D_LINE_STRIDE", 0x1c0}, stride_need));
}

TEST(Alignment, AnErrorNamesTheRegisterItsValueTheMultipleAndTheNearestLegalValues) {
    try {
        require_aligned({"NVDLA_CDMA", "D_LINE_STRIDE", 0x1c4}, stride_need);
        FAIL() << "0x1c4 is no multiple of 8";
    } catch (const ConfigError& error) {
        EXPECT_THAT(error.sentence(), testing::HasSubstr("NVDLA_CDMA.D_LINE_STRIDE_0 = 0x1c4"));
        EXPECT_THAT(error.sentence(), testing::HasSubstr("multiple of 8 bytes"));
        EXPECT_THAT(error.remedy(), testing::HasSubstr("0x1c0 and 0x1c8"));
    }
}

}  // namespace
}  // namespace npuscope
