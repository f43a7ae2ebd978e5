// SPDX-License-Identifier: Apache-2.0
// One small model of each layer pattern, in the plain spelling, with parts that tests change.
#pragma once

#include <optional>

#include "tests/support/model_builder.h"

namespace npuscope::test {

/// How the sequence after a layer is spelled and what it contains.
struct Sequence {
    std::vector<float> bias{5};
    std::vector<float> scale{3};
    float divisor = 16;
    float low = -128;
    float high = 127;
    bool divide = true;  ///< else multiply by 1 / divisor
    enum class Clip { Operands, MaxMin, ReluMin, MinMax } clip = Clip::Operands;
    bool swapped = false;  ///< constants come first
};

/// Appends Add, Mul, Div, Floor, Clip after the last node; constants of several numbers are per
/// channel in front of `behind` sizes of 1.
void append_sequence(ModelBuilder& builder, const Sequence& sequence, int behind = 2,
                     const std::string& output = "y");

struct ConvShape {
    std::int64_t channels = 4;
    std::int64_t kernels = 8;
    std::int64_t height = 6;
    std::int64_t width = 5;
    std::int64_t rows = 3;
    std::int64_t columns = 3;
    std::int64_t groups = 1;
    std::int64_t stride = 1;
    std::int64_t padding = 1;
    int weight_low = -2;
    int weight_high = 1;
};

/// x -> Conv 'conv' -> sequence -> y.
ModelBuilder conv_model(const ConvShape& shape, const Sequence& sequence, std::int64_t opset = 13);
/// x -> Conv 1x1, BNORM up to a clip of -512..511, Add r, Clip -> y.
ModelBuilder residual_model(const Sequence& sequence, float preclip_low = -512,
                            float preclip_high = 511);
/// x -> ConvTranspose 2x2 with strides of `stride` -> sequence -> y.
ModelBuilder transposed_model(const Sequence& sequence, std::int64_t stride = 2);
/// x [1 inputs] -> MatMul -> sequence -> y [1 outputs].
ModelBuilder fc_model(const Sequence& sequence, std::int64_t inputs = 16, std::int64_t outputs = 8);
/// x [1 4 6 6] -> MaxPool -> y.
ModelBuilder max_pool_model(std::int64_t window, std::int64_t stride);
/// x [1 4 6 6] -> AveragePool 2x2, Mul by `area`, Round -> sequence -> y.
ModelBuilder average_pool_model(const Sequence& sequence, float area = 4, std::int64_t padding = 0);
/// x [1 4 6 6] -> ReduceSum over `axes`, Round -> sequence -> y.
ModelBuilder global_pool_model(const Sequence& sequence,
                               const std::vector<std::int64_t>& axes = {2, 3});

/// x [1 4] -> If -> y: if the condition 'p' holds, x + 'k', a constant of that branch; otherwise x.
/// The condition is a constant, the size of x at `axis` equals 4; or, without an axis, an input.
ModelBuilder branch_model(std::optional<std::int64_t> axis);
/// x [1 4] -> 'block1' -> 'block2' -> y: calls of the function Block, whose body calls the function
/// Act, a LeakyRelu with the call's `slope`, and multiplies by 'f', an optional input (1.5).
ModelBuilder function_model();

}  // namespace npuscope::test
