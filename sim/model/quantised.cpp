// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear and the operators that carry scales and zero points themselves.
// Rounding is half to even.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "sim/config/text_table.h"
#include "sim/model/operator_parts.h"
#include "sim/model/quantised_form.h"

namespace npuscope::host {
namespace {

double saturated(double number, ElementType type) {
    const NumberRange range = range_of(type);
    return std::clamp(std::nearbyint(number), range.low, range.high);
}

/// Scales and zero points of a tensor: one, one per index of `axis`, or one per block of indices.
class Scales {
 public:
    Scales(const Operands& operands, std::size_t tensor, std::size_t scale, std::int64_t axis)
        : scales_(operands.at(scale).numbers) {
        const Sizes& sizes = operands.sizes(tensor);
        if (operands.has(scale + 1)) {
            zeros_ = operands.at(scale + 1).numbers;
        }
        block_ = operands.node.integer("block_size", 0);
        if (block_ != 0) {
            take_blocks(sizes, operands.sizes(scale), axis);
        } else if (scales_.size() > 1) {
            const std::size_t index = axis_index(axis, sizes.size());
            step_ = steps_of(sizes)[index];
            require(scales_.size() == static_cast<std::size_t>(sizes[index]),
                    fmt::format("{} scales for {}", scales_.size(),
                                counted(unsigned_of(sizes[index]), "channel")),
                    "give one, or one per channel");
        }
        require(!scales_.empty() && (zeros_.empty() || zeros_.size() == scales_.size()),
                "it has different numbers of scales and zero points",
                "give the same number of both");
    }
    double scale(std::size_t i) const { return scales_[index(i)]; }
    double zero(std::size_t i) const { return zeros_.empty() ? 0 : zeros_[index(i)]; }

