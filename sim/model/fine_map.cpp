// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

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
    const bool can = lies_by_rows(form) ? dilations.empty() || dilations[0] == 1
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
        double_rows(layer.anchor,
                    conv_window(layer.anchor, form.input.sizes, {sizes[2], sizes[3]}));
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
