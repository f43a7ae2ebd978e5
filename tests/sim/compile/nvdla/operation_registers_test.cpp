// SPDX-License-Identifier: Apache-2.0
// Registers are what the units decode: every job of planned networks is written and read back.
#include <gtest/gtest.h>

#include "models/conv/conv_registers.h"
#include "models/npu/pipelines.h"
#include "models/npu/register_blocks.h"
#include "models/pdp/pdp_registers.h"
#include "models/sdp/sdp_registers.h"
#include "sim/compile/nvdla/conv_tiling.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/config/preset.h"
#include "tests/sim/compile/nvdla/sample_networks.h"
#include "tests/support/refusal.h"

namespace npuscope {
namespace {

RegisterValues values_of(const std::vector<RegisterValues>& images, std::string_view block) {
    for (const RegisterValues& image : images) {
        if (image.block().name == block) {
            return image;
        }
    }
    return RegisterValues(*find_block(nvdla_register_blocks(), block));
}

void expect_same(const CdmaJob& read, const CdmaJob& written) {
    EXPECT_EQ(read.mode, written.mode);
    EXPECT_EQ(read.pixels, written.pixels);
    EXPECT_EQ(read.compression.has_value(), written.compression.has_value());
    if (read.compression && written.compression) {
        EXPECT_EQ(read.compression->mask, written.compression->mask);
        EXPECT_EQ(read.compression->mask_bytes, written.compression->mask_bytes);
        EXPECT_EQ(read.compression->sizes, written.compression->sizes);
    }
    EXPECT_EQ(read.feature, written.feature);
    EXPECT_EQ(read.input, written.input);
    EXPECT_EQ(read.reuse, written.reuse);
    EXPECT_EQ(read.line_packed, written.line_packed);
    EXPECT_EQ(read.surface_packed, written.surface_packed);
    EXPECT_EQ(read.lines_per_fetch, written.lines_per_fetch);
    EXPECT_EQ(read.entries_per_slice, written.entries_per_slice);
    EXPECT_EQ(read.weight_address, written.weight_address);
    EXPECT_EQ(read.weight_bytes, written.weight_bytes);
    EXPECT_EQ(read.bytes_per_kernel, written.bytes_per_kernel);
    EXPECT_EQ(read.kernels, written.kernels);
    EXPECT_EQ(read.conversion, written.conversion);
    EXPECT_EQ(read.banks, written.banks);
    EXPECT_EQ(read.data_in_secondary, written.data_in_secondary);
    EXPECT_FALSE(read.weight_in_secondary);
    EXPECT_EQ(read.winograd.pad_top, written.winograd.pad_top);
    EXPECT_EQ(read.winograd.pad_bottom, written.winograd.pad_bottom);
    EXPECT_EQ(read.winograd.extended_height, written.winograd.extended_height);
    EXPECT_EQ(read.winograd.extended_width, written.winograd.extended_width);
    EXPECT_EQ(read.pad_left, written.pad_left);
    EXPECT_EQ(read.pad_right, written.pad_right);
}

void expect_same(const CscJob& read, const CscJob& written) {
    EXPECT_EQ(read.mode, written.mode);
    EXPECT_EQ(read.compressed, written.compressed);
    EXPECT_EQ(read.mask_bytes, written.mask_bytes);
    EXPECT_EQ(read.input, written.input);
    EXPECT_EQ(read.kernels, written.kernels);
    EXPECT_EQ(read.row_group, written.row_group);
    EXPECT_EQ(read.entries_per_slice, written.entries_per_slice);
    EXPECT_EQ(read.weight_bytes, written.weight_bytes);
    EXPECT_EQ(read.output, written.output);
    EXPECT_EQ(read.atomics, written.atomics);
    EXPECT_EQ(read.patch_truncate, written.patch_truncate);
    EXPECT_EQ(read.release_slices, written.release_slices);
    EXPECT_EQ(read.stride_y, written.stride_y);
    EXPECT_EQ(read.stride_x, written.stride_x);
    EXPECT_EQ(read.dilation_y, written.dilation_y);
    EXPECT_EQ(read.pad_top, written.pad_top);
    if (read.mode == ConvMode::Direct) {  // images are padded by the DMA
        EXPECT_EQ(read.pad_left, written.pad_left);
    }
    EXPECT_EQ(read.pad_value, written.pad_value);
    EXPECT_EQ(read.banks, written.banks);
}

void expect_same(const SdpJob& read, const SdpJob& written) {
    EXPECT_EQ(read.shape, written.shape);
    EXPECT_EQ(read.source, written.source);
    EXPECT_EQ(read.destination, written.destination);
    EXPECT_EQ(read.to_pdp, written.to_pdp);
    EXPECT_EQ(read.winograd, written.winograd);
    SdpStages stages = written.stages;
    stages.coarse_saturation = read.stages.coarse_saturation;  // the NPU's, in no register
    EXPECT_EQ(read.stages, stages);
    EXPECT_EQ(read.operands[bs_stage], written.operands[bs_stage]);
    EXPECT_EQ(read.operands[bn_stage], written.operands[bn_stage]);
    EXPECT_EQ(read.destination_in_sram, written.destination_in_sram);
    EXPECT_EQ(read.source_in_sram, written.source_in_sram);
}

void expect_same(const PdpJob& read, const PdpJob& written) {
    EXPECT_EQ(read.input, written.input);
    EXPECT_EQ(read.output, written.output);
    EXPECT_EQ(read.source, written.source);
    EXPECT_EQ(read.destination, written.destination);
    EXPECT_EQ(read.pooling, written.pooling);
    EXPECT_EQ(read.source_in_sram, written.source_in_sram);
    EXPECT_EQ(read.destination_in_sram, written.destination_in_sram);
}

SdpJob read_sdp(const std::vector<RegisterValues>& images, const NpuConfig& npu) {
    return decoded([&](Diagnostics& findings) {
        return decode_sdp(values_of(images, "NVDLA_SDP"), values_of(images, "NVDLA_SDP_RDMA"),
                          npu.sdp, npu.datapath, findings);
    });
}

void check_conv(const ConvOperation& written, const std::vector<RegisterValues>& images,
                const NpuConfig& npu) {
    const ConvFeatures features = conv_features(npu);
    const ConvParts parts = decoded([&](Diagnostics& findings) {
        return decode_conv({values_of(images, "NVDLA_CDMA"), values_of(images, "NVDLA_CSC"),
                            values_of(images, "NVDLA_CMAC_A"), values_of(images, "NVDLA_CMAC_B"),
                            values_of(images, "NVDLA_CACC")},
                           features, findings);
    });
    expect_same(parts.cdma, written.conv.cdma);
    expect_same(parts.csc, written.conv.csc);
    EXPECT_EQ(parts.cacc.output, written.conv.cacc.output);
    EXPECT_EQ(parts.cacc.line_packed, written.conv.cacc.line_packed);
    EXPECT_EQ(parts.cacc.surface_packed, written.conv.cacc.surface_packed);
    EXPECT_EQ(parts.cacc.clip_truncate, written.conv.cacc.clip_truncate);
    for (const Diagnostic& finding : combine(parts, features).findings) {
        ADD_FAILURE() << finding.sentence;
    }
    expect_same(read_sdp(images, npu), written.sdp);
}

void check_plan(const Plan& plan, const NpuConfig& npu) {
    for (const Operation& operation : plan.operations) {
        SCOPED_TRACE(operation.name);
        const std::vector<RegisterValues> images = operation_registers(operation);
        if (const auto* pdp = std::get_if<PdpJob>(&operation.job)) {
            expect_same(decoded([&](Diagnostics& findings) {
                            return decode_pdp(values_of(images, "NVDLA_PDP"),
                                              values_of(images, "NVDLA_PDP_RDMA"), npu.pdp,
                                              npu.datapath, findings);
                        }),
                        *pdp);
        } else if (const auto* sdp = std::get_if<SdpJob>(&operation.job)) {
            expect_same(read_sdp(images, npu), *sdp);
        } else {
            check_conv(std::get<ConvOperation>(operation.job), images, npu);
        }
        if (testing::Test::HasFailure()) {
            return;
        }
    }
}

TEST(OperationRegisters, IsTheReverseOfDecodingForEveryKindOfLayer) {
    for (const std::uint32_t depth : {28U, 64U, 512U}) {
        PlanTarget target = sample::target_with_bank_depth(depth);
        target.images = false;
        check_plan(plan_network(sample::mixed_network(), target), target.npu);
    }
}

class EveryPreset : public testing::TestWithParam<const char*> {};

TEST_P(EveryPreset, DecodesWhatIsPlannedForIt) {
    const auto folder = configs_folder();
    PlanTarget target;
    target.npu = read_preset<NpuConfig>(find_preset(folder, "npu", GetParam()));
    target.images = false;
    target.winograd = true;
    MemoryRegionConfig sram;
    sram.name = "sram";
    sram.base = Address(0x50000000);
    sram.surfaces = Bytes(1U << 20U);
    target.memory.regions.push_back(sram);
    for (const char* name : {"resnet18", "mobilenet_v1", "tiny_yolo", "vgg16", "lenet"}) {
        SCOPED_TRACE(name);
        const Network network = read_network(folder / "workload" / (std::string(name) + ".yaml"));
        check_plan(plan_network(network, target), target.npu);
    }
}

INSTANTIATE_TEST_SUITE_P(All, EveryPreset,
                         testing::Values("nv_small", "nv_small_256", "nv_medium_512", "nv_large",
                                         "nv_full"));

TEST(OperationRegisters, EnablesConsumersBeforeProducers) {
    PlanTarget target;
    target.images = false;
    const Plan plan = plan_network(sample::mixed_network(), target);
    std::vector<std::string_view> blocks;
    for (const RegisterValues& image : operation_registers(plan.operations.front())) {
        blocks.push_back(image.block().name);
    }
    EXPECT_EQ(blocks, (std::vector<std::string_view>{"NVDLA_SDP_RDMA", "NVDLA_SDP", "NVDLA_CACC",
                                                     "NVDLA_CMAC_A", "NVDLA_CMAC_B", "NVDLA_CSC",
                                                     "NVDLA_CDMA"}));
}

}  // namespace
}  // namespace npuscope
