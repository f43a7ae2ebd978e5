// SPDX-License-Identifier: Apache-2.0
#include "sim/model/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

#include "models/base/check.h"
#include "sim/config/nearest_name.h"
#include "sim/config/text_table.h"
#include "sim/model/fused_nodes.h"
#include "sim/model/operator_parts.h"

namespace npuscope {
namespace {

/// All names, to distinguish a misspelled one from an operator that the host merely cannot run.
/// source: ONNX, Operators.md, opset 7 to 24
constexpr std::string_view operator_words =
    "Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool "
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
    "QLinearMatMul QuantizeLinear RMSNormalization RNN RandomNormal RandomNormalLike RandomUniform "
    "RandomUniformLike Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
    "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare RegexFullMatch "
    "Relu Reshape Resize ReverseSequence RoiAlign RotaryEmbedding Round STFT Scan Scatter "
    "ScatterElements "
    "ScatterND Selu SequenceAt SequenceConstruct SequenceEmpty SequenceErase "
    "SequenceInsert SequenceLength SequenceMap Shape Shrink Sigmoid Sign Sin Sinh Size "
    "Slice Softmax SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split "
    "SplitToSequence Sqrt Squeeze StringConcat StringNormalizer StringSplit Sub Sum Swish Tan "
    "Tanh TensorScatter TfIdfVectorizer ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze "
    "Upsample Where Xor";

void check_operands(const OperatorRow& row, const Operands& operands) {
    const std::size_t given = operands.values.size();
    host::require(
        given >= row.inputs.least && (row.inputs.most == 0 || given <= row.inputs.most),
        fmt::format("it has {}", counted(given, "input")),
        fmt::format("the operator takes at least {}{}", row.inputs.least,
                    row.inputs.most == 0 ? "" : fmt::format(" and at most {}", row.inputs.most)));
    for (std::size_t i = 0; i < row.inputs.least || (row.inputs.most == 0 && i < given); ++i) {
        host::require(operands.has(i), fmt::format("input {} is missing", i),
                      "the operator needs it");
    }
    if (row.types == TypeRule::Float) {
        host::require_float(operands, 0);
    }
    for (std::size_t i = 1; row.types != TypeRule::Any && i < given; ++i) {
        if (operands.has(i)) {
            host::require(
                operands.element(i) == operands.element(0),
                fmt::format("its inputs have types {} and {}", enum_name(operands.element(0)),
                            enum_name(operands.element(i))),
                "both must have the same type: cast one of them");
        }
    }
}

/// Optional outputs that are not computed must have no name.
void check_outputs(const Operands& operands, std::size_t made) {
    for (std::size_t i = made; i < operands.node.outputs.size(); ++i) {
        host::require(operands.node.outputs[i].empty(),
                      fmt::format("its output '{}' is not supported", operands.node.outputs[i]),
                      "use only the first output");
    }
}

std::vector<std::string> split(std::string_view words) {
    std::istringstream text{std::string(words)};
    return {std::istream_iterator<std::string>(text), {}};
}

void check_attributes(const GraphNode& node, std::string_view words) {
    const std::vector<std::string> known = split(words);
    for (const auto& [name, value] : node.attributes) {
        // A name with a dot is an internal annotation.
        if (name.find('.') == std::string::npos && std::ranges::find(known, name) == known.end()) {
            throw ConfigError(fmt::format("the operator has no attribute '{}'", name),
                              known.empty() ? "leave it out" : name_remedy(name, known));
        }
    }
}

std::uint64_t elements_of(const Graph& graph, const std::string& tensor) {
    const auto found = graph.types.find(tensor);
    return found == graph.types.end() ? 0 : count_elements(found->second.sizes);
}

}  // namespace

const GraphValue& Operands::at(std::size_t index) const {
    NPU_CHECK(has(index), "an operator reads an operand that its row does not demand");
    return *values[index];
}

const ValueRange& RangeOperands::at(std::size_t index) const {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    static const ValueRange nothing{false, {-infinite, infinite}, false};
    const auto found = known.find(node.input(index));
    return found == known.end() ? nothing : found->second;
}

namespace host {
namespace {

std::vector<std::span<const OperatorRow>> families() {
    return {product_operators(),   elementwise_operators(), moving_operators(),
            resizing_operators(),  quantised_operators(),   reduction_operators(),
            reshaping_operators(), comparison_operators(),  normalisation_operators(),
            recurrent_operators(), selecting_operators(),   integer_operators(),
            pooling_operators(),   scattering_operators(),  matrix_operators(),
            sampling_operators(),  spectral_operators(),    bitwise_operators(),
            counted_operators(),   loss_operators()};
}

}  // namespace
}  // namespace host

const OperatorRow* find_operator(std::string_view op) {
    for (const auto family : host::families()) {
        const auto found = std::ranges::find(family, op, &OperatorRow::op);
        if (found != family.end()) {
            return &*found;
        }
    }
    return nullptr;
}

std::vector<const OperatorRow*> host_operators() {
    std::vector<const OperatorRow*> rows;
    for (const auto family : host::families()) {
        for (const OperatorRow& row : family) {
            if (!row.op.starts_with("npuscope.")) {
                rows.push_back(&row);
            }
        }
    }
    std::ranges::sort(rows, {}, [](const OperatorRow* row) { return row->op; });
    return rows;
}

std::vector<std::string> other_operators() {
    std::vector<std::string> names = split(operator_words);
    std::erase_if(names, [](const std::string& name) {
        return find_operator(name) != nullptr || is_fused(name);
    });
    return names;
}

bool repeats_nearest(const GraphNode& node) {
    return node.op == "Resize" && node.text("mode", "nearest") == "nearest" &&
           node.text("coordinate_transformation_mode", "") != "tf_crop_and_resize";
}

void check_names(const GraphNode& node) {
    if (node.op.find('.') != std::string::npos) {
        return;
    }
    if (const OperatorRow* row = find_operator(node.op)) {
        check_attributes(node, row->attributes);
        return;
    }
    static const std::vector<std::string> operators = split(operator_words);
    if (std::ranges::find(operators, node.op) == operators.end()) {
        const auto nearest = nearest_name(node.op, operators);
        throw ConfigError("ONNX has no such operator",
                          nearest ? fmt::format("did you mean '{}'?", *nearest)
                                  : "use an operator of ONNX, or name its domain");
    }
}

void host::require_finite(const OperatorRow& row, const Operands& operands) {
    static const std::set<std::string_view> scaled{"QuantizeLinear", "DequantizeLinear",
                                                   "BatchNormalization"};
    static const std::set<std::string_view> sums{"Add", "Sub", "Mul", "Div"};
    const bool computes =
        row.macs != MacRule::None || scaled.contains(row.op) || row.op.starts_with("QLinear");
    for (std::size_t i = 0; i < operands.values.size() && !row.takes_infinity; ++i) {
        if (!operands.has(i)) {
            continue;
        }
        const bool finite = computes || (row.sizing >> i & 1U) != 0;
        const bool masks = sums.contains(row.op);  // with -infinity, as attention does
        const auto& numbers = operands.at(i).numbers;
        const auto wrong = std::ranges::find_if(numbers, [&](double x) {
            return finite ? !std::isfinite(x) : std::isnan(x) || (masks && std::isinf(x) && x > 0);
        });
        if (wrong != numbers.end()) {
            throw ConfigError(fmt::format("its constant operand '{}' holds a number that is "
                                          "not finite: {}",
                                          operands.node.inputs[i], *wrong),
                              "correct the model's values");
        }
    }
}

Types infer_outputs(const OperatorRow& row, const Operands& operands) {
    check_operands(row, operands);
    if (row.infer != nullptr) {
        Types types = row.infer(operands);
        check_outputs(operands, types.size());
        for (const TensorType& type : types) {
            count_elements(type.sizes);
        }
        return types;
    }
    // Values matter only if an operand is constant, and then they are known.
    std::vector<GraphValue> filled;
    filled.reserve(operands.values.size());
    Operands complete = operands;
    for (const GraphValue*& value : complete.values) {
        if (value != nullptr && value->numbers.size() != count_elements(value->type.sizes)) {
            filled.push_back(zeros(value->type));
            value = &filled.back();
        }
    }
    const Values values = row.evaluate(complete);
    check_outputs(operands, values.size());
    Types types;
    for (const GraphValue& value : values) {
        types.push_back(value.type);
    }
    return types;
}

Values evaluate_outputs(const OperatorRow& row, const Operands& operands) {
    check_operands(row, operands);
    Values values = row.evaluate(operands);
    check_outputs(operands, values.size());
    for (GraphValue& value : values) {
        settle(value);
    }
    return values;
}

std::optional<GraphValue> constant_result(const Graph& graph, const GraphNode& node,
                                          const GraphValue* first) {
    Operands operands{node, graph.opset, {}};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const bool given = i == 0 && first != nullptr;
        operands.values.push_back(given ? first : graph.constant(node.inputs[i]));
        if (operands.values.back() == nullptr && !node.inputs[i].empty()) {
            return std::nullopt;
        }
    }
    return evaluate_outputs(*find_operator(node.op), operands).front();
}

