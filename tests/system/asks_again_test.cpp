// SPDX-License-Identifier: Apache-2.0
// Single operations bound by memory latency: how much longer they take at a latency of 200 than at
// one of 50 shows when a slot in a latency FIFO is requested again, and what takes one.
// source: RTL, nv_full's where no other is named, simulated
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/full_layer_session.h"

namespace npuscope {
namespace {

using Writes = std::vector<std::pair<std::string, std::uint32_t>>;

/// Fp16, 1x16x82, windows of 4x3.
Writes pooling() {
    return {{"NVDLA_GLB.S_INTR_MASK_0", 0x3f03cf},
            {"NVDLA_PDP_RDMA.D_DATA_CUBE_IN_HEIGHT_0", 0xf},
            {"NVDLA_PDP_RDMA.D_DATA_CUBE_IN_CHANNEL_0", 0x51},
            {"NVDLA_PDP_RDMA.D_SRC_BASE_ADDR_LOW_0", 0x80000000},
            {"NVDLA_PDP_RDMA.D_SRC_LINE_STRIDE_0", 0xa0},
            {"NVDLA_PDP_RDMA.D_SRC_SURFACE_STRIDE_0", 0xa60},
            {"NVDLA_PDP_RDMA.D_DATA_FORMAT_0", 0x2},
            {"NVDLA_PDP_RDMA.D_SRC_RAM_CFG_0", 0x1},
            {"NVDLA_PDP_RDMA.D_POOLING_KERNEL_CFG_0", 0x33},
            {"NVDLA_PDP_RDMA.D_POOLING_PADDING_CFG_0", 0x1},
            {"NVDLA_PDP.D_DATA_CUBE_IN_HEIGHT_0", 0xf},
            {"NVDLA_PDP.D_DATA_CUBE_IN_CHANNEL_0", 0x51},
            {"NVDLA_PDP.D_DATA_CUBE_OUT_HEIGHT_0", 0x10},
            {"NVDLA_PDP.D_DATA_CUBE_OUT_CHANNEL_0", 0x51},
            {"NVDLA_PDP.D_OPERATION_MODE_CFG_0", 0x11},
            {"NVDLA_PDP.D_POOLING_KERNEL_CFG_0", 0x30203},
            {"NVDLA_PDP.D_RECIP_KERNEL_WIDTH_0", 0x7800},
            {"NVDLA_PDP.D_RECIP_KERNEL_HEIGHT_0", 0x7800},
            {"NVDLA_PDP.D_POOLING_PADDING_CFG_0", 0x1221},
            {"NVDLA_PDP.D_SRC_BASE_ADDR_LOW_0", 0x80000000},
            {"NVDLA_PDP.D_SRC_LINE_STRIDE_0", 0xa0},
            {"NVDLA_PDP.D_SRC_SURFACE_STRIDE_0", 0xa60},
            {"NVDLA_PDP.D_DST_BASE_ADDR_LOW_0", 0x80800000},
            {"NVDLA_PDP.D_DST_LINE_STRIDE_0", 0x20},
            {"NVDLA_PDP.D_DST_SURFACE_STRIDE_0", 0x220},
            {"NVDLA_PDP.D_DST_RAM_CFG_0", 0x1},
            {"NVDLA_PDP.D_DATA_FORMAT_0", 0x2},
            {"NVDLA_PDP_RDMA.D_OP_ENABLE_0", 0x1},
            {"NVDLA_PDP.D_OP_ENABLE_0", 0x1}};
}

/// Fp16 planes of 23x4 to 54 channels.
Writes merge() {
    return {
        {"NVDLA_GLB.S_INTR_MASK_0", 0x3f00ff},        {"NVDLA_RBK.D_MISC_CFG_0", 0x202},
        {"NVDLA_RBK.D_DAIN_RAM_TYPE_0", 0x1},         {"NVDLA_RBK.D_DATAIN_SIZE_0_0", 0x30016},
        {"NVDLA_RBK.D_DATAIN_SIZE_1_0", 0x35},        {"NVDLA_RBK.D_DAIN_ADDR_LOW_0", 0x80000000},
        {"NVDLA_RBK.D_DAIN_PLANAR_STRIDE_0", 0x100},  {"NVDLA_RBK.D_DAIN_LINE_STRIDE_0", 0x40},
        {"NVDLA_RBK.D_DAOUT_RAM_TYPE_0", 0x1},        {"NVDLA_RBK.D_DATAOUT_SIZE_1_0", 0x35},
        {"NVDLA_RBK.D_DAOUT_ADDR_LOW_0", 0x80800000}, {"NVDLA_RBK.D_DAOUT_LINE_STRIDE_0", 0x2e0},
        {"NVDLA_RBK.D_DAOUT_SURF_STRIDE_0", 0xb80},   {"NVDLA_RBK.D_OP_ENABLE_0", 0x1}};
}

/// Fp16, 9x4x144, steps of 3x3: every other line begins amid a beat.
Writes contraction() {
    return {{"NVDLA_GLB.S_INTR_MASK_0", 0x3f00ff},
            {"NVDLA_RBK.D_MISC_CFG_0", 0x200},
            {"NVDLA_RBK.D_DAIN_RAM_TYPE_0", 0x1},
            {"NVDLA_RBK.D_DATAIN_SIZE_0_0", 0x30008},
            {"NVDLA_RBK.D_DATAIN_SIZE_1_0", 0x8f},
            {"NVDLA_RBK.D_DAIN_ADDR_LOW_0", 0x80000000},
            {"NVDLA_RBK.D_DAIN_SURF_STRIDE_0", 0x480},
            {"NVDLA_RBK.D_DAIN_LINE_STRIDE_0", 0x120},
            {"NVDLA_RBK.D_DAOUT_RAM_TYPE_0", 0x1},
            {"NVDLA_RBK.D_DATAOUT_SIZE_1_0", 0xf},
            {"NVDLA_RBK.D_DAOUT_ADDR_LOW_0", 0x80800000},
            {"NVDLA_RBK.D_DAOUT_LINE_STRIDE_0", 0x360},
            {"NVDLA_RBK.D_DAOUT_SURF_STRIDE_0", 0x2880},
            {"NVDLA_RBK.D_CONTRACT_STRIDE_0_0", 0x480},
            {"NVDLA_RBK.D_CONTRACT_STRIDE_1_0", 0xa20},
            {"NVDLA_RBK.D_DECONV_STRIDE_0", 0x20002},
            {"NVDLA_RBK.D_OP_ENABLE_0", 0x1}};
}

/// Int16, 8x3x104: every other line begins amid a beat.
Writes copy() {
    return {{"NVDLA_GLB.S_INTR_MASK_0", 0x3f03fc},
            {"NVDLA_SDP_RDMA.D_FEATURE_MODE_CFG_0", 0x54},
            {"NVDLA_SDP_RDMA.D_DATA_CUBE_WIDTH_0", 0x7},
            {"NVDLA_SDP_RDMA.D_DATA_CUBE_HEIGHT_0", 0x2},
            {"NVDLA_SDP_RDMA.D_DATA_CUBE_CHANNEL_0", 0x67},
            {"NVDLA_SDP_RDMA.D_SRC_BASE_ADDR_LOW_0", 0x80000000},
            {"NVDLA_SDP_RDMA.D_SRC_LINE_STRIDE_0", 0x120},
            {"NVDLA_SDP_RDMA.D_SRC_SURFACE_STRIDE_0", 0x360},
            {"NVDLA_SDP_RDMA.D_SRC_DMA_CFG_0", 0x1},
            {"NVDLA_SDP_RDMA.D_BRDMA_CFG_0", 0x29},
            {"NVDLA_SDP.D_DP_BS_CFG_0", 0x5b},
            {"NVDLA_SDP_RDMA.D_NRDMA_CFG_0", 0x29},
            {"NVDLA_SDP.D_DP_BN_CFG_0", 0x5b},
            {"NVDLA_SDP_RDMA.D_ERDMA_CFG_0", 0x29},
            {"NVDLA_SDP.D_DP_EW_CFG_0", 0x5b},
            {"NVDLA_SDP.D_DATA_CUBE_WIDTH_0", 0x7},
            {"NVDLA_SDP.D_DATA_CUBE_HEIGHT_0", 0x2},
            {"NVDLA_SDP.D_DATA_CUBE_CHANNEL_0", 0x67},
            {"NVDLA_SDP.D_DST_BASE_ADDR_LOW_0", 0x80800040},
            {"NVDLA_SDP.D_DST_LINE_STRIDE_0", 0x180},
            {"NVDLA_SDP.D_DST_SURFACE_STRIDE_0", 0x480},
            {"NVDLA_SDP.D_DST_DMA_CFG_0", 0x1},
            {"NVDLA_SDP.D_DATA_FORMAT_0", 0x5},
            {"NVDLA_SDP.D_CVT_SCALE_0", 0x1},
            {"NVDLA_SDP_RDMA.D_OP_ENABLE_0", 0x1},
            {"NVDLA_SDP.D_OP_ENABLE_0", 0x1}};
}

/// Fp16, 71x4x67 to planes, of which each line is a request.
Writes planes() {
    return {
        {"NVDLA_GLB.S_INTR_MASK_0", 0x3f00ff},        {"NVDLA_RBK.D_MISC_CFG_0", 0x201},
        {"NVDLA_RBK.D_DAIN_RAM_TYPE_0", 0x1},         {"NVDLA_RBK.D_DATAIN_SIZE_0_0", 0x30046},
        {"NVDLA_RBK.D_DATAIN_SIZE_1_0", 0x42},        {"NVDLA_RBK.D_DAIN_ADDR_LOW_0", 0x80000000},
        {"NVDLA_RBK.D_DAIN_SURF_STRIDE_0", 0x2380},   {"NVDLA_RBK.D_DAIN_LINE_STRIDE_0", 0x8e0},
        {"NVDLA_RBK.D_DAOUT_RAM_TYPE_0", 0x1},        {"NVDLA_RBK.D_DATAOUT_SIZE_1_0", 0x42},
        {"NVDLA_RBK.D_DAOUT_ADDR_LOW_0", 0x80800000}, {"NVDLA_RBK.D_DAOUT_LINE_STRIDE_0", 0xc0},
        {"NVDLA_RBK.D_DAOUT_PLANAR_STRIDE_0", 0x300}, {"NVDLA_RBK.D_OP_ENABLE_0", 0x1}};
}

/// Int8, 3x10x100 in windows of a pixel: lines of three atoms of 32 bytes.
Writes short_lines() {
    return {{"NVDLA_GLB.S_INTR_MASK_0", 0x3f03cf},
            {"NVDLA_PDP_RDMA.D_DATA_CUBE_IN_WIDTH_0", 0x2},
            {"NVDLA_PDP_RDMA.D_DATA_CUBE_IN_HEIGHT_0", 0x9},
            {"NVDLA_PDP_RDMA.D_DATA_CUBE_IN_CHANNEL_0", 0x63},
            {"NVDLA_PDP_RDMA.D_SRC_BASE_ADDR_LOW_0", 0x80000000},
            {"NVDLA_PDP_RDMA.D_SRC_LINE_STRIDE_0", 0x80},
            {"NVDLA_PDP_RDMA.D_SRC_SURFACE_STRIDE_0", 0x560},
            {"NVDLA_PDP_RDMA.D_SRC_RAM_CFG_0", 0x1},
            {"NVDLA_PDP.D_DATA_CUBE_IN_WIDTH_0", 0x2},
            {"NVDLA_PDP.D_DATA_CUBE_IN_HEIGHT_0", 0x9},
            {"NVDLA_PDP.D_DATA_CUBE_IN_CHANNEL_0", 0x63},
            {"NVDLA_PDP.D_DATA_CUBE_OUT_WIDTH_0", 0x2},
            {"NVDLA_PDP.D_DATA_CUBE_OUT_HEIGHT_0", 0x9},
            {"NVDLA_PDP.D_DATA_CUBE_OUT_CHANNEL_0", 0x63},
            {"NVDLA_PDP.D_OPERATION_MODE_CFG_0", 0x10},
            {"NVDLA_PDP.D_RECIP_KERNEL_WIDTH_0", 0x10000},
            {"NVDLA_PDP.D_RECIP_KERNEL_HEIGHT_0", 0x10000},
            {"NVDLA_PDP.D_SRC_BASE_ADDR_LOW_0", 0x80000000},
            {"NVDLA_PDP.D_SRC_LINE_STRIDE_0", 0x80},
            {"NVDLA_PDP.D_SRC_SURFACE_STRIDE_0", 0x560},
            {"NVDLA_PDP.D_DST_BASE_ADDR_LOW_0", 0x80800000},
            {"NVDLA_PDP.D_DST_LINE_STRIDE_0", 0x60},
            {"NVDLA_PDP.D_DST_SURFACE_STRIDE_0", 0x400},
            {"NVDLA_PDP.D_DST_RAM_CFG_0", 0x1},
            {"NVDLA_PDP_RDMA.D_OP_ENABLE_0", 0x1},
            {"NVDLA_PDP.D_OP_ENABLE_0", 0x1}};
}

Cycles longer_at_200(const Writes& writes, const char* npu = "nv_full") {
    LayerProgram layer;
    layer.images = {{0x80000000, std::vector<std::uint8_t>(std::size_t{1} << 16U)}};
    layer.registers = writes;
    layer.expected = layer.images[0];
    const auto cycles_at = [&](Cycles latency) {
        const std::filesystem::path configs = std::filesystem::path(NPUSCOPE_SOURCE) / "configs";
        SystemConfig system = nv_full_system();
        nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs, "npu", npu));
        system.memory.read_latency = latency;
        return run_program(program_of({layer}, system), system, {}).cycles;
    };
    return cycles_at(Cycles(200)) - cycles_at(Cycles(50));
}

TEST(AskingAgain, of_the_pdp_follows_a_place_by_17_cycles) {
    EXPECT_EQ(longer_at_200(pooling()), Cycles(1652 - 874));
}

TEST(AskingAgain, of_the_pdp_waits_for_256_lines_at_most_on_branch_master) {
    EXPECT_EQ(longer_at_200(short_lines(), "nv_large"), Cycles(946 - 646));
}

TEST(AskingAgain, of_rubik_follows_a_place_by_15_cycles) {
    EXPECT_EQ(longer_at_200(merge()), Cycles(1016 - 464));
}

TEST(AskingAgain, of_the_sdp_follows_a_place_by_16_cycles) {
    EXPECT_EQ(longer_at_200(copy()), Cycles(691 - 333));
}

TEST(AskingAgain, takes_as_many_places_where_lines_begin_amid_a_beat) {
    EXPECT_EQ(longer_at_200(contraction()), Cycles(949 - 498));
}

// two cycles less than the RTL, 9 at a latency of 50
TEST(AskingAgain, waits_where_writes_hold_the_register_file_back) {
    EXPECT_EQ(longer_at_200(planes()), Cycles(2647 - 2165 + 7));
}

}  // namespace
}  // namespace npuscope
