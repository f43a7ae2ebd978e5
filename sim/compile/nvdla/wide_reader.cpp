// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "sim/compile/nvdla/wide_layer.h"
#include "sim/compile/surface_files.h"
#include "sim/model/candidate.h"
#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

bool is_floor(double low) { return low == 0; }

class WideReader {
 public:
    WideReader(const GraphView& view, std::size_t anchor, Precision precision)
        : view_(view), node_(view.node(anchor)), precision_(precision) {
        group_.anchor = anchor;
        group_.nodes = {anchor};
    }

    std::optional<NodeGroup> read() {
        const bool found = precision_ == Precision::Fp16 ? read_floats() : read_integers();
        if (!found) {
            return std::nullopt;
        }
        group_.lowered = std::move(wide_);
        return std::move(group_);
    }

 private:
    const GraphValue* constant(const std::string& tensor) const {
        return view_.graph().constant(tensor);
    }
    ElementType element(const std::string& tensor) const {
        return view_.graph().types.at(tensor).element;
    }
    bool is_map(const std::string& tensor) const {
        return !tensor.empty() && constant(tensor) == nullptr &&
               element(tensor) == map_element(precision_);
    }
    void complain(std::string problem) {
        if (wide_.problem.empty()) {
            wide_.problem = std::move(problem);
        }
    }

    // --- 16-bit floats ---

    bool read_floats() {
        if (node_.inputs.empty() || node_.outputs.size() != 1 || !is_map(node_.inputs[0])) {
            return false;
        }
        const std::string& op = node_.op;
        end_at(node_.outputs[0]);
        if (op == "Conv" || op == "Gemm" || op == "MatMul") {
            return read_product();
        }
        if (op == "MaxPool") {
            wide_.kind = LayerKind::MaxPool;
            wide_.window = pool_window(node_, view_.sizes(node_.inputs[0]));
            return take_map(node_.inputs[0]);
        }
        if (op == "AveragePool" || op == "GlobalAveragePool") {
            return read_average();
        }
        if (op == "Add" && is_map(node_.inputs[1]) &&
            view_.sizes(node_.inputs[0]) == view_.sizes(node_.inputs[1])) {
            wide_.kind = LayerKind::Add;
            take_activation();
            return take_map(node_.inputs[0]) && take_map(node_.inputs[1]);
        }
        return false;
    }

    bool read_product() {
        const GraphValue* weights = constant(node_.inputs[1]);
        if (weights == nullptr) {
            return false;
        }
        if (node_.op == "Conv") {
            const Sizes& sizes = weights->type.sizes;
            wide_.groups = node_.integer("group", 1);
            wide_.window =
                conv_window(node_, view_.sizes(node_.inputs[0]), {sizes.begin() + 2, sizes.end()});
            wide_.weights = weights->numbers;
        } else if (weights->type.sizes.size() != 2 || node_.integer("transA", 0) != 0 ||
                   node_.number("alpha", 1) != 1 || node_.number("beta", 1) != 1) {
            return false;
        } else {
            wide_.kind = LayerKind::Fc;  // [K C]
            const bool turned = node_.op == "Gemm" && node_.integer("transB", 0) != 0;
            wide_.weights = turned ? weights->numbers : transposed(*weights).numbers;
        }
        if (!node_.input(2).empty()) {
            take_bias(constant(node_.input(2)));
        }
        if (node_.op == "MatMul") {
            take_added_bias();
        }
        take_activation();
        return take_map(node_.inputs[0]);
    }

