// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/model/run_operator.h"

namespace npuscope {
namespace {

using sample::expect_near;
using sample::node_of;
using sample::omitted;
using sample::refusal;
using sample::run;
using sample::value_of;
using sample::whole;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SpectralOperators, SignalsHaveFrequencies) {
    const GraphValue signal = value_of({1, 4, 1}, {1, 2, 3, 4});
    const GraphValue whole_one = run(node_of("DFT"), {signal}, 17);
    expect_near(whole_one.numbers, {10, 0, -2, 2, -2, 0, -2, -2});
    expect_near(run(node_of("DFT", {{"inverse", std::int64_t{1}}}), {whole_one}, 17).numbers,
                {1, 0, 2, 0, 3, 0, 4, 0});
    const GraphNode half = node_of("DFT", {{"onesided", std::int64_t{1}}});
    expect_near(run(half, {signal}, 17).numbers, {10, 0, -2, 2, -2, 0});
    EXPECT_THAT(refusal(half, {whole_one}, 17), HasSubstr("one-sided"));
    // three elements, then six: both by factors
    expect_near(run(half, {signal, whole({}, {3})}, 17).numbers, {6, 0, -1.5, std::sqrt(3.0) / 2});
    EXPECT_NEAR(run(half, {signal, whole({}, {6})}, 17).numbers[6], 1 - 2 + 3 - 4, 1e-5);
    const GraphValue columns = value_of({1, 2, 2, 1}, {1, 2, 3, 4});
    expect_near(run(node_of("DFT"), {columns}, 17).numbers, {4, 0, 6, 0, -2, 0, -2, 0});
    expect_near(run(node_of("DFT"), {columns}, 20).numbers, {3, 0, -1, 0, 7, 0, -1, 0});
    EXPECT_THAT(refusal(node_of("DFT", {{"axis", std::int64_t{2}}}), {signal}, 17),
                HasSubstr("real and imaginary"));
    EXPECT_THAT(refusal(node_of("DFT"), {signal, whole({}, {0})}, 17),
                HasSubstr("a transform of 0 elements"));
    EXPECT_THAT(refusal(node_of("DFT"), {whole({1, 4, 1}, {1, 2, 3, 4})}, 17),
                HasSubstr("needs float input"));
    EXPECT_THAT(refusal(node_of("DFT"), {signal, whole({}, {4194301})}, 17),
                HasSubstr("steps to compute"));
}

TEST(SpectralOperators, FramesFollowEachOtherInSteps) {
    const GraphValue signal = value_of({1, 4, 1}, {1, 2, 3, 4});
    const GraphValue step = whole({}, {2});
    expect_near(run(node_of("STFT"), {signal, step, omitted(), whole({}, {2})}, 17).numbers,
                {3, 0, -1, 0, 7, 0, -1, 0});
    expect_near(run(node_of("STFT"), {signal, step, value_of({2}, {1, 10})}, 17).numbers,
                {21, 0, -19, 0, 43, 0, -37, 0});
    EXPECT_THAT(refusal(node_of("STFT"), {signal, step}, 17), HasSubstr("neither a window"));
    EXPECT_THAT(refusal(node_of("STFT"), {signal, whole({}, {0}), omitted(), step}, 17),
                HasSubstr("do not fit a signal"));
}

TEST(SpectralOperators, WindowsRiseAndFall) {
    const auto window = [](const char* op, double size, std::int64_t periodic) {
        return run(node_of(op, {{"periodic", periodic}}), {whole({}, {size})}, 17).numbers;
    };
    expect_near(window("HannWindow", 4, 1), {0, 0.5, 1, 0.5});
    expect_near(window("HannWindow", 3, 0), {0, 1, 0});
    expect_near(window("HannWindow", 1, 0), {0});
    expect_near(window("HammingWindow", 2, 1), {4.0 / 46, 1});
    expect_near(window("BlackmanWindow", 4, 1), {0, 0.34, 1, 0.34});
    EXPECT_THAT(refusal(node_of("HannWindow"), {whole({}, {-1})}), HasSubstr("not a valid size"));
}

TEST(SpectralOperators, MelBinsAreTriangles) {
    const auto matrix = [](double bins, double rate, double high) {
        return std::vector<GraphValue>{whole({}, {bins}), whole({}, {16}), whole({}, {rate}),
                                       value_of({}, {0}), value_of({}, {high})};
    };
    // source: ONNX operator definitions, MelWeightMatrix, example
    const GraphValue made = run(node_of("MelWeightMatrix"), matrix(8, 8192, 4096), 17);
    EXPECT_EQ(made.type.sizes, (Sizes{9, 8}));
    EXPECT_THAT(std::vector<double>(made.numbers.begin(), made.numbers.begin() + 16),
                ElementsAre(1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0));
    // the bins peak at elements 0 and 2, and end at 2 and 4
    EXPECT_THAT(run(node_of("MelWeightMatrix"), matrix(2, 8192, 4096), 17).numbers,
                ElementsAre(1, 0, 0.5, 0.5, 0, 1, 0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    EXPECT_THAT(refusal(node_of("MelWeightMatrix"), matrix(8, 0, 4096), 17),
                HasSubstr("is not in the transform"));
    EXPECT_THAT(refusal(node_of("MelWeightMatrix"), matrix(8, 8192, 1e9), 17),
                HasSubstr("is not in the transform"));
}

}  // namespace
}  // namespace npuscope
