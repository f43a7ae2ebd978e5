// SPDX-License-Identifier: Apache-2.0
#include "sim/model/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/base/check.h"
#include "sim/model/operand_reading.h"
#include "sim/model/operator_families.h"

namespace npuscope {
namespace {

constexpr auto any = TypeRule::Any;
constexpr auto same = TypeRule::Same;
constexpr auto real = TypeRule::Float;

constexpr std::array rows{
    OperatorRow{"Conv", 2, 3, real, host::conv, host::conv_types},
    OperatorRow{"ConvInteger", 2, 4, any, host::conv_integer, host::conv_integer_types},
    OperatorRow{"ConvTranspose", 2, 3, real, host::conv_transpose, host::conv_transpose_types},
    OperatorRow{"MatMul", 2, 2, same, host::matmul, host::matmul_types},
    OperatorRow{"MatMulInteger", 2, 4, any, host::matmul_integer, host::matmul_integer_types},
    OperatorRow{"Gemm", 2, 3, same, host::gemm, host::gemm_types},
    OperatorRow{"QLinearConv", 8, 9, any, host::qlinear_conv, host::qlinear_conv_types},
    OperatorRow{"QLinearMatMul", 8, 8, any, host::qlinear_matmul, host::qlinear_matmul_types},
    OperatorRow{"QuantizeLinear", 2, 3, any, host::quantize_linear, nullptr},
    OperatorRow{"DequantizeLinear", 2, 3, any, host::dequantize_linear, nullptr},
    OperatorRow{"MaxPool", 1, 1, same, host::max_pool, host::pool_types},
    OperatorRow{"AveragePool", 1, 1, real, host::average_pool, host::pool_types},
    OperatorRow{"GlobalMaxPool", 1, 1, real, host::global_max_pool, nullptr},
    OperatorRow{"GlobalAveragePool", 1, 1, real, host::global_average_pool, nullptr},
    OperatorRow{"ReduceSum", 1, 2, any, host::reduce_sum, nullptr},
    OperatorRow{"ReduceMean", 1, 2, any, host::reduce_mean, nullptr},
    OperatorRow{"ReduceMax", 1, 2, any, host::reduce_max, nullptr},
    OperatorRow{"ReduceMin", 1, 2, any, host::reduce_min, nullptr},
    OperatorRow{"Add", 2, 2, same, host::add, host::stretched_types},
    OperatorRow{"Sub", 2, 2, same, host::subtract, host::stretched_types},
    OperatorRow{"Mul", 2, 2, same, host::multiply, host::stretched_types},
    OperatorRow{"Div", 2, 2, same, host::divide, host::stretched_types},
    OperatorRow{"Pow", 2, 2, any, host::power, host::stretched_types},
    OperatorRow{"Max", 1, 0, same, host::maximum, host::stretched_types},
    OperatorRow{"Min", 1, 0, same, host::minimum, host::stretched_types},
    OperatorRow{"Sum", 1, 0, same, host::sum, host::stretched_types},
    OperatorRow{"Floor", 1, 1, real, host::floor, host::own_type},
    OperatorRow{"Ceil", 1, 1, real, host::ceil, host::own_type},
    OperatorRow{"Round", 1, 1, real, host::round, host::own_type},
    OperatorRow{"Neg", 1, 1, same, host::negate, host::own_type},
    OperatorRow{"Abs", 1, 1, same, host::absolute, host::own_type},
    OperatorRow{"Sqrt", 1, 1, real, host::square_root, host::own_type},
    OperatorRow{"Exp", 1, 1, real, host::exponential, host::own_type},
    OperatorRow{"Log", 1, 1, real, host::logarithm, host::own_type},
    OperatorRow{"Relu", 1, 1, same, host::relu, host::own_type},
    OperatorRow{"LeakyRelu", 1, 1, real, host::leaky_relu, host::own_type},
    OperatorRow{"Sigmoid", 1, 1, real, host::sigmoid, host::own_type},
    OperatorRow{"HardSigmoid", 1, 1, real, host::hard_sigmoid, host::own_type},
    OperatorRow{"HardSwish", 1, 1, real, host::hard_swish, host::own_type},
    OperatorRow{"Tanh", 1, 1, real, host::hyperbolic_tangent, host::own_type},
    OperatorRow{"Clip", 1, 3, same, host::clip, host::own_type},
    OperatorRow{"Cast", 1, 1, any, host::cast, host::cast_types},
    OperatorRow{"Identity", 1, 1, any, host::identity, host::own_type},
    OperatorRow{"Dropout", 1, 3, any, host::identity, host::own_type},
    OperatorRow{"BatchNormalization", 5, 5, real, host::batch_normalise,
                host::batch_normalise_types},
    OperatorRow{"Softmax", 1, 1, real, host::softmax, host::own_type},
    OperatorRow{"LogSoftmax", 1, 1, real, host::log_softmax, host::own_type},
    OperatorRow{"ArgMax", 1, 1, same, host::arg_max, nullptr},
    OperatorRow{"Reshape", 2, 2, any, host::reshape, nullptr},
    OperatorRow{"Flatten", 1, 1, any, host::flatten, nullptr},
    OperatorRow{"Squeeze", 1, 2, any, host::squeeze, nullptr},
    OperatorRow{"Unsqueeze", 1, 2, any, host::unsqueeze, nullptr},
    OperatorRow{"Shape", 1, 1, any, host::shape_of, nullptr},
    OperatorRow{"Constant", 0, 0, any, host::constant, nullptr},
    OperatorRow{"ConstantOfShape", 1, 1, any, host::constant_of_shape, nullptr},
    OperatorRow{"Expand", 2, 2, any, host::expand, nullptr},
    OperatorRow{"Transpose", 1, 1, any, host::transpose, nullptr},
    OperatorRow{"Concat", 1, 0, same, host::concat, nullptr},
    OperatorRow{"Pad", 1, 3, any, host::pad, nullptr},
    OperatorRow{"Slice", 1, 5, any, host::slice, nullptr},
    OperatorRow{"Split", 1, 2, any, host::split, nullptr},
    OperatorRow{"Gather", 2, 2, any, host::gather, nullptr},
    OperatorRow{"Resize", 1, 4, any, host::resize, nullptr},
    OperatorRow{"Upsample", 1, 2, any, host::resize, nullptr}};

void check_operands(const OperatorRow& row, const Operands& operands) {
    const std::size_t given = operands.values.size();
    host::require(given >= row.least && (row.most == 0 || given <= row.most),
                  fmt::format("it has {} inputs", given),
                  fmt::format("the operator takes at least {}{}", row.least,
                              row.most == 0 ? "" : fmt::format(" and at most {}", row.most)));
    for (std::size_t i = 0; i < row.least || (row.most == 0 && i < given); ++i) {
        host::require(operands.has(i), fmt::format("input {} is left out", i),
                      "the operator needs it");
    }
    if (row.types == TypeRule::Float) {
        host::require(is_float(operands.element(0)),
                      fmt::format("its input is of {}", enum_name(operands.element(0))),
                      "the operator takes floats: cast it, or use the integer operator");
    }
    for (std::size_t i = 1; row.types != TypeRule::Any && i < given; ++i) {
        if (operands.has(i)) {
            host::require(operands.element(i) == operands.element(0),
                          fmt::format("its inputs are of {} and {}", enum_name(operands.element(0)),
                                      enum_name(operands.element(i))),
                          "both must be of one type: cast one of them");
        }
    }
}

/// Optional outputs that nobody fills must have no name.
void check_outputs(const Operands& operands, std::size_t made) {
    for (std::size_t i = made; i < operands.node.outputs.size(); ++i) {
        host::require(operands.node.outputs[i].empty(),
                      fmt::format("its output '{}' is not supported", operands.node.outputs[i]),
                      "use only the first");
    }
}

}  // namespace

const GraphValue& Operands::at(std::size_t index) const {
    NPU_CHECK(has(index), "an operator reads an operand that its row does not demand");
    return *values[index];
}

const OperatorRow* find_operator(std::string_view op) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [op](const auto& row) { return row.op == op; });
    return found == rows.end() ? nullptr : &*found;
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
    // Numbers decide nothing but where an operand is a constant, and those are there.
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

}  // namespace npuscope