 private:
    void take_blocks(const Sizes& sizes, const Sizes& of_scales, std::int64_t axis) {
        const std::size_t index = axis_index(axis, sizes.size());
        Sizes wanted = sizes;
        require(block_ > 0 && block_ <= most_elements, fmt::format("its block size is {}", block_),
                "make it positive, and at most the size of the axis");
        wanted[index] = (sizes[index] + block_ - 1) / block_;
        require(of_scales == wanted,
                fmt::format("its scales have the sizes {} instead of {}", sizes_text(of_scales),
                            sizes_text(wanted)),
                fmt::format("give one scale for each block of {} elements", block_));
        step_ = steps_of(sizes)[index];
        size_ = unsigned_of(sizes[index]);
        blocks_ = unsigned_of(wanted[index]);
    }
    std::size_t index(std::size_t i) const {
        if (block_ != 0) {
            const std::size_t place = i / step_ % size_ / unsigned_of(block_);
            return (i / step_ / size_ * blocks_ + place) * step_ + i % step_;
        }
        return scales_.size() == 1 ? 0 : i / step_ % scales_.size();
    }
    std::vector<double> scales_;
    std::vector<double> zeros_;
    std::size_t step_ = 1;
    std::int64_t block_ = 0;  ///< indices of a block; 0: none
    std::size_t size_ = 1;    ///< of the axis with blocks
    std::size_t blocks_ = 1;  ///< along it
};

/// Checks that constant scales fit their tensor; the tensor's values do not matter.
void check_scales(const Operands& operands) {
    if (!operands.at(1).numbers.empty()) {
        const Scales fits(operands, 0, 1, operands.node.integer("axis", 1));
    }
}
/// The type that attribute 'output_dtype' names; 0 is none.
ElementType output_type(const Operands& operands, ElementType fallback) {
    return operands.node.integer("output_dtype", 0) == 0
               ? fallback
               : element_of(operands.node, "output_dtype", fallback);
}
Types quantize_types(const Operands& operands) {
    check_scales(operands);
    const ElementType element =
        operands.has(2) ? operands.element(2) : output_type(operands, ElementType::Uint8);
    return {{element, operands.sizes(0)}};
}
/// Of the type of its scale: float32 or float16.
Types dequantize_types(const Operands& operands) {
    check_scales(operands);
    require_float(operands, 1);
    const ElementType element = output_type(operands, operands.element(1));
    require(is_float(element), fmt::format("its results are {}", enum_name(element)),
            "set output_dtype to a float type");
    return {{element, operands.sizes(0)}};
}

Values quantize_linear(const Operands& operands) {
    const ElementType element = quantize_types(operands).front().element;
    const Scales scales(operands, 0, 1, operands.node.integer("axis", 1));
    const GraphValue& input = operands.at(0);
    return {fill({element, input.type.sizes}, [&](std::size_t i) {
        const double quotient = rounded_float(input.numbers[i] / scales.scale(i));
        return saturated(std::nearbyint(quotient) + scales.zero(i), element);
    })};
}

Values dequantize_linear(const Operands& operands) {
    const Scales scales(operands, 0, 1, operands.node.integer("axis", 1));
    const GraphValue& input = operands.at(0);
    return {fill(dequantize_types(operands).front(), [&](std::size_t i) {
        return (input.numbers[i] - scales.zero(i)) * scales.scale(i);
    })};
}

/// Integers with their computed scale and zero point: uint8.
Types dynamic_types(const Operands& operands) {
    return {{ElementType::Uint8, operands.sizes(0)},
            {ElementType::Float32, {}},
            {ElementType::Uint8, {}}};
}
Values quantize_dynamically(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const Types types = dynamic_types(operands);
    NumberRange range{0, 0};
    for (const double number : input.numbers) {
        range = join_ranges(range, {number, number});
    }
    const double span = rounded_float(range.high - range.low);
    const double scale = rounded_float(span == 0 ? 1.0 : span / range_of(ElementType::Uint8).high);
    const double zero = saturated(-rounded_float(range.low / scale), ElementType::Uint8);
    Values results{zeros(types[0]), zeros(types[1]), zeros(types[2])};
    for (std::size_t i = 0; i < input.numbers.size(); ++i) {
        results[0].numbers[i] = saturated(
            std::nearbyint(rounded_float(input.numbers[i] / scale)) + zero, ElementType::Uint8);
    }
    results[1].numbers.front() = scale;
    results[2].numbers.front() = zero;
    return results;
}

// operands: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias
Types qlinear_conv_types(const Operands& operands) {
    const Sizes& weights = operands.sizes(3);
    require(!operands.has(8) || operands.sizes(8) == Sizes{weights.empty() ? 0 : weights[0]},
            "its bias does not have one number per kernel", "give one per kernel");
    return {{operands.element(7), conv_sizes(operands.node, operands.sizes(0), weights)}};
}

Values qlinear_conv(const Operands& operands) {
    const TensorType type = qlinear_conv_types(operands).front();
    ZeroPoints zero;
    zero.data = scalar_of(operands.at(2), "zero point");
    zero.weight = operands.at(5).numbers;
    const Scales weight_scales(operands, 3, 4, 0);
    const std::vector<double> bias =
        operands.has(8) ? operands.at(8).numbers : std::vector<double>{};
    const std::vector<double> sums =
        conv_sums(operands.node, operands.at(0), operands.at(3), bias, zero);
    const double x_scale = scalar_of(operands.at(1), "scale");
    const double y_scale = scalar_of(operands.at(6), "scale");
    const double y_zero = scalar_of(operands.at(7), "zero point");
    const auto kernels = static_cast<std::size_t>(type.sizes[1]);
    const std::size_t plane = steps_of(type.sizes)[1];
    const std::size_t kernel_size = steps_of(operands.sizes(3))[0];
    return {fill(type, [&](std::size_t i) {
        const double w_scale = weight_scales.scale(i / plane % kernels * kernel_size);
        const double factor = rounded_float(rounded_float(x_scale * w_scale) / y_scale);
        return saturated(std::nearbyint(rounded_float(sums[i] * factor)) + y_zero, type.element);
    })};
}

// operands: a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero
Types qlinear_matmul_types(const Operands& operands) {
    const Operands factors{operands.node, operands.opset, {&operands.at(0), &operands.at(3)}};
    return {{operands.element(7), matmul_types(factors).front().sizes}};
}

Values qlinear_matmul(const Operands& operands) {
    const TensorType type = qlinear_matmul_types(operands).front();
    const Operands factors{operands.node,
                           operands.opset,
                           {&operands.at(0), &operands.at(3), &operands.at(2), &operands.at(5)}};
    GraphValue sums = matmul_integer(factors).front();
    const std::vector<double>& scales = operands.at(4).numbers;  // one, or one per column
    const std::size_t columns = unsigned_of(operands.sizes(3).back());
    require(scales.size() == 1 || scales.size() == columns,
            fmt::format("its {} scales are neither one nor one per column", scales.size()),
            "give one");
    const double x_scale = scalar_of(operands.at(1), "scale");
    const double y_scale = scalar_of(operands.at(6), "scale");
    const double y_zero = scalar_of(operands.at(7), "zero point");
    return {fill(type, [&](std::size_t i) {
        const double scale = scales[scales.size() == 1 ? 0 : i % columns];
        const double factor = rounded_float(rounded_float(x_scale * scale) / y_scale);
        return saturated(std::nearbyint(rounded_float(sums.numbers[i] * factor)) + y_zero,
                         type.element);
    })};
}

// Operators of com.microsoft, as ONNX Runtime's quantiser writes them. Between its scales, a map
// holds 32-bit real values.

/// A map's value with its scale and zero point, which are the operands after it.
double real_of(const Operands& operands, std::size_t map, std::size_t i) {
    const double zero = operands.has(map + 2) ? scalar_of(operands.at(map + 2), "zero point") : 0.0;
    return rounded_float((operands.at(map).numbers[i] - zero) *
                         scalar_of(operands.at(map + 1), "scale"));
}
/// The stored integer of a real number; `scale` is the operand with the result's scale.
double stored_number(const Operands& operands, std::size_t scale, double real, ElementType type) {
    const double zero =
        operands.has(scale + 1) ? scalar_of(operands.at(scale + 1), "zero point") : 0.0;
    const double quotient = rounded_float(real / scalar_of(operands.at(scale), "scale"));
    return saturated(std::nearbyint(quotient) + zero, type);
}

// operands: a, scale, zero, b, scale, zero, result's scale, zero
Types qlinear_pair_types(const Operands& operands) {
    return {{operands.element(0), common_sizes(operands.sizes(0), operands.sizes(3))}};
}
/// For two maps, one of which may be broadcast to the other.
template <auto Operation>
Values qlinear_pair(const Operands& operands) {
    const TensorType type = qlinear_pair_types(operands).front();
    const auto of_a = broadcast_indices(operands.sizes(0), type.sizes);
    const auto of_b = broadcast_indices(operands.sizes(3), type.sizes);
    return {fill(type, [&](std::size_t i) {
        const double real = Operation(real_of(operands, 0, of_a[i]), real_of(operands, 3, of_b[i]));
        return stored_number(operands, 6, rounded_float(real), type.element);
    })};
}

// operands: map, scale, zero, result's scale, zero

/// An ONNX operator between the two scales, with the node's attributes.
struct RealOperator {
    GraphNode node;
    const OperatorRow& row;

