// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/insert_quantisers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "sim/model/graph_edit.h"
#include "sim/model/host_values.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

constexpr double largest_first_bias = 0x1p30;  // 32 bits, with room for its correction
// Kernels with smaller weights than such biases, as training leaves some, are in coarser steps, so
// that all kernels' scales are alike: as large as sums of some hundred weights can be.
constexpr double largest_in_steps = 0x1p22;
constexpr double largest_in_wide_steps = 0x1p33;

/// The kernel axis of a product's weights; -1: they need one scale for all.
int kernel_axis(const GraphNode& node) {
    if (node.op == "ConvTranspose") {
        return node.integer("group", 1) == 1 ? 1 : -1;
    }
    const bool first = node.op == "Conv" || (node.op == "Gemm" && node.integer("transB", 0) != 0);
    return first ? 0 : 1;
}

class Inserter {
 public:
    Inserter(const Graph& graph, const Places& places, const std::vector<Grid>& grids,
             ElementType type)
        : before_(graph),
          places_(places),
          grids_(grids),
          type_(type),
          left_(without_weights(graph, places)) {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            const std::string& result = places.results[i];
            if (places.roles[i] != Role::Float && places.has(result)) {
                from_integers_.insert(result);
            }
            for (const std::string& input : graph.nodes[i].inputs) {
                readers_[input].push_back(i);
            }
        }
    }

    QuantisedGraph run() {
        for (const std::string& input : before_.inputs) {
            if (places_.has(input)) {
                store(input, input);
            }
        }
        for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
            add(i);
        }
        left_.types.clear();
        for (const std::string& input : before_.inputs) {
            left_.types[input] = before_.types.at(input);
        }
        keep_stated_types();
        drop_unread(left_, is_dequantiser);
        std::erase_if(same_, [read = read_tensors(left_)](const auto& one) {
            return !read.contains(one.second);
        });
        prepare_graph(left_);
        return {std::move(left_), std::move(biases_), std::move(same_)};
    }

 private:
    /// The graph without nodes, and without weights that only products read: they may be large.
    static Graph without_weights(const Graph& graph, const Places& places) {
        std::set<std::string> read(graph.outputs.begin(), graph.outputs.end());
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            const std::vector<std::string>& inputs = graph.nodes[i].inputs;
            for (std::size_t j = 0; j < inputs.size(); ++j) {
                if (places.roles[i] != Role::Product || j != 1) {
                    read.insert(inputs[j]);
                }
            }
        }
        Graph left;
        left.name = graph.name;
        left.file = graph.file;
        left.opset = graph.opset;
        left.inputs = graph.inputs;
        left.outputs = graph.outputs;
        left.by_shape = graph.by_shape;
        left.left_out = graph.left_out;
        left.notes = graph.notes;
        left.rounded = graph.rounded;
        for (const auto& [name, value] : graph.constants) {
            if (read.contains(name)) {
                left.constants.emplace(name, value);
            }
        }
        return left;
    }

    /// For unknown operators, whose result types are stated in the file.
    void keep_stated_types() {
        for (const GraphNode& node : before_.nodes) {
            for (const std::string& output : node.outputs) {
                if (!host_knows(node) && before_.types.contains(output)) {
                    left_.types[output] = before_.types.at(output);
                }
            }
        }
    }
    const Grid& grid_of(const std::string& tensor) const {
        return grids_[places_.grids.at(tensor)];
    }
    static std::string integers_of(const std::string& tensor) { return tensor + "_quantized"; }
    bool is_output(const std::string& tensor) const {
        return std::ranges::find(before_.outputs, tensor) != before_.outputs.end();
    }
    /// Name of the floats dequantised from integers.
    std::string floats_of(const std::string& tensor) const {
        return is_output(tensor) && from_integers_.contains(tensor) ? tensor
                                                                    : tensor + "_dequantized";
    }
    /// Name of the floats before quantisation.
    std::string raw_of(const std::string& tensor) const {
        return is_output(tensor) && from_integers_.contains(tensor) ? tensor + "_float" : tensor;
    }

    void constant(const std::string& name, ElementType element, const Sizes& sizes,
                  std::vector<double> numbers) {
        left_.constants[name] = {{element, sizes}, std::move(numbers)};
    }
    std::vector<std::string> grid_constants(const std::string& tensor) {
        const Grid& grid = grid_of(tensor);
        constant(tensor + "_scale", ElementType::Float32, {}, {grid.scale});
        constant(tensor + "_zero_point", type_, {}, {grid.zero});
        return {tensor + "_scale", tensor + "_zero_point"};
    }
    GraphNode& node(const std::string& op, const std::string& input,
                    const std::vector<std::string>& constants, const std::string& output) {
        GraphNode& made =
            left_.nodes.emplace_back(GraphNode{op, output + "_" + op, {input}, {output}, {}});
        made.inputs.insert(made.inputs.end(), constants.begin(), constants.end());
        return made;
    }

    /// Quantises floats `raw` to the integers of `tensor`, and back for readers of floats.
    void store(const std::string& raw, const std::string& tensor) {
        node("QuantizeLinear", raw, grid_constants(tensor), integers_of(tensor));
        give_floats(tensor);
    }
    void give_floats(const std::string& tensor) {
        node("DequantizeLinear", integers_of(tensor), grid_constants(tensor), floats_of(tensor));
        same_.emplace_back(tensor, floats_of(tensor));
    }

    void add(std::size_t index) {
        GraphNode made = before_.nodes[index];
        const Role role = places_.roles[index];
        if (const auto bias = rounded_biases_.find(index); bias != rounded_biases_.end()) {
            std::ranges::replace(made.inputs, bias->second.first, bias->second.second);
        }
        if (role == Role::Mover && moves_type(made.op)) {
            move_integers(std::move(made));
            return;
        }
        for (std::string& input : made.inputs) {
            const bool reads_integers = role != Role::Float;
            if (places_.has(input) && (reads_integers || from_integers_.contains(input))) {
                input = floats_of(input);
            }
        }
        if (role == Role::Product) {
            quantise_product(before_.nodes[index], made);
        }
        const std::vector<std::string> results = before_.nodes[index].outputs;
        for (std::string& output : made.outputs) {
            output = output.empty() ? output : raw_of(output);
        }
        left_.nodes.push_back(std::move(made));
        for (const std::string& result : results) {
            if (places_.has(result)) {
                store(raw_of(result), result);
            }
        }
    }

    /// ONNX has pools and padding for 8-bit integers, not for 16-bit ones, and ONNX Runtime resizes
    /// only 8-bit ones.
    bool moves_type(const std::string& op) const {
        return !is_wide(type_) || (op != "MaxPool" && op != "Pad" && op != "Resize");
    }
    void move_integers(GraphNode made) {
        const std::string result = made.outputs.front();
        const std::size_t maps = made.op == "Concat" ? made.inputs.size() : 1;
        for (std::size_t i = 0; i < maps; ++i) {
            const std::string map = made.inputs[i];
            made.inputs[i] = integers_of(map);
            if (places_.grids.at(map) != places_.grids.at(result)) {
                made.inputs[i] = fmt::format("{}_{}", integers_of(result), i);
                node("QuantizeLinear", floats_of(map), grid_constants(result), made.inputs[i]);
            }
        }
        if (made.op == "Pad") {  // with the integer for 0
            made.inputs.resize(std::max<std::size_t>(made.inputs.size(), 3));
            made.inputs[2] = grid_constants(result)[1];
        }
        made.outputs = {integers_of(result)};
        left_.nodes.push_back(std::move(made));
        give_floats(result);
    }

    void quantise_product(const GraphNode& product, GraphNode& made) {
        const GraphValue& weights = before_.constants.at(product.inputs[1]);
        const double input = grid_of(product.inputs[0]).scale;
        const auto added = added_bias(product);
        const GraphValue* bias = before_.constant(added ? added->tensor : product.input(2));
        const int axis = kernel_axis(product);
        const auto kernels = static_cast<std::size_t>(
            weights.type.sizes[static_cast<std::size_t>(std::max(axis, 0))]);
        std::vector<double> least;  // so that biases fit
        for (std::size_t k = 0; bias != nullptr && axis >= 0 && k < kernels; ++k) {
            const double steps = is_wide(type_) ? largest_in_wide_steps : largest_in_steps;
            least.push_back(std::abs(of_kernel(*bias, k)) / (input * steps));
        }
        const QuantisedWeights found = quantise_weights(weights, axis, least, type_);
        const std::string name = product.outputs.front() + "_weight";
        const Sizes scales = axis < 0 ? Sizes{} : Sizes{static_cast<std::int64_t>(kernels)};
        left_.constants[name + "_quantized"] = found.integers;
        constant(name + "_scale", ElementType::Float32, scales, found.scales);
        constant(name + "_zero_point", type_, scales, std::vector<double>(found.scales.size(), 0));
        GraphNode& floats = node("DequantizeLinear", name + "_quantized",
                                 {name + "_scale", name + "_zero_point"}, name + "_dequantized");
        if (axis >= 0) {
            floats.attributes["axis"] = std::int64_t{axis};
        }
        made.inputs[1] = name + "_dequantized";
        if (added && !is_wide(type_)) {
            round_bias(*added, *bias, found.scales, input);
        } else if (bias != nullptr && !is_wide(type_)) {
            made.inputs[2] = quantise_bias(product, *bias, found.scales, input);
        }
    }

    /// A constant with one number per kernel that the only reader of a MatMul adds.
    struct AddedBias {
        std::size_t node = 0;
        std::string tensor;
    };
    std::optional<AddedBias> added_bias(const GraphNode& product) const {
        const auto readers = readers_.find(product.outputs.front());
        if (product.op != "MatMul" || readers == readers_.end() || readers->second.size() != 1) {
            return std::nullopt;
        }
        const GraphNode& node = before_.nodes[readers->second.front()];
        const Sizes& sizes = before_.constants.at(product.inputs[1]).type.sizes;
        for (const std::string& input : node.inputs) {
            const GraphValue* value = before_.constant(input);
            if (node.op == "Add" && value != nullptr && sizes.size() == 2 &&
                value->numbers.size() == static_cast<std::size_t>(sizes.back()) &&
                value->type.sizes.back() == sizes.back()) {
                return AddedBias{readers->second.front(), input};
            }
        }
        return std::nullopt;
    }
    /// To whole units of the sums, as an NPU adds it; it stays a float constant.
    void round_bias(const AddedBias& added, const GraphValue& bias,
                    const std::vector<double>& weight_scales, double input) {
        GraphValue rounded = bias;
        for (std::size_t k = 0; k < rounded.numbers.size(); ++k) {
            const double unit = input * weight_scales[weight_scales.size() == 1 ? 0 : k];
            rounded.numbers[k] = rounded_float(std::nearbyint(bias.numbers[k] / unit) * unit);
        }
        const std::string name = before_.nodes[added.node].outputs.front() + "_bias";
        left_.constants[name] = std::move(rounded);
        rounded_biases_[added.node] = {added.tensor, name};
    }
    static double of_kernel(const GraphValue& value, std::size_t kernel) {
        return value.numbers[value.numbers.size() == 1 ? 0 : kernel];
    }

    std::string quantise_bias(const GraphNode& product, const GraphValue& bias,
                              const std::vector<double>& weight_scales, double input) {
        const Sizes& out = before_.types.at(product.outputs.front()).sizes;
        const auto kernels = static_cast<std::size_t>(product.op == "Gemm" ? out.back() : out[1]);
        std::vector<double> scales;
        std::vector<double> integers;
        for (std::size_t k = 0; k < kernels; ++k) {
            const double weight = weight_scales[weight_scales.size() == 1 ? 0 : k];
            scales.push_back(rounded_float(input * weight));
            integers.push_back(std::clamp(std::nearbyint(of_kernel(bias, k) / scales.back()),
                                          -largest_first_bias, largest_first_bias));
        }
        const std::string name = product.outputs.front() + "_bias";
        const Sizes sizes{static_cast<std::int64_t>(kernels)};
        constant(name + "_quantized", ElementType::Int32, sizes, integers);
        constant(name + "_scale", ElementType::Float32, sizes, scales);
        constant(name + "_zero_point", ElementType::Int32, sizes, std::vector<double>(kernels, 0));
        node("DequantizeLinear", name + "_quantized", {name + "_scale", name + "_zero_point"},
             name + "_dequantized")
            .attributes["axis"] = std::int64_t{0};
        biases_.push_back({product.outputs.front(), raw_of(product.outputs.front()),
                           name + "_quantized", scales});
        return name + "_dequantized";
    }

    const Graph& before_;
    const Places& places_;
    const std::vector<Grid>& grids_;
    ElementType type_;
    Graph left_;
    std::set<std::string> from_integers_;                      ///< tensors available as integers
    std::map<std::string, std::vector<std::size_t>> readers_;  ///< nodes, by tensor
    std::map<std::size_t, std::pair<std::string, std::string>>
        rounded_biases_;  ///< by node that adds one: its name, and that of the rounded one
    std::vector<QuantisedBias> biases_;
    std::vector<std::pair<std::string, std::string>> same_;
};

}  // namespace

QuantisedGraph insert_quantisers(const Graph& graph, const Places& places,
                                 const std::vector<Grid>& grids, ElementType type) {
    return Inserter(graph, places, grids, type).run();
}

}  // namespace npuscope