    void take_bias(const GraphValue* bias) {
        const Sizes& out = view_.sizes(node_.outputs[0]);
        const std::int64_t kernels = wide_.kind == LayerKind::Fc ? out.back() : out[1];
        if (bias == nullptr) {
            return complain("its bias is not constant");
        }
        const auto all = bias_of_kernels(*bias, static_cast<std::size_t>(kernels));
        if (!all) {
            return complain("its bias is not one value per kernel");
        }
        wide_.bias = *all;
    }
    void take_added_bias() {
        const auto reader = view_.only_reader(group_.output);
        if (!reader || view_.node(*reader).op != "Add") {
            return;
        }
        const GraphNode& add = view_.node(*reader);
        const GraphValue* bias = constant(add.inputs[add.inputs[0] == group_.output ? 1 : 0]);
        const bool vector =
            bias != nullptr &&
            (bias->numbers.size() == 1 || std::ssize(bias->numbers) == bias->type.sizes.back());
        if (vector && view_.sizes(add.outputs[0]) == view_.sizes(group_.output)) {
            take_bias(bias);
            join(*reader);
        }
    }
    /// A Relu, or a Clip from 0.
    void take_activation() {
        const auto reader = view_.only_reader(group_.output);
        if (!reader) {
            return;
        }
        const GraphNode& node = view_.node(*reader);
        if (node.op == "Relu") {
            wide_.relu = true;
            join(*reader);
        } else if (node.op == "Clip") {
            const auto low = limit(node, 1, "min");
            const auto high = limit(node, 2, "max");
            if (low && is_floor(*low) && wide_.kind != LayerKind::Add) {
                wide_.relu = true;
                wide_.most = high;
                join(*reader);
            }
        }
    }
    std::optional<double> limit(const GraphNode& node, std::size_t input, const char* name) const {
        const GraphValue* value = constant(node.input(input));
        if (value != nullptr && value->numbers.size() == 1) {
            return value->numbers.front();
        }
        return node.has(name) ? std::optional(node.number(name, 0)) : std::nullopt;
    }
    void join(std::size_t node) {
        group_.nodes.push_back(node);
        end_at(view_.node(node).outputs[0]);
    }
    void end_at(const std::string& tensor) {
        group_.output = tensor;
        group_.cube = as_cube(view_.sizes(tensor));
    }

    bool read_average() {
        const Sizes in = as_cube(view_.sizes(node_.inputs[0]));
        if (in.size() != 4) {
            return false;
        }
        if (node_.op == "GlobalAveragePool") {
            wide_.window.axes = {WindowAxis{in[2], 1, in[2]}, WindowAxis{in[3], 1, in[3]}};
        } else {
            wide_.window = pool_window(node_, view_.sizes(node_.inputs[0]));
            if (node_.integer("ceil_mode", 0) != 0 ||
                (has_padding(node_) && node_.integer("count_include_pad", 0) == 0)) {
                complain("its windows are not all of one size");
            }
        }
        wide_.groups = in[1];
        const std::int64_t area = wide_.window.kernel_area();
        wide_.weights.assign(static_cast<std::size_t>(in[1] * area), 1 / static_cast<double>(area));
        return take_map(node_.inputs[0]);
    }

    // --- 16-bit integers ---

    bool read_integers() {
        if (node_.op == "Add") {
            return read_integer_sum();
        }
        const std::optional<QuantisedLayer> layer = read_quantised_layer(view_, group_.anchor);
        if (!layer || layer->input.empty() || !is_map(layer->input)) {
            return false;
        }
        complain_of(*layer);
        group_.nodes.insert(group_.nodes.end(), layer->after.begin(), layer->after.end());
        end_at(layer->output);
        take_limits(layer->low, layer->high);
        if (!wide_.problem.empty()) {
            return take_map(layer->input);
        }
        if (layer->is_pool) {
            wide_.kind = LayerKind::MaxPool;
            wide_.window = pool_window(node_, view_.sizes(layer->input));
            return take_map(layer->input);
        }
        wide_.factors = layer->factors;
        wide_.bias = layer->bias;
        if (layer->is_conv) {
            const Sizes& sizes = layer->weights.type.sizes;
            wide_.groups = layer->anchor.integer("group", 1);
            wide_.window = conv_window(layer->anchor, view_.sizes(layer->input),
                                       {sizes.begin() + 2, sizes.end()});
            wide_.weights = layer->weights.numbers;
        } else {
            wide_.kind = LayerKind::Fc;
            wide_.weights = transposed(layer->weights).numbers;
        }
        return take_map(layer->input);
    }
    void complain_of(const QuantisedLayer& layer) {
        if (!layer.obstacle.empty()) {
            complain(layer.obstacle);
        } else if (layer.is_transposed) {
            complain("16-bit transposed convolutions are not supported by the planner");
        } else if (layer.input_zero != 0 || layer.output_zero != 0 ||
                   layer.output_type != ElementType::Int16) {
            complain("16-bit feature maps must be signed, with zero point 0");
        }
    }
    /// Saturation clips from above.
    void take_limits(double low, double high) {
        wide_.relu = is_floor(low);
        if ((!wide_.relu && low > -largest_wide) || high < largest_wide) {
            complain(fmt::format("it clips to codes from {} to {}", low, high));
        }
    }

