// SPDX-License-Identifier: Apache-2.0
#include "sim/model/convolved_form.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/model/graph_edit.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/window.h"

namespace npuscope {

GraphNode& NodeChain::add(const std::string& op, const std::string& input, const std::string& part,
                          const TensorType& type) {
    const std::string name = name_ + '/' + part;
    types_[name + "_y"] = type;
    return nodes_.emplace_back(GraphNode{op, name, {input}, {name + "_y"}, {}});
}

NodeChain& NodeChain::with(const std::string& part, const std::vector<std::int64_t>& numbers) {
    return with(part, integer_list(numbers));
}

NodeChain& NodeChain::with(const std::string& part, GraphValue value) {
    const std::string tensor = nodes_.back().name + '/' + part;
    constants_[tensor] = std::move(value);
    nodes_.back().inputs.push_back(tensor);
    return *this;
}

void NodeChain::end_as(const std::string& tensor) {
    types_.erase(nodes_.back().outputs.front());
    nodes_.back().outputs = {tensor};
}

GraphNode& NodeChain::transpose(const std::string& input, const std::string& part,
                                const TensorType& type, const std::vector<std::int64_t>& perm) {
    GraphNode& node = add("Transpose", input, part, type);
    node.attributes["perm"] = perm;
    return node;
}

GraphNode& NodeChain::reshape(const std::string& input, const std::string& part,
                              const TensorType& type) {
    GraphNode& node = add("Reshape", input, part, type);
    with("shape", type.sizes);
    return node;
}

std::vector<GraphNode> NodeChain::finish(Graph& graph) {
    graph.constants.merge(constants_);
    graph.types.merge(types_);
    return std::move(nodes_);
}

std::vector<double> repeated(const std::vector<double>& numbers, std::int64_t times) {
    std::vector<double> all;
    for (const double number : numbers) {
        all.insert(all.end(), static_cast<std::size_t>(times), number);
    }
    return all;
}

std::vector<double> repeated_scales(const std::vector<double>& scales, std::int64_t times) {
    return scales.size() == 1 ? scales : repeated(scales, times);
}

void spread_blocks(NodeChain& chain, const std::string& blocks, const TensorType& result,
                   const BlockAxis& y, const BlockAxis& x) {
    const std::int64_t batch = result.sizes[0];
    const std::int64_t kernels = result.sizes[1];
    const TensorType whole{result.element, {batch, kernels, y.whole, x.whole}};
    if (y.places == x.places) {
        GraphNode& spread = chain.add("DepthToSpace", blocks, "spread", whole);
        spread.attributes["blocksize"] = y.places;
        spread.attributes["mode"] = std::string("CRD");
    } else {
        const Sizes planes{batch * kernels, y.places, x.places, y.whole / y.places,
                           x.whole / x.places};
        const Sizes turned{planes[0], planes[3], planes[1], planes[4], planes[2]};
        chain.reshape(blocks, "places", {result.element, planes});
        chain.transpose(chain.last(), "turn", {result.element, turned}, {0, 3, 1, 4, 2});
        chain.reshape(chain.last(), "spread", whole);
    }
    if (y.whole != y.out || x.whole != x.out) {
        chain.add("Slice", chain.last(), "crop", result);
        chain.with("begin", {y.begin, x.begin})
            .with("end", {y.begin + y.out, x.begin + x.out})
            .with("axes", {2, 3});
    }
}

namespace {

/// Its attributes become those of a convolution with such kernels.
void set_window(GraphNode& anchor, const Sizes& kernel, const std::vector<std::int64_t>& pads) {
    anchor.attributes = {};
    anchor.attributes["kernel_shape"] = kernel;
    anchor.attributes["pads"] = pads;
}

/// The type of a graph's tensor, with other sizes.
TensorType resized(const GraphView& view, const std::string& tensor, Sizes sizes) {
    return {view.graph().types.at(tensor).element, std::move(sizes)};
}

void convolve_rows(const GraphView& view, std::int64_t rows, ConvolvedLayer& form) {
    QuantisedLayer& layer = form.layer;
    const Sizes matrix = layer.weights.type.sizes;  // C K
    const std::int64_t channels = matrix[0];
    const std::int64_t kernels = matrix[1];
    const auto of_input = [&](Sizes sizes) { return resized(view, layer.input, std::move(sizes)); };
    form.before.reshape(layer.input, "rows", of_input({1, rows, channels}));
    form.before.transpose(form.before.last(), "turn", of_input({1, channels, rows}), {0, 2, 1});
    form.before.reshape(form.before.last(), "column", of_input({1, channels, rows, 1}));

    const TensorType result = view.graph().types.at(layer.output);
    const auto of_output = [&](Sizes sizes) {
        return TensorType{result.element, std::move(sizes)};
    };
    const std::string plane = node_name(layer.anchor) + "/plane";
    form.after.reshape(plane, "results", of_output({1, kernels, rows}));
    form.after.transpose(form.after.last(), "turn_back", of_output({1, rows, kernels}), {0, 2, 1});
    form.after.reshape(form.after.last(), "stored", result);
    form.after.end_as(layer.output);

    form.input = of_input({1, channels, rows, 1});
    form.output = of_output({1, kernels, rows, 1});
    layer.weights = transposed(layer.weights);
    layer.weights.type.sizes = {kernels, channels, 1, 1};
    layer.is_conv = true;
    layer.input = form.before.last();
    layer.output = plane;
    set_window(layer.anchor, {1, 1}, {0, 0, 0, 0});
}

/// 1D sizes as those of a plane of one row.
Sizes as_row(Sizes sizes) {
    sizes.insert(sizes.begin() + 2, 1);
    return sizes;
}

/// The input of a 1D layer as a map of one row, and its kernels accordingly.
void take_row(ConvolvedLayer& form) {
    QuantisedLayer& layer = form.layer;
    form.input.sizes = as_row(form.input.sizes);
    form.before.reshape(layer.input, "row", form.input);
    layer.input = form.before.last();
    layer.weights.type.sizes = as_row(layer.weights.type.sizes);
    const std::pair<const char*, std::int64_t> of_row[] = {
        {"kernel_shape", 1}, {"strides", 1}, {"dilations", 1}, {"output_padding", 0}, {"pads", 0}};
    for (const auto& [name, number] : of_row) {
        if (layer.anchor.has(name)) {
            std::vector<std::int64_t> numbers = layer.anchor.integers(name);
            if (numbers.size() == 2) {
                numbers.insert(numbers.begin() + 1, number);  // at the end of the row
            }
            numbers.insert(numbers.begin(), number);
            layer.anchor.attributes[name] = std::move(numbers);
        }
    }
}

/// One spatial dimension of a transposed convolution.
struct Spread {
    std::int64_t stride = 1;
    std::int64_t taps = 1;   ///< of the kernel of each position
    std::int64_t size = 1;   ///< of the kernel
    std::int64_t crop = 0;   ///< results before the first kept one
    std::int64_t out = 1;    ///< results
    std::int64_t whole = 1;  ///< results before they are cropped

