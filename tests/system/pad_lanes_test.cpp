// SPDX-License-Identifier: Apache-2.0
// What is in the lanes after the last channel of an input. Direct convolution never reads them.
// Kernels of Winograd cover whole atoms with zeros: a number there is multiplied away, but a NaN
// stays one.
#include <gtest/gtest.h>

#include "models/arith/float16.h"
#include "tests/support/full_layer_session.h"

namespace npuscope {
namespace {

constexpr Fp16 nan_bits = 0x7E01;
constexpr Fp16 large_number = 0x7000;

class PadLanes : public testing::Test {
 protected:
    /// 20 channels: the second surface has four of sixteen.
    static LayerProgram layer_of(LayerFamily family) {
        LayerProgram layer;
        for (std::uint32_t seed = 1; layer.registers.empty(); ++seed) {
            const oracle::FullLayer chosen = random_layer({family, oracle::Type::Fp16, 10, seed});
            if (chosen.channels % 16 != 0 && chosen.batches == 1) {
                layer = layer_program(chosen, false);
            }
        }
        return layer;
    }
    /// The last lane of a pixel's last atom.
    static void put(LayerProgram& layer, std::uint32_t y, std::uint32_t x, Fp16 bits) {
        const std::uint32_t channels =
            value_of(layer.registers, "NVDLA_CDMA.D_DATAIN_SIZE_1_0") + 1;
        const std::size_t at =
            std::size_t{(channels - 1) / 16} *
                value_of(layer.registers, "NVDLA_CDMA.D_SURF_STRIDE_0") +
            std::size_t{y} * value_of(layer.registers, "NVDLA_CDMA.D_LINE_STRIDE_0") +
            std::size_t{x} * 32 + 30;
        ASSERT_LT(at + 1, layer.images[0].bytes.size());
        layer.images[0].bytes[at] = static_cast<std::uint8_t>(bits & 0xFFU);
        layer.images[0].bytes[at + 1] = static_cast<std::uint8_t>(bits >> 8U);
    }
    std::size_t nans_of(const LayerProgram& layer) const {
        RunOptions options;
        options.keep = {{Address(layer.expected.address), Bytes(layer.expected.bytes.size())}};
        const Result result = run_program(program_of({layer}, system_), system_, options);
        std::size_t nans = 0;
        for (std::size_t i = 0; i + 1 < result.kept[0].size(); i += 2) {
            const unsigned bits = result.kept[0][i] | unsigned{result.kept[0][i + 1]} << 8U;
            nans += is_nan(static_cast<Fp16>(bits)) ? 1U : 0U;
        }
        return nans;
    }

    SystemConfig system_ = nv_full_system();
};

TEST_F(PadLanes, DirectConvolutionNeverLooksThere) {
    LayerProgram layer = layer_of(LayerFamily::Direct);
    put(layer, 0, 0, nan_bits);
    EXPECT_EQ(run_layers({layer}, system_).status(), RunStatus::Pass);
}

TEST_F(PadLanes, WinogradMultipliesNumbersAwayButNotANan) {
    LayerProgram layer = layer_of(LayerFamily::Winograd);
    put(layer, 2, 2, large_number);
    EXPECT_EQ(run_layers({layer}, system_).status(), RunStatus::Pass);
    EXPECT_EQ(nans_of(layer), 0U);
    put(layer, 2, 2, nan_bits);
    EXPECT_EQ(run_layers({layer}, system_).status(), RunStatus::Fail);
    EXPECT_GT(nans_of(layer), 0U);
}

}  // namespace
}  // namespace npuscope
