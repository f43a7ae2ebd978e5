// SPDX-License-Identifier: Apache-2.0
#include "models/conv/conv_job.h"

#include <gmock/gmock-more-matchers.h>
#include <gtest/gtest.h>

namespace npuscope {
namespace {

/// 32 x 32 x 3 through 16 kernels of 3 x 3, padded by 1: everything agrees.
ConvParts direct_parts() {
    ConvParts parts;
    parts.cdma.input = {3, 32, 32};
    parts.cdma.feature = packed_cube(Address(0x80000000), parts.cdma.input, Bytes(8));
    parts.cdma.line_packed = true;
    parts.cdma.entries_per_slice = 32;
    parts.cdma.weight_bytes = Bytes(512);
    parts.cdma.bytes_per_kernel = Bytes(27);
    parts.cdma.kernels = 16;
    parts.cdma.banks = {2, 30};
    parts.csc.input = parts.cdma.input;
    parts.csc.kernels = {16, 3, 3, 3};
    parts.csc.entries_per_slice = 32;
    parts.csc.weight_bytes = Bytes(512);
    parts.csc.output = {16, 32, 32};
    parts.csc.atomics = 1024;
    parts.csc.pad_top = 1;
    parts.csc.pad_left = 1;
    parts.csc.pad_value = 0x12F0;
    parts.csc.banks = {2, 30};
    parts.cacc.output = parts.csc.output;
    return parts;
}

/// 112 x 32 pixels of 4 channels through the same kernels.
ConvParts image_parts() {
    ConvParts parts = direct_parts();
    parts.cdma.mode = ConvMode::Image;
    parts.cdma.input = {4, 32, 112};
    parts.cdma.entries_per_slice = 57;
    parts.cdma.pad_left = 1;
    parts.cdma.pad_right = 1;
    parts.cdma.pad_value = 0x12F0;
    parts.cdma.weight_bytes = Bytes(640);
    parts.cdma.bytes_per_kernel = Bytes(36);
    parts.csc.mode = ConvMode::Image;
    parts.csc.input = parts.cdma.input;
    parts.csc.kernels = {16, 12, 3, 1};
    parts.csc.entries_per_slice = 57;
    parts.csc.weight_bytes = Bytes(640);
    parts.csc.output = {16, 32, 112};
    parts.csc.atomics = 112 * 32;
    parts.csc.pad_left = 0;
    parts.cacc.output = parts.csc.output;
    return parts;
}

std::vector<std::string> messages(const ConvParts& parts) {
    std::vector<std::string> texts;
    for (const Diagnostic& finding : combine(parts, {}).findings) {
        texts.push_back(finding.sentence);
    }
    return texts;
}

TEST(ConvJob, PartsThatAgreeGiveNoFindings) {
    EXPECT_THAT(messages(direct_parts()), testing::IsEmpty());
    EXPECT_THAT(messages(image_parts()), testing::IsEmpty());
    EXPECT_TRUE(combine(direct_parts(), {}).computable());
}

TEST(ConvJob, GeometryOfDirectModeComesFromTheSequencer) {
    const ConvJob job = combine(direct_parts(), {}).job;
    EXPECT_EQ(job.convolution, (Convolution{32, 32, 1, 1, 1, 1, 1, 1, -16}));
    EXPECT_EQ(job.kernels, (KernelShape{16, 3, 3, 3}));
    EXPECT_EQ(job.weights.groups(), 2U);
}

TEST(ConvJob, ImageKernelsHaveTheirColumnsBackAndPadOnTheLeftInTheDma) {
    const ConvJob job = combine(image_parts(), {}).job;
    EXPECT_EQ(job.kernels, (KernelShape{16, 4, 3, 3}));
    EXPECT_EQ(job.weights.shape, (KernelShape{16, 12, 3, 1}));
    EXPECT_EQ(job.convolution.pad_left, 1U);
    EXPECT_EQ(job.convolution.pad_top, 1U);
}

TEST(ConvJob, SizesThatDisagreeNameBothRegisters) {
    ConvParts parts = direct_parts();
    parts.csc.input.width = 31;
    EXPECT_THAT(
        messages(parts),
        testing::ElementsAre("NVDLA_CDMA.D_DATAIN_SIZE_0_0 has DATAIN_WIDTH + 1 = 32, but "
                             "NVDLA_CSC.D_DATAIN_SIZE_EXT_0_0 has DATAIN_WIDTH_EXT + 1 = 31"));
    EXPECT_FALSE(combine(parts, {}).computable());
}

TEST(ConvJob, BanksBeyondTheBufferAndWeightsBeyondTheirSurfaceAreFound) {
    ConvParts parts = direct_parts();
    parts.cdma.banks = parts.csc.banks = {8, 25};
    parts.cdma.weight_bytes = parts.csc.weight_bytes = Bytes(384);
    EXPECT_THAT(messages(parts),
                testing::ElementsAre(testing::HasSubstr("need 432 bytes"),
                                     testing::HasSubstr("33, but the buffer has 32")));
}

TEST(ConvJob, PackedFlagsThatTheStridesContradictAreFound) {
    ConvParts parts = direct_parts();
    parts.cdma.line_packed = false;
    EXPECT_THAT(messages(parts),
                testing::ElementsAre(testing::HasSubstr("LINE_PACKED = 0, but lines of 256")));
    EXPECT_TRUE(combine(parts, {}).computable());
    parts.cdma.feature.line_stride = Bytes(512);
    EXPECT_THAT(messages(parts), testing::IsEmpty());
    parts.cdma.line_packed = true;
    EXPECT_THAT(messages(parts), testing::ElementsAre(testing::HasSubstr("LINE_PACKED")));
}

TEST(ConvJob, AnImageTooNarrowForItsOutputIsFound) {
    ConvParts parts = image_parts();
    parts.cdma.pad_right = 0;
    EXPECT_THAT(messages(parts), testing::Contains(testing::HasSubstr("needs 114 columns")));
}

TEST(ConvJob, KernelsTooDeepForTheirRowsAtOnceAreFound) {
    ConvParts parts = image_parts();
    ConvFeatures features;
    features.datapath.atomic_c = 32;
    const auto found = [&](std::uint32_t rows) {
        parts.csc.row_group = rows;
        return std::ranges::count(combine(parts, features).findings, "post_extension_channels",
                                  &Diagnostic::id);
    };
    EXPECT_EQ(found(1), 0);
    EXPECT_EQ(found(2), 0);  // 12 channels after channel pre-extension, of 16
    EXPECT_EQ(found(4), 1);  // of 8
}

TEST(ConvJob, OtherEntriesPerLineAreSuspiciousButComputable) {
    for (const std::uint32_t entries : {31U, 33U}) {
        ConvParts parts = direct_parts();
        parts.cdma.entries_per_slice = parts.csc.entries_per_slice = entries;
        const CombinedConvJob combined = combine(parts, {});
        ASSERT_EQ(combined.findings.size(), 1U);
        EXPECT_EQ(combined.findings[0].severity, Severity::Warning);
        EXPECT_TRUE(combined.computable());
    }
}

TEST(ConvJob, EntriesOfALineFollowTheAtomsThatShareAnEntry) {
    ConvFeatures wide;
    wide.datapath = {64, 32, Bytes(32)};
    wide.cbuf_entry = Bytes(128);
    CdmaJob job;
    job.input = {32 * 5, 4, 10};
    EXPECT_EQ(entries_of_slice(job, wide), 10U + 3U);
    job.input.channels = 32 * 6;
    EXPECT_EQ(entries_of_slice(job, wide), 10U + 5U);
    job.input.channels = 32 * 7;
    EXPECT_EQ(entries_of_slice(job, wide), 10U + 10U);
    EXPECT_EQ(entries_of_slice(job, {}), 28U * 10U);
}

}  // namespace
}  // namespace npuscope
