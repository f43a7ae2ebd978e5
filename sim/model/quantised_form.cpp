// SPDX-License-Identifier: Apache-2.0
#include "sim/model/quantised_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sim/model/operator_parts.h"

namespace npuscope {
namespace {

const GraphValue* constant_input(const GraphView& view, const GraphNode& node, std::size_t input) {
    return view.graph().constant(node.input(input));
}

/// A constant operand with one value.
std::optional<double> number_of(const GraphView& view, const GraphNode& node, std::size_t input) {
    const GraphValue* value = constant_input(view, node, input);
    return value != nullptr && value->numbers.size() == 1 ? std::optional(value->numbers.front())
                                                          : std::nullopt;
}

/// One value of an operand or attribute; `none` if omitted. Nothing: it is not constant.
std::optional<double> limit_of(const GraphView& view, const GraphNode& node, std::size_t input,
                               const char* attribute, double none) {
    if (node.input(input).empty()) {
        return node.number(attribute, none);
    }
    return number_of(view, node, input);
}

/// The limits of an activation as integers of the result; false if they are not constant.
bool take_activation(const GraphView& view, const GraphNode& node, Requantised& end) {
    const double infinite = std::numeric_limits<double>::infinity();
    const bool relu = node.op == "Relu";
    const auto low = relu ? 0.0 : limit_of(view, node, 1, "min", -infinite);
    const auto high = relu ? infinite : limit_of(view, node, 2, "max", infinite);
    if (!low || !high || *low > *high) {
        return false;
    }
    const auto code = [&](double real) {
        const double all = 65536;
        return std::clamp(std::nearbyint(real / end.scale), -all, all) + end.zero;
    };
    end.low = std::clamp(code(*low), end.low, end.high);
    end.high = std::clamp(code(*high), end.low, end.high);
    return true;
}

class LayerReader {
 public:
    LayerReader(const GraphView& view, std::size_t index) : view_(view), node_(view.node(index)) {}

    std::optional<QuantisedLayer> read() {
        layer_.anchor = node_;
        const std::string& op = node_.op;
        if (node_.outputs.size() != 1) {
            return std::nullopt;
        }
        if (op == "QLinearConv" || op == "QLinearMatMul") {
            return read_qlinear({});
        }
        if (op == "com.microsoft.QGemm") {
            return read_qlinear({.scale = 7, .zero = 8, .bias = 6});
        }
        is_average_ = op == "AveragePool" || op == "GlobalAveragePool";
        layer_.is_transposed = op == "ConvTranspose";
        layer_.is_conv = op == "Conv" || layer_.is_transposed || is_average_;
        layer_.is_pool = op == "MaxPool";
        if (layer_.is_conv || op == "MatMul" || op == "Gemm" || op == "MaxPool") {
            return read_between();
        }
        return std::nullopt;
    }

 private:
    const GraphValue* constant(const std::string& tensor) const {
        return view_.graph().constant(tensor);
    }
    const std::vector<double>* numbers(std::size_t input) const {
        const GraphValue* value = constant(node_.input(input));
        return value == nullptr ? nullptr : &value->numbers;
    }

    /// Operands after the weights and their scales: those of the result, and the bias.
    struct ResultOperands {
        std::size_t scale = 6;
        std::size_t zero = 7;
        std::size_t bias = 8;
    };

    std::optional<QuantisedLayer> read_qlinear(const ResultOperands& result) {
        for (const std::size_t i : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4},
                                    std::size_t{5}, result.scale, result.zero}) {
            if (numbers(i) == nullptr || numbers(i)->empty()) {
                layer_.obstacle = "its scales or weights are not constant";
                return layer_;
            }
        }
        layer_.is_conv = node_.op == "QLinearConv";
        layer_.input = node_.inputs[0];
        layer_.output = node_.outputs[0];
        layer_.input_zero = numbers(2)->front();
        layer_.output_zero = numbers(result.zero)->front();
        layer_.output_type = view_.graph().types.at(layer_.output).element;
        layer_.low = range_of(layer_.output_type).low;
        layer_.high = range_of(layer_.output_type).high;
        layer_.weights = *constant(node_.inputs[3]);
        if (node_.op != "QLinearMatMul") {
            take_product_shape();
        }
        if (!layer_.obstacle.empty()) {
            return layer_;
        }
        take_off(*numbers(5));
        for (const double scale : *numbers(4)) {
            layer_.factors.push_back(rounded_float(rounded_float(numbers(1)->front() * scale) /
                                                   numbers(result.scale)->front()));
        }
        if (const GraphValue* bias = constant(node_.input(result.bias))) {
            layer_.bias = of_kernels(*bias);
        } else if (!node_.input(result.bias).empty()) {
            layer_.obstacle = "its bias is not constant";
        }
        return layer_;
    }