    bool read_integer_sum() {
        const auto a = dequantised(view_, node_.inputs[0]);
        const auto b = dequantised(view_, node_.inputs[1]);
        const auto end = requantised(view_, node_.outputs[0]);
        if (!a || !b || !end || !is_map(a->tensor) || !is_map(b->tensor) ||
            view_.sizes(a->tensor) != view_.sizes(b->tensor)) {
            return false;
        }
        group_.nodes.insert(group_.nodes.end(), end->nodes.begin(), end->nodes.end());
        end_at(end->output);
        take_limits(end->low, end->high);
        if (end->zero != 0 || a->zeros.front() != 0 || b->zeros.front() != 0 ||
            a->scales.size() != 1 || b->scales.size() != 1 || end->type != ElementType::Int16) {
            complain("16-bit feature maps must be signed, with one scale and zero point 0");
        }
        wide_.kind = LayerKind::Add;
        wide_.first = a->scales.front() / end->scale;
        wide_.second = b->scales.front() / end->scale;
        const bool swapped = wide_.first < wide_.second;
        if (swapped) {
            std::swap(wide_.first, wide_.second);
        }
        return take_map(swapped ? b->tensor : a->tensor) &&
               take_map(swapped ? a->tensor : b->tensor);
    }

    bool take_map(const std::string& map) {
        CubeRead read{map, as_cube(view_.sizes(map))};
        if (wide_.kind == LayerKind::Fc) {
            const Sizes& sizes = view_.sizes(map);
            const auto inner = sizes.empty() ? 1 : sizes.back();
            const auto rows = static_cast<std::int64_t>(count_elements(sizes)) / inner;
            group_.cube = {rows, view_.sizes(group_.output).back(), 1, 1};
            read = flattened_cube(view_, {map, {rows, inner, 1, 1}});
        }
        if (read.cube.size() != 4) {
            return false;
        }
        group_.reads.push_back({read.tensor, read.cube, group_.anchor});
        return true;
    }

    const GraphView& view_;
    const GraphNode& node_;
    Precision precision_;
    NodeGroup group_;
    WideGroup wide_;
};

}  // namespace

Precision map_precision(const Graph& graph) {
    std::set<std::string> dequantised;  // maps of integers, whose layers are read as such
    for (const GraphNode& node : graph.nodes) {
        if (node.op == "DequantizeLinear") {
            dequantised.insert(node.outputs.front());
        }
        const bool has_input = !node.inputs.empty() && !graph.is_constant(node.inputs[0]) &&
                               graph.types.contains(node.inputs[0]);
        if (!has_input) {
            continue;
        }
        const ElementType element = graph.types.at(node.inputs[0]).element;
        if (node.op == "DequantizeLinear" && element == ElementType::Int16) {
            return Precision::Int16;
        }
        if ((node.op == "Conv" || node.op == "Gemm" || node.op == "MatMul") &&
            element == ElementType::Float16 && !dequantised.contains(node.inputs[0])) {
            return Precision::Fp16;
        }
    }
    return Precision::Int8;
}

std::optional<NodeGroup> wide_group_at(const GraphView& model, std::size_t anchor,
                                       Precision precision) {
    std::optional<NodeGroup> group = WideReader(model, anchor, precision).read();
    if (group) {
        const auto& wide = std::any_cast<const WideGroup&>(group->lowered);
        group->pattern = wide.kind == LayerKind::Conv      ? "CONV"
                         : wide.kind == LayerKind::Fc      ? "FC"
                         : wide.kind == LayerKind::MaxPool ? "MAXPOOL"
                                                           : "ADD";
    }
    return group;
}

bool is_wide_group(const NodeGroup& group) {
    return std::any_cast<WideGroup>(&group.lowered) != nullptr;
}

}  // namespace npuscope
