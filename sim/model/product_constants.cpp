// SPDX-License-Identifier: Apache-2.0
// Constants that scale or shift the result of a quantised product, kernel by kernel, as scales of
// its weights and as its bias.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/model/graph_edit.h"
#include "sim/model/operator_parts.h"
#include "sim/model/quantised_form.h"
#include "sim/model/quantiser_places.h"

namespace npuscope {
namespace {

/// result = sum * factor + offset, for each kernel.
struct KernelMap {
    std::vector<double> factors;
    std::vector<double> offsets;
};

/// A product of dequantised data and dequantised constant weights.
struct DequantisedProduct {
    GraphNode node;
    GraphValue weights;  ///< integers
    std::vector<double> scales;
    std::vector<double> zeros;
    std::size_t kernel_axis = 0;  ///< of the weights
    std::size_t result_axis = 0;  ///< of the result
    std::size_t kernels = 0;
};

class ProductConstants : GraphRewrite {
 public:
    using GraphRewrite::GraphRewrite;

    void run() {
        ReplacedNodes replaced;
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            if (auto product = product_of(i)) {
                fold(i, *std::move(product), replaced);
            }
        }
        replace_nodes(graph_, std::move(replaced));
    }

 private:
    std::optional<DequantisedProduct> product_of(std::size_t index) const {
        const GraphNode& node = view_.node(index);
        const bool conv = node.op == "Conv";
        const bool transposed = node.op == "ConvTranspose" && node.integer("group", 1) == 1;
        const bool plain_gemm = node.op == "Gemm" && node.number("alpha", 1) == 1 &&
                                node.number("beta", 1) == 1 && node.integer("transA", 0) == 0;
        if (!(conv || transposed || plain_gemm || node.op == "MatMul")) {
            return std::nullopt;
        }
        const auto data = dequantised(view_, node.inputs[0]);
        const auto weights = dequantised(view_, node.inputs[1]);
        const GraphValue* integers = weights ? before_.constant(weights->tensor) : nullptr;
        if (!data || before_.is_constant(data->tensor) || integers == nullptr) {
            return std::nullopt;
        }
        const std::size_t rank = integers->type.sizes.size();
        const bool matrix = plain_gemm || node.op == "MatMul";
        if (rank < 2 || (matrix && rank != 2)) {
            return std::nullopt;
        }
        const bool kernels_first = conv || node.integer("transB", 0) != 0;
        DequantisedProduct product{node, *integers, weights->scales, weights->zeros};
        product.kernel_axis = kernels_first ? 0 : 1;
        product.result_axis = matrix ? view_.sizes(node.outputs[0]).size() - 1 : 1;
        product.kernels = static_cast<std::size_t>(integers->type.sizes[product.kernel_axis]);
        const bool along_kernels = weights->scales.size() == 1 ||
                                   host::axis_index(weights->axis, rank) == product.kernel_axis;
        return along_kernels ? std::optional(std::move(product)) : std::nullopt;
    }

    // --- What follows a product ---

    /// A constant, or the constant that a DequantizeLinear returns.
    std::optional<GraphValue> constant(const std::string& tensor) const {
        if (const GraphValue* value = before_.constant(tensor)) {
            return *value;
        }
        const auto producer = view_.producer(tensor);
        if (!producer || view_.node(*producer).op != "DequantizeLinear") {
            return std::nullopt;
        }
        return constant_result(before_, view_.node(*producer));
    }

    /// The numbers of a constant, one per kernel, if it is the same for all others of the result.
    std::optional<std::vector<double>> per_kernel(const DequantisedProduct& product,
                                                  const std::string& tensor) const {
        const std::size_t rank = view_.sizes(product.node.outputs[0]).size();
        const auto type = before_.types.find(tensor);
        const Sizes sizes = type == before_.types.end() ? Sizes{0} : type->second.sizes;
        const std::size_t missing = rank - std::min(rank, sizes.size());
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const bool along = i + missing == product.result_axis &&
                               sizes[i] == static_cast<std::int64_t>(product.kernels);
            if (sizes[i] != 1 && !along) {
                return std::nullopt;
            }
        }
        const auto value = sizes.size() <= rank ? constant(tensor) : std::nullopt;
        return value ? std::optional(spread(value->numbers, product.kernels)) : std::nullopt;
    }
    static std::vector<double> spread(const std::vector<double>& numbers, std::size_t count) {
        return numbers.size() == 1 ? std::vector<double>(count, numbers.front()) : numbers;
    }