    /// DequantizeLinear, the operator, optional Add of the bias, optional Relu, QuantizeLinear.
    std::optional<QuantisedLayer> read_between() {
        const auto data = dequantised(view_, node_.inputs[0]);
        if (!data || view_.graph().is_constant(data->tensor)) {
            return std::nullopt;
        }
        if (!take_quantiser()) {
            layer_.obstacle = "no QuantizeLinear of constant scale and zero point follows it";
            return layer_;
        }
        layer_.input = data->tensor;
        layer_.input_zero = data->zeros.front();
        if (layer_.is_pool) {
            const ElementType from = view_.graph().types.at(data->tensor).element;
            const NumberRange all = range_of(layer_.output_type);
            if (data->scales != std::vector<double>{output_scale_} || layer_.low != all.low ||
                layer_.high != all.high || layer_.input_zero != layer_.output_zero ||
                from != layer_.output_type) {
                layer_.obstacle = "the scales before and after it differ";
            }
            return layer_;
        }
        if (data->scales.size() != 1) {
            layer_.obstacle = "its input has one scale per channel";
            return layer_;
        }
        if (is_average_) {
            return read_average(*data);
        }
        const auto weights = dequantised(view_, node_.inputs[1]);
        if (!weights || constant(weights->tensor) == nullptr) {
            layer_.obstacle =
                weights ? "it multiplies two activations with each other; an NPU's weights are "
                          "constants of the plan"
                        : "its weights are not constants after a DequantizeLinear";
            return layer_;
        }
        layer_.weights = *constant(weights->tensor);
        if (!scaled_by_kernel(*weights)) {
            layer_.obstacle = "its weights have a scale per input channel";
            return layer_;
        }
        take_product_shape();
        if (!layer_.obstacle.empty()) {
            return layer_;
        }
        take_off(weights->zeros);
        layer_.exact_factors =
            is_power_of_two(output_scale_) && is_power_of_two(data->scales.front()) &&
            std::all_of(weights->scales.begin(), weights->scales.end(), is_power_of_two);
        for (const double scale : weights->scales) {
            layer_.factors.push_back(
                rounded_float(rounded_float(data->scales.front() * scale) / output_scale_));
        }
        take_bias(*data, *weights);
        return layer_;
    }

    /// A sum with equal weights over the window, channel by channel.
    std::optional<QuantisedLayer> read_average(const Dequantised& data) {
        const Sizes in = view_.sizes(data.tensor);
        const bool global = node_.op == "GlobalAveragePool";
        Sizes kernel =
            global && in.size() == 4 ? Sizes{in[2], in[3]} : node_.integers("kernel_shape");
        const bool plain =
            in.size() == 4 && kernel.size() == 2 && node_.integer("ceil_mode", 0) == 0 &&
            (global || !has_padding(node_) || node_.integer("count_include_pad", 0) != 0);
        if (!plain) {
            layer_.obstacle = "its windows differ in size";
            return layer_;
        }
        GraphNode& sums = layer_.anchor;
        sums.attributes.erase("count_include_pad");
        sums.attributes.erase("ceil_mode");
        sums.attributes["group"] = in[1];
        sums.attributes["kernel_shape"] = kernel;
        layer_.weights = zeros({ElementType::Int8, {in[1], 1, kernel[0], kernel[1]}});
        std::ranges::fill(layer_.weights.numbers, 1.0);
        const double area = static_cast<double>(kernel[0]) * static_cast<double>(kernel[1]);
        // a mean of floats is rounded before it is scaled, except for these
        layer_.exact_factors =
            is_power_of_two(area) && is_power_of_two(data.scales.front() / output_scale_);
        layer_.factors = {data.scales.front() / (area * output_scale_)};
        return layer_;
    }

