// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/layout/register_coder.h"
#include "models/npu/register_blocks.h"

namespace npuscope::register_decoder_test {
namespace {

TEST(SurfaceLimit, HoldsWhateverTheProductOverflows) {
    EXPECT_FALSE((SurfaceLines{1U << 14U, Bytes(1U << 15U)}.too_large()));
    EXPECT_TRUE((SurfaceLines{(1U << 14U) + 1, Bytes(1U << 15U)}.too_large()));
    EXPECT_TRUE(
        (SurfaceLines{std::uint64_t{1} << 48U, Bytes(std::uint64_t{1} << 18U)}.too_large()));
    EXPECT_FALSE((SurfaceLines{0, Bytes(~std::uint64_t{0})}.too_large()));
}

TEST(SurfaceLimit, NamesTheRegisterAndTheLines) {
    Diagnostics findings;
    RegisterDecoder rubik(RegisterValues(*find_block(nvdla_register_blocks(), "NVDLA_RBK")),
                          findings);
    rubik.require_surface("D_DATAIN_SIZE_0", {4, Bytes(64)});
    EXPECT_TRUE(findings.empty());
    rubik.require_surface("D_DATAIN_SIZE_0", {16384, Bytes(262144)});
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].sentence,
              "NVDLA_RBK.D_DATAIN_SIZE_0_0: a surface of 16384 lines of 262144 bytes is larger "
              "than the 512 MiB that one operation may move here");
    EXPECT_EQ(findings[0].register_name, "NVDLA_RBK.D_DATAIN_SIZE_0_0");
}

const AlignmentNeed stride_need{DataKind::Feature, AlignedPart::LineStride, Bytes(8)};

TEST(RegisterDecoder, AMisalignedValueIsReportedAndRoundedDown) {
    Diagnostics findings;
    RegisterValues values(*find_block(nvdla_register_blocks(), "NVDLA_CDMA"));
    values.set(find_register(values.block(), "D_LINE_STRIDE")->offset, 0x143);
    RegisterDecoder cdma(values, findings);
    cdma.align("D_LINE_STRIDE", stride_need);
    Bytes stride;
    cdma.bytes("D_LINE_STRIDE", stride);
    EXPECT_EQ(stride, Bytes(0x140));
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].register_name, "NVDLA_CDMA.D_LINE_STRIDE_0");
    EXPECT_FALSE(refused(findings));
    EXPECT_EQ(unless_refused(7, findings), 7);
}

TEST(RegisterDecoder, NothingIsJudgedAfterARefusal) {
    Diagnostics findings;
    RegisterDecoder cdma(RegisterValues(*find_block(nvdla_register_blocks(), "NVDLA_CDMA")),
                         findings);
    cdma.refuse({"D_BANK", "DATA_BANK"}, "why", "remedy");
    cdma.refuse({"D_BANK", "WEIGHT_BANK"}, "why", "remedy");
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].field, "DATA_BANK");
    EXPECT_EQ(findings[0].sentence, "NVDLA_CDMA.D_BANK_0.DATA_BANK = 0: why");
    EXPECT_TRUE(cdma.refused());
    EXPECT_EQ(unless_refused(7, findings), std::nullopt);
}

}  // namespace
}  // namespace npuscope::register_decoder_test