    explicit Spread(const WindowAxis& axis)
        : stride(axis.stride), size(axis.kernel), crop(axis.pad_begin), out(axis.out) {
        const std::int64_t reached = crop + out - (axis.in - 1) * stride;  // with output_padding
        taps = (std::max(size, reached) + stride - 1) / stride;
        whole = (axis.in + taps - 1) * stride;
    }
    /// Index of the tap in the original kernel; beyond its end if there is none.
    std::int64_t source(std::int64_t place, std::int64_t tap) const {
        return place + stride * (taps - 1 - tap);
    }
};

GraphValue spread_weights(const GraphValue& weights, std::int64_t groups, const Spread& y,
                          const Spread& x) {
    const std::int64_t channels = weights.type.sizes[0] / groups;
    const std::int64_t of_group = weights.type.sizes[1];
    const std::int64_t kernels = of_group * groups;
    const std::int64_t places = y.stride * x.stride;
    GraphValue spread = zeros({weights.type.element, {kernels * places, channels, y.taps, x.taps}});
    auto number = spread.numbers.begin();
    for (std::int64_t kernel = 0; kernel < kernels * places; ++kernel) {
        const std::int64_t k = kernel / places;
        const std::int64_t a = kernel % places / x.stride;
        const std::int64_t b = kernel % x.stride;
        for (std::int64_t c = 0; c < channels; ++c) {
            for (std::int64_t tap = 0; tap < y.taps * x.taps; ++tap, ++number) {
                const std::int64_t r = y.source(a, tap / x.taps);
                const std::int64_t s = x.source(b, tap % x.taps);
                if (r < y.size && s < x.size) {
                    const std::int64_t channel = k / of_group * channels + c;
                    const std::int64_t at =
                        ((channel * of_group + k % of_group) * y.size + r) * x.size + s;
                    *number = weights.numbers[static_cast<std::size_t>(at)];
                }
            }
        }
    }
    return spread;
}

/// Expands one group's kernel scales to all groups: weights have one per kernel of a group.
std::vector<double> of_all_groups(const std::vector<double>& factors, std::int64_t groups) {
    std::vector<double> all;
    for (std::int64_t group = 0; group < groups; ++group) {
        all.insert(all.end(), factors.begin(), factors.end());
    }
    return factors.size() == 1 ? factors : all;
}

void convolve_spread(ConvolvedLayer& form) {
    QuantisedLayer& layer = form.layer;
    const TensorType stored = form.output;
    const bool line = layer.weights.type.sizes.size() == 3 && form.input.sizes.size() == 3 &&
                      !layer.anchor.has("output_shape");
    if (line) {
        take_row(form);
        form.output.sizes = as_row(form.output.sizes);
    }
    const Sizes sizes = layer.weights.type.sizes;
    const Sizes in = form.input.sizes;
    const bool plane = sizes.size() == 4 && in.size() == 4;
    const Window window = plane ? transposed_window(layer.anchor, in, {sizes[2], sizes[3]})
                                : Window{{WindowAxis{}, WindowAxis{}}};
    const WindowAxis height = window.height();
    const WindowAxis width = window.width();
    if (!plane || height.dilation != 1 || width.dilation != 1 || height.pad_begin < 0 ||
        width.pad_begin < 0) {
        layer.obstacle =
            "a transposed convolution has no dilation and one or two spatial dimensions";
        return;
    }
    if (height.pad_end < 0 || width.pad_end < 0) {
        layer.obstacle = "its output_shape exceeds what its kernels cover";
        return;
    }
    const Spread y(height);
    const Spread x(width);
    const std::int64_t places = y.stride * x.stride;
    const std::int64_t groups = layer.anchor.integer("group", 1);
    const std::int64_t kernels = sizes[1] * groups;
    const std::int64_t products =
        static_cast<std::int64_t>(count_elements(in)) * sizes[1] * y.size * x.size;
    const bool dense = places == 1 && y.crop < y.taps && x.crop < x.taps;
    std::string blocks = layer.output;
    if (!dense || line) {
        blocks = node_name(layer.anchor) + "/blocks";
    }
    if (!dense) {
        spread_blocks(form.after, blocks, form.output, {y.stride, y.whole, y.crop, y.out},
                      {x.stride, x.whole, x.crop, x.out});
    }
    if (line) {
        form.after.reshape(dense ? blocks : form.after.last(), "line", stored);
    }
    if (!form.after.empty()) {
        form.after.end_as(layer.output);
    }
    layer.weights = spread_weights(layer.weights, groups, y, x);
    layer.bias = repeated(layer.bias, places);
    layer.factors = repeated_scales(of_all_groups(layer.factors, groups), places);
    layer.output = blocks;
    if (dense) {  // the border is cut off by less padding
        form.output.sizes = {in[0], kernels, y.out, x.out};
        const std::int64_t top = y.taps - 1 - y.crop;
        const std::int64_t left = x.taps - 1 - x.crop;
        set_window(layer.anchor, {y.taps, x.taps},
                   {top, left, y.out - in[2] + y.crop, x.out - in[3] + x.crop});
    } else {
        form.output.sizes = {in[0], kernels * places, in[2] + y.taps - 1, in[3] + x.taps - 1};
        const std::int64_t top = y.taps - 1;
        const std::int64_t left = x.taps - 1;
        set_window(layer.anchor, {y.taps, x.taps}, {top, left, top, left});
    }
    layer.anchor.attributes[macs_attribute] = products;
    if (groups != 1) {
        layer.anchor.attributes["group"] = groups;
    }
}

}  // namespace

void convolve_row(ConvolvedLayer& form) {
    QuantisedLayer& layer = form.layer;
    const std::string row = node_name(layer.anchor) + "/plane";
    take_row(form);
    form.after.reshape(row, "line", form.output);
    form.after.end_as(layer.output);
    form.output.sizes = as_row(form.output.sizes);
    layer.output = row;
}

ConvolvedLayer as_convolution(const GraphView& view, QuantisedLayer layer) {
    const std::string name = node_name(layer.anchor);
    const std::string source = layer.input;
    ConvolvedLayer form{.layer = std::move(layer),
                        .source = source,
                        .input = {},
                        .output = {},
                        .before = NodeChain(name),
                        .order = NodeChain(name + "/order"),
                        .fit = NodeChain(name),
                        .after = NodeChain(name)};
    if (!form.layer.obstacle.empty() || form.layer.is_pool) {
        return form;
    }
    form.input = view.graph().types.at(form.layer.input);
    form.output = view.graph().types.at(form.layer.output);
    if (form.layer.is_conv && form.input.sizes.size() > 4) {
        form.layer.obstacle = "its windows have three dimensions";
    } else if (form.layer.is_transposed) {
        convolve_spread(form);
    } else if (!form.layer.is_conv) {
        const auto inner = static_cast<std::size_t>(form.layer.weights.type.sizes.front());
        const std::size_t rows =
            count_elements(view.sizes(form.layer.input)) / std::max<std::size_t>(inner, 1);
        if (rows > 1) {
            convolve_rows(view, static_cast<std::int64_t>(rows), form);
        }
    }
    return form;
}

}  // namespace npuscope