    std::optional<KernelMap> normalisation(const DequantisedProduct& product,
                                           const GraphNode& node) const {
        const bool used = node.outputs.size() == 1 && node.integer("training_mode", 0) == 0;
        std::vector<std::vector<double>> numbers;  // scale, bias, mean, variance
        for (std::size_t i = 1; i < node.inputs.size() && used && product.result_axis == 1; ++i) {
            const GraphValue* value = before_.constant(node.inputs[i]);
            if (value != nullptr && value->numbers.size() == product.kernels) {
                numbers.push_back(value->numbers);
            }
        }
        if (numbers.size() != 4) {
            return std::nullopt;
        }
        KernelMap map;
        const double epsilon = node.number("epsilon", 1e-5);
        for (std::size_t k = 0; k < product.kernels; ++k) {
            const double factor = numbers[0][k] / std::sqrt(numbers[3][k] + epsilon);
            map.factors.push_back(factor);
            map.offsets.push_back(numbers[1][k] - numbers[2][k] * factor);
        }
        return map;
    }

    /// What a node does to the result of a product; nothing if it is more than a factor and an
    /// offset per kernel.
    std::optional<KernelMap> map_of(const DequantisedProduct& product, const GraphNode& node,
                                    const std::string& tensor) const {
        if (node.op == "BatchNormalization" && node.inputs[0] == tensor) {
            return normalisation(product, node);
        }
        const bool first = !node.inputs.empty() && node.inputs[0] == tensor;
        const bool swaps = node.op == "Add" || node.op == "Mul" || node.op == "Sub";
        if (!(swaps || (node.op == "Div" && first))) {
            return std::nullopt;
        }
        const auto numbers = per_kernel(product, node.inputs[first ? 1 : 0]);
        if (!numbers) {
            return std::nullopt;
        }
        KernelMap map{std::vector<double>(product.kernels, 1),
                      std::vector<double>(product.kernels, 0)};
        for (std::size_t k = 0; k < product.kernels; ++k) {
            const double number = (*numbers)[k];
            if (node.op == "Add") {
                map.offsets[k] = number;
            } else if (node.op == "Mul") {
                map.factors[k] = number;
            } else if (node.op == "Div") {
                map.factors[k] = 1 / number;
            } else if (node.op == "Sub") {
                map.factors[k] = first ? 1 : -1;
                map.offsets[k] = first ? -number : number;
            }
        }
        return map;
    }

    // --- Folding ---

    /// The product's own bias.
    std::optional<KernelMap> own_map(const DequantisedProduct& product) const {
        KernelMap map{std::vector<double>(product.kernels, 1),
                      std::vector<double>(product.kernels, 0)};
        const std::string& bias = product.node.input(2);
        if (bias.empty()) {
            return map;
        }
        const auto value = constant(bias);
        const std::size_t count = value ? value->numbers.size() : 0;
        const bool last = value && (value->type.sizes.empty() ||
                                    value->type.sizes.back() == static_cast<std::int64_t>(count));
        if (!last || (count != 1 && count != product.kernels)) {
            return std::nullopt;
        }
        map.offsets = spread(value->numbers, product.kernels);
        return map;
    }

    void fold(std::size_t index, DequantisedProduct product, ReplacedNodes& replaced) {
        auto map = own_map(product);
        std::vector<std::size_t> folded;
        std::string tensor = product.node.outputs[0];
        while (map) {
            const auto reader = view_.only_reader(tensor);
            const auto next = reader ? map_of(product, view_.node(*reader), tensor) : std::nullopt;
            if (!next) {
                break;
            }
            for (std::size_t k = 0; k < product.kernels; ++k) {
                map->factors[k] *= next->factors[k];
                map->offsets[k] = map->offsets[k] * next->factors[k] + next->offsets[k];
            }
            folded.push_back(*reader);
            tensor = view_.node(*reader).outputs[0];
        }
        const bool bias_of_matmul = product.node.op == "MatMul" && folded.size() == 1 &&
                                    view_.node(folded.front()).op == "Add";
        if (folded.empty() || bias_of_matmul || !is_quantised(tensor) ||
            !scale_weights(product, map->factors)) {
            return;
        }
        for (const std::size_t node : folded) {
            replaced[node] = {};
        }
        replaced[index] = nodes_of(std::move(product), std::move(map->offsets), tensor);
    }

