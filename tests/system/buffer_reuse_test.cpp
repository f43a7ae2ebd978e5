// SPDX-License-Identifier: Apache-2.0
// Two consecutive convolutions, the second on what the first left in the buffer: whole operands
// that memory no longer holds, and lines in front of newly fetched ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/full_layer_session.h"

namespace npuscope {
namespace {

constexpr std::uint32_t data_reuse = 1U << 16U;
constexpr std::uint32_t weight_reuse = 1U << 20U;
constexpr std::uint32_t skip_data_release = 1U << 24U;
constexpr std::uint32_t skip_weight_release = 1U << 28U;

using Writes = std::vector<std::pair<std::string, std::uint32_t>>;

/// Sets bits of D_MISC_CFG where the DMA and the sequencer must agree.
void reuse(Writes& writes, std::uint32_t bits) {
    value_of(writes, "NVDLA_CDMA.D_MISC_CFG_0") |= bits;
    value_of(writes, "NVDLA_CSC.D_MISC_CFG_0") |= bits;
}

/// The same writes to the second group of registers, the previous interrupt acknowledged.
Writes second_group(const Writes& writes) {
    Writes result{{"NVDLA_GLB.S_INTR_STATUS_0", 0xFFFFFFFF}};
    for (const char* unit : {"SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"}) {
        result.emplace_back(std::string("NVDLA_") + unit + ".S_POINTER_0", 1);
    }
    result.insert(result.end(), writes.begin(), writes.end());
    return result;
}

/// Lines [first, first + count) of a layer without padding, as a separate layer.
oracle::FullLayer lines_of(const oracle::FullLayer& layer, std::uint32_t first,
                           std::uint32_t count) {
    oracle::FullLayer part = layer;
    part.height = count;
    part.out_height = count - layer.rows + 1;
    part.data.clear();
    for (std::uint32_t c = 0; c < layer.channels; ++c) {
        const auto from =
            layer.data.begin() + static_cast<std::ptrdiff_t>(layer.data_index(0, c, first, 0));
        part.data.insert(part.data.end(), from,
                         from + static_cast<std::ptrdiff_t>(count * layer.width));
    }
    return part;
}

/// 3 x 3 without padding over ten lines.
oracle::FullLayer ten_lines() {
    oracle::FullLayer layer = random_layer({LayerFamily::Direct, oracle::Type::Int16, 10, 5});
    layer.channels = 20;
    layer.kernels = 10;
    layer.height = 10;
    layer.width = 6;
    layer.rows = layer.columns = 3;
    layer.stride_y = layer.stride_x = 1;
    layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 0;
    layer.out_height = 8;
    layer.out_width = 4;
    Random random(9);
    layer.data.resize(20 * 10 * 6);
    layer.weights.resize(10 * 20 * 9);
    for (auto* numbers : {&layer.data, &layer.weights}) {
        for (std::int64_t& number : *numbers) {
            number = random.between(-300, 300);
        }
    }
    return layer;
}

class BufferReuse : public testing::TestWithParam<bool> {};

TEST_P(BufferReuse, KeptOperandsAreUsedThoughMemoryHasChanged) {
    const bool compressed = GetParam();
    const oracle::FullLayer layer = random_layer({LayerFamily::Direct, oracle::Type::Fp16, 50, 3});
    LayerProgram first = layer_program(layer, compressed);
    LayerProgram second = layer_program(layer, compressed);
    reuse(first.registers, skip_data_release | skip_weight_release);
    reuse(second.registers, data_reuse | weight_reuse);
    second.expected.address += 0x100000;
    value_of(second.registers, "NVDLA_SDP.D_DST_BASE_ADDR_LOW_0") += 0x100000;
    second.registers = second_group(second.registers);
    for (LayerImage& image : second.images) {
        std::ranges::fill(image.bytes, std::uint8_t{0x5A});
    }
    const SystemConfig system = nv_full_system();
    const Result alone = run_layers({first}, system);
    const Result both = run_layers({first, second}, system);
    EXPECT_EQ(both.status(), RunStatus::Pass);
    EXPECT_TRUE(both.findings.empty());
    EXPECT_EQ(read_bytes(both, "cdma_dat"), read_bytes(alone, "cdma_dat"));
    EXPECT_EQ(read_bytes(both, "cdma_wt"), read_bytes(alone, "cdma_wt"));
}

INSTANTIATE_TEST_SUITE_P(BothForms, BufferReuse, testing::Bool(), [](const auto& instance) {
    return std::string(instance.param ? "compressed" : "uncompressed");
});

TEST(PartialRelease, KeptLinesStandInFrontOfNewOnes) {
    const oracle::FullLayer layer = ten_lines();
    LayerProgram first = layer_program(lines_of(layer, 0, 6), false);
    value_of(first.registers, "NVDLA_CSC.D_RELEASE_0") = 3;  // four lines: two stay
    // the sequencer sees lines 4 to 9, the DMA fetches 6 to 9
    const LayerProgram fetched = layer_program(lines_of(layer, 6, 4), false);
    LayerProgram second = layer_program(lines_of(layer, 4, 6), false);
    for (auto& [name, value] : second.registers) {
        if (name.starts_with("NVDLA_CDMA.")) {
            Writes writes = fetched.registers;
            value = value_of(writes, name);
        }
    }
    second.images = fetched.images;
    reuse(second.registers, data_reuse);
    second.expected.address += 0x100000;
    value_of(second.registers, "NVDLA_SDP.D_DST_BASE_ADDR_LOW_0") += 0x100000;
    second.registers = second_group(second.registers);
    const Result result = run_layers({first, second}, nv_full_system());
    EXPECT_EQ(result.status(), RunStatus::Pass);
    EXPECT_TRUE(result.findings.empty());
}

TEST(CompressedWeights, BytesReadAreThoseOfTheThreeSurfaces) {
    const oracle::FullLayer layer = random_layer({LayerFamily::Direct, oracle::Type::Int8, 90, 7});
    const LayerProgram program = layer_program(layer, true);
    std::uint64_t stored = 0;
    for (std::size_t i = 1; i < program.images.size(); ++i) {
        stored += program.images[i].bytes.size();
    }
    EXPECT_EQ(read_bytes(run_layers({program}, nv_full_system()), "cdma_wt"), Bytes(stored));
}

TEST(CompressedWeights, SurfacesThatContradictEachOtherAreFindings) {
    const oracle::FullLayer layer = random_layer({LayerFamily::Direct, oracle::Type::Int8, 50, 7});
    LayerProgram program = layer_program(layer, true);
    program.images.back().bytes[0] ^= 1U;  // WGS of the first group
    value_of(program.registers, "NVDLA_CDMA.D_WEIGHT_BYTES_0") += 128;
    value_of(program.registers, "NVDLA_CSC.D_WEIGHT_BYTES_0") += 128;
    const Result result = run_layers({program}, nv_full_system());
    std::vector<std::string> kinds;
    for (const Diagnostic& finding : result.findings) {
        kinds.push_back(finding.id);
    }
    // the last is what the static check adds: the weights are read beyond what is loaded
    EXPECT_EQ(kinds, (std::vector<std::string>{"weight_bytes_mismatch", "wgs_mismatch",
                                               "uninitialised_read"}));
    EXPECT_EQ(result.status(), RunStatus::Fail);
}

}  // namespace
}  // namespace npuscope