std::uint64_t count_macs(const Graph& graph, const GraphNode& node) {
    const OperatorRow* row = find_operator(node.op);
    if (row == nullptr || row->macs == MacRule::None) {
        return 0;
    }
    if (row->macs == MacRule::Subscripts) {
        Values inputs;
        Operands operands{node, graph.opset, {}};
        for (const std::string& input : node.inputs) {
            const auto type = graph.types.find(input);
            if (type == graph.types.end()) {
                return 0;
            }
            inputs.push_back({type->second, {}});
        }
        for (const GraphValue& input : inputs) {
            operands.values.push_back(&input);
        }
        return host::einsum_macs(operands);
    }
    const Sizes& sizes = graph.types.at(node.input(row->weights)).sizes;
    const std::uint64_t weights = elements_of(graph, node.input(row->weights));
    if (sizes.empty() || weights == 0) {
        return 0;
    }
    if (row->macs == MacRule::InputsByKernel) {
        return elements_of(graph, node.input(0)) *
               (weights / static_cast<std::uint64_t>(sizes.front()));
    }
    if (row->macs == MacRule::StepsByWeights) {
        const std::uint64_t steps =
            elements_of(graph, node.input(0)) / static_cast<std::uint64_t>(sizes.back());
        return steps * (weights + elements_of(graph, node.input(2)));
    }
    const std::uint64_t results = elements_of(graph, node.outputs.front());
    if (row->macs == MacRule::OutputsByKernel) {
        return results * (weights / static_cast<std::uint64_t>(sizes.front()));
    }
    const bool columns_last = node.integer("transB", 0) == 0 && sizes.size() > 1;
    const std::int64_t rows = sizes[sizes.size() - (columns_last ? 2 : 1)];
    return results * static_cast<std::uint64_t>(rows);
}