    /// Whether a quantiser follows, perhaps after the sum with a dequantised map.
    bool is_quantised(const std::string& tensor) const {
        const auto reader = view_.only_reader(tensor);
        if (!reader || view_.node(*reader).op != "Add") {
            return requantised(view_, tensor).has_value();
        }
        const GraphNode& add = view_.node(*reader);
        return dequantised(view_, add.inputs[add.inputs[0] == tensor ? 1 : 0]) &&
               requantised(view_, add.outputs[0]);
    }

    /// Multiplies scales by factors; a negative factor negates the kernel's integers. False if one
    /// of these does not fit the type, or a factor is not finite.
    static bool scale_weights(DequantisedProduct& product, const std::vector<double>& factors) {
        std::vector<double> scales = spread(product.scales, product.kernels);
        const std::vector<double> zeros = spread(product.zeros, product.kernels);
        const NumberRange range = range_of(product.weights.type.element);
        std::size_t step = 1;
        for (std::size_t i = product.kernel_axis + 1; i < product.weights.type.sizes.size(); ++i) {
            step *= static_cast<std::size_t>(product.weights.type.sizes[i]);
        }
        for (std::size_t i = 0; i < product.weights.numbers.size(); ++i) {
            const std::size_t k = i / step % product.kernels;
            double& integer = product.weights.numbers[i];
            integer = factors[k] == 0  ? zeros[k]
                      : factors[k] < 0 ? 2 * zeros[k] - integer
                                       : integer;
            if (integer < range.low || integer > range.high) {
                return false;
            }
        }
        for (std::size_t k = 0; k < product.kernels; ++k) {
            scales[k] *= factors[k] == 0 ? 1 : std::abs(factors[k]);
            const double stored = rounded_float(scales[k]);
            if (!(std::isfinite(stored) && stored > 0)) {
                return false;
            }
        }
        product.scales = std::move(scales);
        product.zeros = zeros;
        return true;
    }

    std::vector<GraphNode> nodes_of(DequantisedProduct product, std::vector<double> offsets,
                                    const std::string& result) {
        const std::string name = node_name(product.node);
        const auto kernels = static_cast<std::int64_t>(product.kernels);
        const ElementType element = product.weights.type.element;
        const std::string weights = constant_of(name + "_weights", std::move(product.weights));
        const std::string scales = constant_of(
            name + "_scales", {{ElementType::Float32, {kernels}}, std::move(product.scales)});
        const std::string zeros =
            constant_of(name + "_zeros", {{element, {kernels}}, std::move(product.zeros)});
        const std::string scaled = free_name(graph_, name + "_scaled_weights");
        const auto axis = static_cast<std::int64_t>(product.kernel_axis);
        GraphNode dequantiser{
            "DequantizeLinear", scaled, {weights, scales, zeros}, {scaled}, {{"axis", axis}}};
        graph_.types[scaled] = before_.types.at(product.node.inputs[1]);
        GraphNode node = std::move(product.node);
        node.inputs[1] = scaled;
        const std::string bias =
            constant_of(name + "_bias", {{ElementType::Float32, {kernels}}, std::move(offsets)});
        if (node.op != "MatMul") {
            node.inputs.resize(3);
            node.inputs[2] = bias;
            node.outputs = {result};
            return {std::move(dequantiser), std::move(node)};
        }
        GraphNode add{
            "Add", free_name(graph_, name + "_add"), {node.outputs[0], bias}, {result}, {}};
        return {std::move(dequantiser), std::move(node), std::move(add)};
    }

    std::string constant_of(const std::string& wish, GraphValue value) {
        settle(value);
        return add_constant(graph_, wish, std::move(value));
    }
};

}  // namespace

void fold_into_products(Graph& graph) { ProductConstants(graph).run(); }

}  // namespace npuscope