    bool scaled_by_kernel(const Dequantised& weights) const {
        const std::size_t rank = layer_.weights.type.sizes.size();
        const bool first =
            (layer_.is_conv && !layer_.is_transposed) || node_.integer("transB", 0) != 0;
        const std::size_t kernels = first ? 0 : layer_.is_transposed ? 1 : rank - 1;
        return weights.scales.size() == 1 || host::axis_index(weights.axis, rank) == kernels;
    }

    /// [C K], as MatMul has it.
    void take_product_shape() {
        if (layer_.is_conv) {
            return;
        }
        const Sizes sizes = layer_.weights.type.sizes;
        const bool plain = node_.number("alpha", 1) == 1 && node_.number("beta", 1) == 1 &&
                           node_.integer("transA", 0) == 0;
        if (sizes.size() != 2 || !plain) {
            layer_.obstacle = "the product is scaled, or its weights are not a matrix";
        } else if (node_.integer("transB", 0) != 0) {
            layer_.weights = transposed(layer_.weights);
        }
    }

    /// Weights are as Conv, ConvTranspose or MatMul have them.
    std::size_t kernels_of_weights() const {
        const Sizes& sizes = layer_.weights.type.sizes;
        const auto size = [&](std::size_t i) { return static_cast<std::size_t>(sizes[i]); };
        if (layer_.is_transposed) {
            return size(1) * static_cast<std::size_t>(node_.integer("group", 1));
        }
        return size(layer_.is_conv ? 0 : 1);
    }

    /// The bias of each kernel; an obstacle if there is no such.
    std::vector<double> of_kernels(const GraphValue& bias) {
        const auto all = bias_of_kernels(bias, kernels_of_weights());
        layer_.obstacle = all ? layer_.obstacle : "its bias is not one value per kernel";
        return all.value_or(std::vector<double>());
    }

    void take_bias(const Dequantised& data, const Dequantised& weights) {
        constexpr double rounding = 0x1p-22;  // of a product of two floats
        const std::string& tensor = added_bias_.empty() ? node_.input(2) : added_bias_;
        if (tensor.empty()) {
            return;
        }
        if (!added_bias_.empty() && !node_.input(2).empty()) {
            layer_.obstacle = "it has two biases";
            return;
        }
        const auto bias = dequantised(view_, tensor);
        const GraphValue* integers = bias ? constant(bias->tensor) : constant(tensor);
        if (integers == nullptr) {
            layer_.obstacle = "its bias is not constant";
            return;
        }
        const std::vector<double> stored = of_kernels(*integers);
        for (std::size_t i = 0; i < stored.size(); ++i) {
            const auto of = [i](const std::vector<double>& values) {
                return values[values.size() == 1 ? 0 : i % values.size()];
            };
            const double unit = data.scales.front() * of(weights.scales);
            const double steps = bias ? of(bias->scales) / unit : 1 / unit;
            const bool same = std::abs(steps - 1) < rounding;  // bias and sums have the same scale
            layer_.bias.push_back((stored[i] - (bias ? of(bias->zeros) : 0)) * (same ? 1 : steps));
        }
    }

    /// The tensor of a bias that is added after a product, if `index` is such an addition.
    std::string bias_of(std::size_t index) const {
        const GraphNode& node = view_.node(index);
        const bool widens = view_.sizes(node.outputs[0]) != view_.sizes(node_.outputs[0]);
        if (node.op != "Add" || layer_.is_pool || layer_.is_conv || widens) {
            return {};
        }
        const std::string& other = node.inputs[node.inputs[0] == node_.outputs[0] ? 1 : 0];
        const auto from = dequantised(view_, other);
        const GraphValue* value = from ? constant(from->tensor) : constant(other);
        if (value == nullptr) {
            return {};
        }
        const Sizes& sizes = value->type.sizes;
        const bool last_axis = std::all_of(sizes.begin(), sizes.end() - (sizes.empty() ? 0 : 1),
                                           [](std::int64_t size) { return size == 1; });
        return last_axis ? other : std::string{};
    }

