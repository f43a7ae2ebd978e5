// SPDX-License-Identifier: Apache-2.0
// Random convolutions of every precision and mode against the plain oracle, each with uncompressed
// and compressed weights; Winograd layers against direct convolution by the oracle. A failure names
// family, type, share of zeros and seed.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>

#include "tests/support/full_layer_session.h"

namespace npuscope {
namespace {

void expect_pass(const LayerWish& wish, bool compressed, const SystemConfig& system) {
    const LayerProgram layer = layer_program(random_layer(wish), compressed);
    try {
        const Result result = run_layers({layer}, system);
        EXPECT_EQ(result.status(), RunStatus::Pass);
        for (const Diagnostic& finding : result.findings) {
            ADD_FAILURE() << finding.sentence;
        }
    } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
    }
}

using FamilyAndType = std::tuple<LayerFamily, oracle::Type>;

std::string kind_name(const FamilyAndType& kind) {
    constexpr std::array<const char*, 3> kTypes{"int8", "int16", "fp16"};
    return std::string(layer_family_name(std::get<0>(kind))) + "_" +
           kTypes[static_cast<std::size_t>(std::get<1>(kind))];
}

class FullPrecisionLayers : public testing::TestWithParam<FamilyAndType> {};

TEST_P(FullPrecisionLayers, MatchTheOracle) {
    constexpr std::array<std::uint32_t, 5> kZeros{0, 10, 50, 90, 100};
    constexpr std::uint64_t kSeeds = 14;  // 18 parameters, with both forms of weights: 504 layers
    const auto& [family, type] = GetParam();
    const SystemConfig system = nv_full_system();
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const LayerWish wish{family, type, kZeros[seed % kZeros.size()], seed};
        SCOPED_TRACE(testing::Message() << "zeros " << wish.zero_percent << " %, seed " << seed);
        expect_pass(wish, false, system);
        expect_pass(wish, true, system);
    }
}

INSTANTIATE_TEST_SUITE_P(
    EveryKind, FullPrecisionLayers,
    testing::Combine(testing::Values(LayerFamily::Direct, LayerFamily::Dilated, LayerFamily::Batch,
                                     LayerFamily::Image, LayerFamily::PostExtension,
                                     LayerFamily::Winograd),
                     testing::Values(oracle::Type::Int8, oracle::Type::Int16, oracle::Type::Fp16)),
    [](const auto& instance) { return kind_name(instance.param); });

// source: nv_full RTL, simulated: layers of 12x4 and 12x12 outputs, the first of which waits only
// for its weights, the others for the data
TEST(WinogradLayers, take_as_long_as_in_the_rtl) {
    const SystemConfig system = nv_full_system();
    const auto cycles = [&system](oracle::Type type, std::uint64_t seed) {
        const LayerWish wish{LayerFamily::Winograd, type, 10, seed};
        return run_layers({layer_program(random_layer(wish), false)}, system).cycles;
    };
    const Cycles first = cycles(oracle::Type::Fp16, 41000);
    EXPECT_EQ(cycles(oracle::Type::Fp16, 41020), first + Cycles(5367 - 1285));
    EXPECT_EQ(cycles(oracle::Type::Fp16, 41080), first + Cycles(2843 - 1285));
    EXPECT_EQ(cycles(oracle::Type::Int16, 41080), first + Cycles(1737 - 1285));
    EXPECT_EQ(cycles(oracle::Type::Int8, 41060), first + Cycles(1405 - 1285));
}

}  // namespace
}  // namespace npuscope