    RealOperator(const Operands& operands, const char* op)
        : node(operands.node), row(*find_operator(op)) {
        node.op = op;
        for (const char* attribute : {"channels_last", "opset"}) {
            node.attributes.erase(attribute);
        }
    }
    Types types(const Operands& operands) const {
        const GraphValue map = zeros({ElementType::Float32, operands.sizes(0)});
        const Types found = infer_outputs(row, {node, operands.opset, {&map}});
        return {{operands.element(0), found.front().sizes}};
    }
};
template <const char* Op>
Types qlinear_one_types(const Operands& operands) {
    return RealOperator(operands, Op).types(operands);
}
template <const char* Op>
Values qlinear_one(const Operands& operands) {
    require(operands.node.integer("channels_last", 0) == 0, "its channels come last (NHWC)",
            "use NCHW feature maps");
    const RealOperator real(operands, Op);
    const GraphValue map = fill({ElementType::Float32, operands.sizes(0)},
                                [&](std::size_t i) { return real_of(operands, 0, i); });
    GraphValue result = evaluate_outputs(real.row, {real.node, operands.opset, {&map}}).front();
    return {fill({operands.element(0), result.type.sizes}, [&](std::size_t i) {
        return stored_number(operands, 3, result.numbers[i], operands.element(0));
    })};
}
namespace real_operator {
constexpr char sigmoid[] = "Sigmoid";
constexpr char leaky_relu[] = "LeakyRelu";
constexpr char average_pool[] = "AveragePool";
constexpr char softmax[] = "Softmax";
constexpr char reduce_mean[] = "ReduceMean";
}  // namespace real_operator
template <const char* Op>
constexpr OperatorRow qlinear_row(std::string_view op) {
    return row(op, {4, 5}, qlinear_one<Op>) | inferring(qlinear_one_types<Op>);
}

// operands: a, scale, zero, b, scale, zero, bias, result's scale, zero
Types qgemm_types(const Operands& operands) {
    const bool turned = operands.node.integer("transB", 0) != 0;
    const Sizes& a = operands.sizes(0);
    const Sizes& b = operands.sizes(3);
    require(a.size() == 2 && b.size() == 2 && operands.node.integer("transA", 0) == 0 &&
                a[1] == b[turned ? 1 : 0],
            "its operand shapes do not match", "multiply [N K] by [K M]");
    return {{operands.element(0), {a[0], b[turned ? 0 : 1]}}};
}
Values qgemm(const Operands& operands) {
    const TensorType type = qgemm_types(operands).front();
    const bool turned = operands.node.integer("transB", 0) != 0;
    const std::size_t inner = unsigned_of(operands.sizes(0)[1]);
    const std::size_t columns = unsigned_of(type.sizes[1]);
    const auto of_column = [&](std::size_t operand, std::size_t column) {
        const std::vector<double>& numbers = operands.at(operand).numbers;
        return numbers[numbers.size() == 1 ? 0 : column % numbers.size()];
    };
    const double zero = scalar_of(operands.at(2), "zero point");
    const double scale = scalar_of(operands.at(1), "scale") * operands.node.number("alpha", 1);
    return {fill(type, [&](std::size_t i) {
        const std::size_t column = i % columns;
        double sum = operands.has(6) ? of_column(6, column) : 0.0;
        for (std::size_t k = 0; k < inner; ++k) {
            const std::size_t weight = turned ? column * inner + k : k * columns + column;
            sum += (operands.at(0).numbers[i / columns * inner + k] - zero) *
                   (operands.at(3).numbers[weight] - of_column(5, column));
        }
        return stored_number(operands, 7, rounded_float(sum * scale * of_column(4, column)),
                             type.element);
    })};
}

// operands: map, scale, zero, result's scale, zero
Types qlinear_mean_types(const Operands& operands) {
    Sizes sizes = operands.sizes(0);
    require(sizes.size() > 2 && operands.node.integer("channels_last", 0) == 0,
            "its map is not N x C x space", "export the model with channels first");
    std::fill(sizes.begin() + 2, sizes.end(), 1);
    return {{operands.element(0), sizes}};
}
Values qlinear_mean(const Operands& operands) {
    const TensorType type = qlinear_mean_types(operands).front();
    const std::size_t plane = steps_of(operands.sizes(0))[1];
    return {fill(type, [&](std::size_t channel) {
        double sum = 0;
        for (std::size_t i = 0; i < plane; ++i) {
            sum += real_of(operands, 0, channel * plane + i);
        }
        return stored_number(operands, 3, sum / static_cast<double>(plane), type.element);
    })};
}

// operands: result's scale, zero, then each map with its scale and zero
Types qlinear_concat_types(const Operands& operands) {
    require(operands.values.size() >= 5 && operands.values.size() % 3 == 2,
            "its inputs lack a scale or a zero point", "give both to each");
    Sizes sizes = operands.sizes(2);
    const std::size_t axis = axis_index(operands.node.integer("axis", 1), sizes.size());
    for (std::size_t map = 5; map < operands.values.size(); map += 3) {
        Sizes other = operands.sizes(map);
        require(other.size() == sizes.size(), "its maps differ in rank",
                "concatenate feature maps of matching shape");
        const std::int64_t more = other[axis];
        other[axis] = sizes[axis];
        require(other == sizes, "its maps differ in another dimension than the axis",
                "concatenate like maps");
        sizes[axis] += more;
    }
    return {{operands.element(2), sizes}};
}
Values qlinear_concat(const Operands& operands) {
    GraphValue result = zeros(qlinear_concat_types(operands).front());
    const Sizes& sizes = result.type.sizes;
    const std::size_t axis = axis_index(operands.node.integer("axis", 1), sizes.size());
    const std::size_t inner = steps_of(sizes)[axis];
    const std::size_t whole = inner * unsigned_of(sizes[axis]);
    std::size_t begin = 0;
    for (std::size_t map = 2; map < operands.values.size(); map += 3) {
        const std::size_t part = inner * unsigned_of(operands.sizes(map)[axis]);
        for (std::size_t i = 0; i < operands.at(map).numbers.size(); ++i) {
            result.numbers[i / part * whole + begin + i % part] =
                stored_number(operands, 0, real_of(operands, map, i), result.type.element);
        }
        begin += part;
    }
    return {result};
}

/// The operand's range if values are stored unchanged, otherwise the type's.
ValueRange quantised_range(const RangeOperands& operands) {
    const auto is_one = [&](std::size_t input, double number) {
        const GraphValue* value = operands.graph.constant(operands.node.input(input));
        return value != nullptr &&
               std::ranges::count(value->numbers, number) == std::ssize(value->numbers);
    };
    const bool as_they_are = is_one(1, 1) && (operands.node.input(2).empty() || is_one(2, 0));
    return as_they_are ? stored_range(operands)
                       : ValueRange{true, range_of(operands.result()), false};
}

}  // namespace

std::span<const OperatorRow> quantised_operators() {
    static constexpr std::array rows{
        row("QLinearConv", {8, 9}, qlinear_conv) | inferring(qlinear_conv_types) |
            attributes(window_attributes) | macs(MacRule::OutputsByKernel) | weights_at(3),
        row("QLinearMatMul", {8, 8}, qlinear_matmul) | inferring(qlinear_matmul_types) |
            macs(MacRule::OutputsByRows) | weights_at(3),
        row("com.microsoft.QLinearAdd", {7, 8}, qlinear_pair<std::plus<>{}>) |
            inferring(qlinear_pair_types),
        row("com.microsoft.QLinearMul", {7, 8}, qlinear_pair<std::multiplies<>{}>) |
            inferring(qlinear_pair_types),
        qlinear_row<real_operator::sigmoid>("com.microsoft.QLinearSigmoid") | elementwise,
        qlinear_row<real_operator::leaky_relu>("com.microsoft.QLinearLeakyRelu") | elementwise,
        qlinear_row<real_operator::average_pool>("com.microsoft.QLinearAveragePool"),
        qlinear_row<real_operator::softmax>("com.microsoft.QLinearSoftmax"),
        qlinear_row<real_operator::reduce_mean>("com.microsoft.QLinearReduceMean"),
        row("com.microsoft.QGemm", {9, 9}, qgemm) | inferring(qgemm_types) |
            macs(MacRule::OutputsByRows) | weights_at(3),
        row("com.microsoft.QLinearGlobalAveragePool", {5, 5}, qlinear_mean) |
            inferring(qlinear_mean_types),
        row("com.microsoft.QLinearConcat", {5, 0}, qlinear_concat) |
            inferring(qlinear_concat_types),
        row("QuantizeLinear", {2, 3}, quantize_linear) | inferring(quantize_types) |
            attributes("axis block_size output_dtype precision saturate") |
            ranging(quantised_range) | elementwise,
        row("DynamicQuantizeLinear", {1, 1}, quantize_dynamically) | float_types |
            inferring(dynamic_types),
        row("DequantizeLinear", {2, 3}, dequantize_linear) | inferring(dequantize_types) |
            attributes("axis block_size output_dtype") | never_folds | elementwise};
    return rows;
}

}  // namespace npuscope::host