    bool take_quantiser() {
        std::string tensor = node_.outputs[0];
        if (const auto reader = view_.only_reader(tensor);
            reader && !(added_bias_ = bias_of(*reader)).empty()) {
            layer_.after.push_back(*reader);
            tensor = view_.node(*reader).outputs[0];
        }
        const std::optional<Requantised> end = requantised(view_, tensor);
        if (!end) {
            return false;
        }
        output_scale_ = end->scale;
        layer_.output_zero = end->zero;
        layer_.output = end->output;
        layer_.output_type = end->type;
        layer_.low = end->low;
        layer_.high = end->high;
        layer_.after.insert(layer_.after.end(), end->nodes.begin(), end->nodes.end());
        return true;
    }

    /// Subtracts zero points of the weights: one, or one per kernel.
    void take_off(const std::vector<double>& zeros) {
        if (layer_.is_transposed && std::ranges::count(zeros, zeros.front()) != std::ssize(zeros)) {
            layer_.obstacle = "its weights have several zero points";
            return;
        }
        subtract_zeros(layer_.weights,
                       layer_.is_transposed ? std::vector<double>{zeros.front()} : zeros,
                       layer_.is_conv);
        const bool wide = is_wide(layer_.weights.type.element);
        const ElementType element = wide ? ElementType::Int16 : ElementType::Int8;
        const NumberRange range = range_of(element);
        if (std::ranges::any_of(layer_.weights.numbers, [&](double weight) {
                return weight < range.low || weight > range.high;
            })) {
            layer_.obstacle =
                fmt::format("its weights minus their zero point exceed {} bits", wide ? 16 : 8);
        }
        layer_.weights.type.element = element;
    }

    const GraphView& view_;
    const GraphNode& node_;
    QuantisedLayer layer_;
    bool is_average_ = false;
    double output_scale_ = 1;
    std::string added_bias_;  ///< tensor of a bias that is added after a product
};

}  // namespace

bool has_padding(const GraphNode& node) {
    const auto pads = node.integers("pads");
    return node.text("auto_pad", "NOTSET").starts_with("SAME") ||
           std::any_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad != 0; });
}

std::optional<std::vector<double>> bias_of_kernels(const GraphValue& bias, std::size_t kernels) {
    if (bias.numbers.size() == 1) {
        return std::vector<double>(kernels, bias.numbers.front());
    }
    const bool fits = bias.numbers.size() == kernels && !bias.type.sizes.empty() &&
                      bias.type.sizes.back() == static_cast<std::int64_t>(kernels);
    return fits ? std::optional(bias.numbers) : std::nullopt;
}

std::optional<Dequantised> dequantised(const GraphView& view, const std::string& tensor) {
    const auto producer = view.producer(tensor);
    if (!producer || view.node(*producer).op != "DequantizeLinear") {
        return std::nullopt;
    }
    const GraphNode& node = view.node(*producer);
    const GraphValue* scale = constant_input(view, node, 1);
    const GraphValue* zero = constant_input(view, node, 2);
    const bool blocks = node.integer("block_size", 0) != 0;
    if (blocks || scale == nullptr || (zero == nullptr && !node.input(2).empty())) {
        return std::nullopt;
    }
    Dequantised from{node.inputs[0], scale->numbers, {0}, node.integer("axis", 1)};
    if (zero != nullptr) {
        from.zeros = zero->numbers;
    }
    return from;
}

