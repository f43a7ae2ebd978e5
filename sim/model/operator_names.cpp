// SPDX-License-Identifier: Apache-2.0
#include "sim/model/operator_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <string_view>

#include "models/base/error.h"
#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

constexpr std::string_view operator_words =
    "Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool "
    "BatchNormalization Bernoulli BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor "
    "BlackmanWindow Cast CastLike Ceil Celu CenterCropPad Clip Col2Im Compress Concat "
    "ConcatFromSequence Constant ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh "
    "CumSum DFT DeformConv DepthToSpace DequantizeLinear Det Div Dropout "
    "DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU "
    "Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool "
    "GlobalMaxPool Greater GreaterOrEqual GridSample GroupNormalization HammingWindow "
    "HannWindow HardSigmoid HardSwish Hardmax Identity If ImageDecoder "
    "InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less "
    "LessOrEqual Log LogSoftmax Loop LpNormalization LpPool MatMul MatMulInteger Max "
    "MaxPool MaxRoiPool MaxUnpool Mean MeanVarianceNormalization MelWeightMatrix Min Mish "
    "Mod Mul Multinomial Neg NegativeLogLikelihoodLoss NonMaxSuppression NonZero Not "
    "OneHot Optional OptionalGetElement OptionalHasElement Or PRelu Pad Pow QLinearConv "
    "QLinearMatMul QuantizeLinear RNN RandomNormal RandomNormalLike RandomUniform "
    "RandomUniformLike Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
    "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare RegexFullMatch "
    "Relu Reshape Resize ReverseSequence RoiAlign Round STFT Scan Scatter ScatterElements "
    "ScatterND Selu SequenceAt SequenceConstruct SequenceEmpty SequenceErase "
    "SequenceInsert SequenceLength SequenceMap Shape Shrink Sigmoid Sign Sin Sinh Size "
    "Slice Softmax SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split "
    "SplitToSequence Sqrt Squeeze StringConcat StringNormalizer StringSplit Sub Sum Tan "
    "Tanh TfIdfVectorizer ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze "
    "Upsample Where Xor";

struct AttributeRow {
    std::string_view op;
    std::string_view words;
};
constexpr std::string_view window_words = "auto_pad dilations group kernel_shape pads strides";
constexpr std::string_view reduce_words = "axes keepdims noop_with_empty_axes";
constexpr std::array attribute_rows{
    AttributeRow{"Abs", ""},
    AttributeRow{"Add", ""},
    AttributeRow{"ArgMax", "axis keepdims select_last_index"},
    AttributeRow{"AveragePool",
                 "auto_pad ceil_mode count_include_pad dilations kernel_shape "
                 "pads strides"},
    AttributeRow{"BatchNormalization", "epsilon momentum spatial training_mode"},
    AttributeRow{"Cast", "saturate to"},
    AttributeRow{"Ceil", ""},
    AttributeRow{"Clip", "max min"},
    AttributeRow{"Concat", "axis"},
    AttributeRow{"Constant",
                 "sparse_value value value_float value_floats value_int value_ints "
                 "value_string value_strings"},
    AttributeRow{"ConstantOfShape", "value"},
    AttributeRow{"Conv", window_words},
    AttributeRow{"ConvInteger", window_words},
    AttributeRow{"ConvTranspose",
                 "auto_pad dilations group kernel_shape pads strides "
                 "output_padding output_shape"},
    AttributeRow{"DequantizeLinear", "axis block_size"},
    AttributeRow{"Div", ""},
    AttributeRow{"Dropout", "ratio seed"},
    AttributeRow{"Exp", ""},
    AttributeRow{"Expand", ""},
    AttributeRow{"Flatten", "axis"},
    AttributeRow{"Floor", ""},
    AttributeRow{"Gather", "axis"},
    AttributeRow{"Gemm", "alpha beta transA transB"},
    AttributeRow{"GlobalAveragePool", ""},
    AttributeRow{"GlobalMaxPool", ""},
    AttributeRow{"HardSigmoid", "alpha beta"},
    AttributeRow{"HardSwish", ""},
    AttributeRow{"Identity", ""},
    AttributeRow{"LeakyRelu", "alpha"},
    AttributeRow{"Log", ""},
    AttributeRow{"LogSoftmax", "axis"},
    AttributeRow{"MatMul", ""},
    AttributeRow{"MatMulInteger", ""},
    AttributeRow{"Max", ""},
    AttributeRow{"MaxPool",
                 "auto_pad ceil_mode dilations kernel_shape pads storage_order "
                 "strides"},
    AttributeRow{"Min", ""},
    AttributeRow{"Mul", ""},
    AttributeRow{"Neg", ""},
    AttributeRow{"Pad", "mode pads value"},
    AttributeRow{"Pow", ""},
    AttributeRow{"QLinearConv", window_words},
    AttributeRow{"QLinearMatMul", ""},
    AttributeRow{"QuantizeLinear", "axis block_size output_dtype saturate"},
    AttributeRow{"ReduceMax", reduce_words},
    AttributeRow{"ReduceMean", reduce_words},
    AttributeRow{"ReduceMin", reduce_words},
    AttributeRow{"ReduceSum", reduce_words},
    AttributeRow{"Relu", ""},
    AttributeRow{"Reshape", "allowzero"},
    AttributeRow{"Resize",
                 "antialias axes coordinate_transformation_mode cubic_coeff_a "
                 "exclude_outside extrapolation_value keep_aspect_ratio_policy mode "
                 "nearest_mode"},
    AttributeRow{"Round", ""},
    AttributeRow{"Shape", "end start"},
    AttributeRow{"Sigmoid", ""},
    AttributeRow{"Slice", "axes ends starts"},
    AttributeRow{"Softmax", "axis"},
    AttributeRow{"Split", "axis num_outputs split"},
    AttributeRow{"Sqrt", ""},
    AttributeRow{"Squeeze", "axes"},
    AttributeRow{"Sub", ""},
    AttributeRow{"Sum", ""},
    AttributeRow{"Tanh", ""},
    AttributeRow{"Transpose", "perm"},
    AttributeRow{"Unsqueeze", "axes"},
    AttributeRow{"Upsample", "mode scales"}};

std::vector<std::string> split(std::string_view words) {
    std::istringstream text{std::string(words)};
    return {std::istream_iterator<std::string>(text), {}};
}

void check_attributes(const GraphNode& node, std::string_view words) {
    const std::vector<std::string> known = split(words);
    for (const auto& [name, value] : node.attributes) {
        // with a dot: a remark of our own
        if (name.find('.') == std::string::npos && std::ranges::find(known, name) == known.end()) {
            throw ConfigError(fmt::format("the operator has no attribute '{}'", name),
                              known.empty() ? "leave it out" : name_remedy(name, known));
        }
    }
}

}  // namespace

void check_names(const GraphNode& node) {
    if (node.op.find('.') != std::string::npos) {
        return;
    }
    static const std::vector<std::string> operators = split(operator_words);
    if (std::ranges::find(operators, node.op) == operators.end()) {
        const auto nearest = nearest_name(node.op, operators);
        throw ConfigError("ONNX has no such operator",
                          nearest ? fmt::format("did you mean '{}'?", *nearest)
                                  : "use an operator of ONNX, or name its domain");
    }
    const auto* row = std::ranges::find(attribute_rows, node.op, &AttributeRow::op);
    if (row != attribute_rows.end()) {
        check_attributes(node, row->words);
    }
}

}  // namespace npuscope