namespace host {

void require(bool good, const std::string& sentence, const std::string& remedy) {
    if (!good) {
        throw ConfigError(sentence, remedy);
    }
}

void require_float(const Operands& operands, std::size_t index) {
    require(is_float(operands.element(index)),
            fmt::format("its input has type {}", enum_name(operands.element(index))),
            "the operator needs float input: cast it, or use the integer operator");
}

void require_work(const std::vector<std::uint64_t>& factors) {
    if (std::ranges::find(factors, 0U) != factors.end()) {
        return;
    }
    std::uint64_t steps = 1;
    for (const std::uint64_t factor : factors) {
        require(steps <= most_work / factor,
                fmt::format("it takes more than {} steps to compute", most_work),
                "make its result smaller, or what it reads for each element of its result");
        steps *= factor;
    }
}

std::size_t axis_index(std::int64_t axis, std::size_t rank) {
    const auto size = static_cast<std::int64_t>(rank);
    require(
        axis >= -size && axis < size,
        fmt::format("axis {} does not exist in a tensor of {}", axis, counted(rank, "dimension")),
        fmt::format("axes are {} to {}", -size, size - 1));
    return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

std::vector<std::int64_t> reduced_axes(const Graph& graph, const GraphNode& node) {
    const std::size_t rank = graph.types.at(node.inputs.front()).sizes.size();
    const GraphValue* operand = graph.constant(node.input(1));
    std::vector<std::int64_t> axes =
        operand != nullptr ? integers_of(*operand) : node.integers("axes");
    for (std::int64_t& axis : axes) {
        axis = static_cast<std::int64_t>(axis_index(axis, rank));
    }
    std::ranges::sort(axes);
    return axes;
}

std::vector<std::size_t> steps_of(const Sizes& sizes) {
    std::vector<std::size_t> steps(sizes.size(), 1);
    for (std::size_t i = sizes.size(); i-- > 1;) {
        steps[i - 1] = steps[i] * static_cast<std::size_t>(sizes[i]);
    }
    return steps;
}

std::vector<std::int64_t> integers_of(const GraphValue& value) {
    std::vector<std::int64_t> integers;
    integers.reserve(value.numbers.size());
    for (const double number : value.numbers) {
        integers.push_back(to_integer(number));
    }
    return integers;
}

std::vector<std::int64_t> listed(const Operands& operands, std::size_t index,
                                 const char* attribute) {
    return operands.has(index) ? integers_of(operands.at(index))
                               : operands.node.integers(attribute);
}

double scalar_of(const GraphValue& value, const char* what) {
    require(value.numbers.size() == 1,
            fmt::format("its {} has {} elements instead of one", what, value.numbers.size()),
            "give one number");
    return value.numbers.front();
}

ElementType element_of(const GraphNode& node, const char* attribute, ElementType fallback) {
    if (!node.has(attribute)) {
        return fallback;
    }
    const std::int64_t code = node.integer(attribute, 0);
    const ElementRow* row = find_onnx_element(code);
    constexpr std::int64_t bfloat16 = 16;
    require(row != nullptr,
            fmt::format("element type {} is not supported",
                        code == bfloat16 ? "BFLOAT16" : std::to_string(code)),
            "use float32, float64, float16, bool or an integer type");
    return row->type;
}

Types own_type(const Operands& operands) { return {operands.at(0).type}; }

ValueRange range_of_first(const RangeOperands& operands) { return operands.at(0); }

ValueRange range_of_first_or_zero(const RangeOperands& operands) {
    ValueRange values = operands.at(0);
    values.range = join_ranges(values.range, {0, 0});
    return values;
}

ValueRange stored_range(const RangeOperands& operands) {
    const ValueRange& values = operands.at(0);
    const ElementType type = operands.result();
    if (is_float(type)) {
        return values;
    }
    const NumberRange range = range_of(type);
    const bool fits = values.range.low >= range.low && values.range.high <= range.high;
    return {true, fits ? values.range : range, fits && values.assumed};
}

}  // namespace host

}  // namespace npuscope