std::optional<Requantised> requantised(const GraphView& view, const std::string& tensor) {
    Requantised end;
    auto reader = view.only_reader(tensor);
    std::optional<std::size_t> activation;
    if (reader && (view.node(*reader).op == "Relu" || view.node(*reader).op == "Clip")) {
        activation = reader;
        end.nodes.push_back(*reader);
        reader = view.only_reader(view.node(*reader).outputs[0]);
    }
    if (!reader || view.node(*reader).op != "QuantizeLinear") {
        return std::nullopt;
    }
    const GraphNode& quantiser = view.node(*reader);
    const GraphValue* scale = constant_input(view, quantiser, 1);
    const GraphValue* zero = constant_input(view, quantiser, 2);
    if (scale == nullptr || scale->numbers.size() != 1 || !(scale->numbers.front() > 0) ||
        (zero == nullptr && !quantiser.input(2).empty())) {
        return std::nullopt;
    }
    end.scale = scale->numbers.front();
    end.zero = zero == nullptr || zero->numbers.empty() ? 0 : zero->numbers.front();
    end.output = quantiser.outputs[0];
    end.type = view.graph().types.at(end.output).element;
    end.low = range_of(end.type).low;
    end.high = range_of(end.type).high;
    end.nodes.push_back(*reader);
    if (activation && !take_activation(view, view.node(*activation), end)) {
        return std::nullopt;
    }
    return end;
}

std::optional<TwoMaps> two_maps(const GraphView& view, const GraphNode& node) {
    const auto type = [&](const std::string& tensor) {
        return view.graph().types.at(tensor).element;
    };
    if (node.op == "Add" || node.op == "Mul") {
        const auto map = [&](std::size_t operand) -> std::optional<ScaledMap> {
            const auto from = dequantised(view, node.inputs[operand]);
            if (!from || view.graph().is_constant(from->tensor) || from->scales.size() != 1 ||
                from->zeros.size() != 1) {
                return std::nullopt;
            }
            return ScaledMap{from->tensor, type(from->tensor), from->scales.front(),
                             from->zeros.front()};
        };
        const auto a = map(0);
        const auto b = map(1);
        const auto end = requantised(view, node.outputs[0]);
        return a && b && end ? std::optional(TwoMaps{*a, *b, *end}) : std::nullopt;
    }
    const bool quantised =
        node.op == "com.microsoft.QLinearAdd" || node.op == "com.microsoft.QLinearMul";
    if (!quantised || node.inputs.size() != 8) {
        return std::nullopt;
    }
    // a, scale, zero, b, scale, zero, the result's scale, zero
    const auto map = [&](const std::string& tensor, std::size_t operand) {
        const auto scale = number_of(view, node, operand);
        const auto zero = number_of(view, node, operand + 1);
        return scale && zero ? std::optional(ScaledMap{tensor, type(tensor), *scale, *zero})
                             : std::nullopt;
    };
    const auto a = map(node.inputs[0], 1);
    const auto b = map(node.inputs[3], 4);
    const auto end = map(node.outputs[0], 6);
    if (!a || !b || !end) {
        return std::nullopt;
    }
    const NumberRange range = range_of(end->type);
    return TwoMaps{
        *a, *b, {end->tensor, end->type, end->scale, end->zero, range.low, range.high, {}}};
}

std::optional<double> high_of(const GraphView& view, const std::string& tensor) {
    const auto type = view.graph().types.find(tensor);
    if (type == view.graph().types.end()) {  // a layer whose input side has not been read
        return std::nullopt;
    }
    const auto producer = view.producer(tensor);
    const double all = range_of(type->second.element).high;
    if (!producer) {
        return all;
    }
    const GraphNode& node = view.node(*producer);
    constexpr std::array movers{"MaxPool",      "Reshape", "Flatten", "Transpose",
                                "DepthToSpace", "Slice",   "Identity"};
    if (std::ranges::find(movers, node.op) != movers.end() && node.outputs.size() == 1) {
        return high_of(view, node.inputs[0]);
    }
    const auto maker = node.inputs.empty() ? std::nullopt : view.producer(node.inputs[0]);
    if (!maker) {
        return std::nullopt;
    }
    const GraphNode& before = view.node(*maker);
    if (node.op == "QuantizeLinear") {
        const bool limits = before.op == "Relu" || before.op == "Clip";
        const auto end = requantised(view, limits ? before.inputs[0] : node.inputs[0]);
        return end && end->output == tensor ? end->high : all;
    }
    const GraphValue* high = view.graph().constant(before.input(2));
    return node.op == "Cast" && before.op == "Clip" && high != nullptr
               ? std::optional(high->numbers.front())
               : std::nullopt;
}

std::optional<QuantisedLayer> read_quantised_layer(const GraphView& view, std::size_t index) {
    return LayerReader(view, index).read();
}

}  // namespace npuscope
