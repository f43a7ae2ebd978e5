// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sim/model/graph_edit.h"
#include "sim/model/layer_sequence.h"
#include "sim/model/window.h"

namespace npuscope {
namespace {

/// Whether both maps are stored row by row, with a kernel row for each: channels could not be
/// interleaved there.
bool lies_by_rows(const ConvolvedLayer& form) {
    return form.layer.is_conv && form.layer.weights.type.sizes[1] == 1 &&
           form.input.sizes.size() == 4;
}

/// The fine map's value for every code of the map.
GraphValue eighths(ElementType element, double input_zero, const FineMap& map) {
    GraphValue codes = zeros({element, {lookup_codes}});
    const double low = range_of(element).low;
    for (std::size_t i = 0; i < codes.numbers.size(); ++i) {
        const double number = low + static_cast<double>(i) - input_zero;
        codes.numbers[i] = std::nearbyint(number / map.steps) + map.zero;
    }
    return codes;
}

/// Weights of both maps alternating, `many` of each.
std::vector<double> in_turns(const std::vector<double>& first, const std::vector<double>& second,
                             std::int64_t many) {
    std::vector<double> both;
    for (std::int64_t at = 0; at < std::ssize(first); at += many) {
        both.insert(both.end(), first.begin() + at, first.begin() + at + many);
        both.insert(both.end(), second.begin() + at, second.begin() + at + many);
    }
    return both;
}

Window window_of(const ConvolvedLayer& form) {
    const Sizes& sizes = form.layer.weights.type.sizes;
    return conv_window(form.layer.anchor, form.input.sizes, {sizes[2], sizes[3]});
}

/// Row `a * inner + b` of a map becomes row `b * outer + a`, where it has outer * inner rows.
void regroup_rows(NodeChain& chain, const std::string& input, const TensorType& map,
                  std::int64_t inner) {
    const Sizes& sizes = map.sizes;
    const std::int64_t outer = sizes[2] / inner;
    const TensorType grid{map.element, {sizes[0], sizes[1], outer, inner, sizes[3]}};
    const TensorType turned{map.element, {sizes[0], sizes[1], inner, outer, sizes[3]}};
    chain.reshape(input, "groups", grid);
    chain.transpose(chain.last(), "turn_groups", turned, {0, 1, 3, 2, 4});
    chain.reshape(chain.last(), "regrouped", map);
}

/// Windows with dilated rows become windows of adjacent ones: rows that have the same place within
/// a dilation are stored together, one such group after the other. Windows that reach from one
/// group into the next compute rows beyond the result, which are cut off.
void undilate_rows(ConvolvedLayer& form) {
    QuantisedLayer& layer = form.layer;
    const Window window = window_of(form);
    const WindowAxis height = window.height();
    const WindowAxis width = window.width();
    const std::int64_t step = height.dilation;
    const std::int64_t padded = height.in + height.pad_begin + height.pad_end;
    const std::int64_t rows = (padded + step - 1) / step * step;
    if (rows != height.in) {
        form.input.sizes[2] = rows;
        form.before.add("Pad", layer.input, "pad_rows", form.input);
        form.before
            .with("pads", {0, 0, height.pad_begin, 0, 0, 0, rows - height.in - height.pad_begin, 0})
            .with("value", scalar_value(form.input.element, layer.input_zero));
        layer.input = form.before.last();
    }
    regroup_rows(form.before, layer.input, form.input, step);
    layer.input = form.before.last();

    const std::string result = layer.output;
    TensorType map{form.output.element,
                   {form.input.sizes[0], layer.weights.type.sizes[0], rows, width.out}};
    layer.output = node_name(layer.anchor) + "/groups";
    regroup_rows(form.order, layer.output, map, rows / step);
    map.sizes[2] = height.out;
    form.order.add("Slice", form.order.last(), "rows", map);
    form.order.with("begin", {0}).with("end", {height.out}).with("axes", {2});
    form.order.end_as(result);

    layer.anchor.attributes.erase("auto_pad");
    layer.anchor.attributes["dilations"] = std::vector<std::int64_t>{1, width.dilation};
    layer.anchor.attributes["pads"] =
        std::vector<std::int64_t>{0, width.pad_begin, height.kernel - 1, width.pad_end};
}

/// Doubles the windows' vertical step, over the rows of both maps.
void double_rows(GraphNode& anchor, const Window& window) {
    const WindowAxis height = window.height();
    const WindowAxis width = window.width();
    anchor.attributes.erase("auto_pad");
    anchor.attributes["kernel_shape"] = std::vector<std::int64_t>{2 * height.kernel, width.kernel};
    anchor.attributes["strides"] = std::vector<std::int64_t>{2 * height.stride, width.stride};
    anchor.attributes["pads"] = std::vector<std::int64_t>{2 * height.pad_begin, width.pad_begin,
                                                          2 * height.pad_end, width.pad_end};
}

}  // namespace

std::optional<FineMap> fine_map(const ConvolvedLayer& form) {
    const GraphNode& anchor = form.layer.anchor;
    if (!form.layer.obstacle.empty() || form.layer.is_pool || !is_byte(form.input.element)) {
        return std::nullopt;
    }
    const auto dilations = anchor.integers("dilations");
    const auto strides = anchor.integers("strides");
    const bool adjacent = dilations.empty() || dilations[0] == 1;
    const bool every = strides.empty() || strides[0] == 1;
    const bool can = lies_by_rows(form) ? adjacent || every
                                        : !form.layer.is_conv || anchor.integer("group", 1) == 1;
    if (!can) {
        return std::nullopt;
    }
    FineMap map;
    // the eighth of the lowest code is the lowest value stored
    const double low = range_of(form.input.element).low;
    map.zero = low == 0 ? std::ceil(form.layer.input_zero / map.steps) : 0;
    return map;
}

void read_both(ConvolvedLayer& form, const FineMap& map, const std::vector<double>& fine) {
    QuantisedLayer& layer = form.layer;
    Sizes& sizes = layer.weights.type.sizes;
    const bool by_rows = lies_by_rows(form);
    if (by_rows && window_of(form).height().dilation != 1) {
        undilate_rows(form);
    }
    const auto axis = by_rows ? 3 : layer.is_conv ? 1 : std::ssize(form.input.sizes) - 1;
    GraphNode& table = form.before.add(lookup_op, layer.input, "eighths", form.input);
    table.attributes = lookup_node(eighths(form.input.element, layer.input_zero, map)).attributes;
    const std::string second = form.before.last();
    TensorType both = form.input;
    both.sizes[static_cast<std::size_t>(axis)] *= 2;
    GraphNode& join = form.before.add("Concat", layer.input, "both", both);
    join.inputs.push_back(second);
    join.attributes["axis"] = static_cast<std::int64_t>(axis);
    std::int64_t many = std::ssize(layer.weights.numbers);
    if (by_rows) {
        both.sizes[2] *= 2;
        both.sizes[3] /= 2;
        form.before.reshape(form.before.last(), "rows_of_both", both);
        double_rows(layer.anchor, window_of(form));
        many = sizes[3];
        sizes[2] *= 2;
    } else if (layer.is_conv) {
        many /= sizes[0];
        sizes[1] *= 2;
    } else {
        sizes[0] *= 2;
    }
    layer.weights.numbers = in_turns(layer.weights.numbers, fine, many);
    layer.input = form.before.last();
    form.input = both;
}

}  // namespace npuscope
