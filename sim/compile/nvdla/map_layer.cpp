// SPDX-License-Identifier: Apache-2.0
// Layers without weights: sums, products, functions and concatenations of maps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "models/base/check.h"
#include "sim/compile/nvdla/register_layer.h"
#include "sim/model/operator_parts.h"

namespace npuscope {
namespace {

/// The first stage shifts and adds the second term; the second stage adds the zero points of the
/// stored maps and divides.
void stage_even_sum(const ScaledSum& sum, std::int64_t constant, LayerNumbers& numbers) {
    numbers.constant = static_cast<std::int16_t>(constant);
    numbers.residual_shift = static_cast<unsigned>(sum.left);
    if (sum.shift == 0) {
        numbers.convertor.offset = static_cast<std::int32_t>(-sum.offset);
        return;
    }
    const auto even = even_division(static_cast<int>(sum.shift), 1);
    NPU_CHECK(even, "the sum was made for it");
    numbers.gain = static_cast<std::int16_t>(even->first);
    numbers.gain_shift = static_cast<unsigned>(sum.shift + 1);
    numbers.convertor = second_division(*even, sum.offset);
}

/// The first stage multiplies the first term, the next one shifts and adds the second term.
Layer stage_scaled_sum(const ScaledSum& sum, const NumberRange& a, const NumberRange& b) {
    Layer layer;
    layer.kind = LayerKind::Add;
    LayerNumbers& numbers = layer.numbers.emplace();
    layer.relu = sum.relu;
    if (sum.to_even) {
        const std::int64_t raised = (sum.b_zero - stored_zero(b)) * (std::int64_t{1} << sum.left);
        stage_even_sum(sum, stored_zero(a) - sum.a_zero - raised, numbers);
        return layer;
    }
    if (sum.other != 0) {
        numbers.other = {.offset = static_cast<std::int32_t>(sum.b_zero - stored_zero(b)),
                         .scale = static_cast<std::int16_t>(sum.other)};
    }
    if (sum.reads_twice) {
        numbers.first_shift = static_cast<unsigned>(sum.before);
    } else {
        numbers.constant = static_cast<std::int16_t>(stored_zero(a) - sum.a_zero);
    }
    numbers.factor = {static_cast<std::int16_t>(sum.factor)};
    numbers.residual_shift = static_cast<unsigned>(sum.left);
    numbers.gain = static_cast<std::int16_t>(sum.gain);
    const std::int64_t subtracted = sum.subtracted(stored_zero(a), stored_zero(b));
    NPU_CHECK(std::in_range<std::int32_t>(subtracted), "the sum was made for the register");
    numbers.convertor = {.offset = static_cast<std::int32_t>(subtracted),
                         .scale = static_cast<std::int16_t>(sum.scale),
                         .shift = static_cast<unsigned>(sum.shift)};
    return layer;
}

}  // namespace

Layer lower_product(const GraphView& model, std::size_t index, Diagnostics& problems) {
    const GraphNode& node = model.node(index);
    const auto a = map_range(model, node.inputs[0], index, problems);
    const auto b = map_range(model, node.inputs[1], index, problems);
    if (!a || !b) {
        return {};
    }
    const ScaledProduct product = scaled_product_of(node);
    Layer layer;
    layer.kind = LayerKind::Mul;
    layer.relu = product.relu;
    LayerNumbers& numbers = layer.numbers.emplace();
    // (a + da) (b + db) of stored numbers
    const std::int64_t da = stored_zero(*a) - product.a_zero;
    const std::int64_t db = stored_zero(*b) - product.b_zero;
    numbers.constant = static_cast<std::int16_t>(da);
    numbers.gain = static_cast<std::int16_t>(product.gain);
    if (db != 0) {
        if (!is_power_of_two(static_cast<double>(db)) || (product.relu && da != 0)) {
            problems.push_back(
                problem_at(model, index,
                           "handling the zero points of its inputs needs more than two SDP stages",
                           "quantise one of them symmetrically, or with zero point 0"));
            return {};
        }
        numbers.second_shift = static_cast<unsigned>(std::ilogb(static_cast<double>(db)));
    }
    numbers.convertor = {
        .offset = static_cast<std::int32_t>(-product.offset - da * db * product.gain),
        .scale = static_cast<std::int16_t>(product.scale),
        .shift = static_cast<unsigned>(product.shift)};
    return layer;
}

Layer lower_concat(const GraphView& model, const NodeGroup& group, Diagnostics& problems) {
    Layer layer;
    layer.kind = LayerKind::Concat;
    LayerNumbers& numbers = layer.numbers.emplace();
    const auto result = map_range(model, group.output, group.anchor, problems);
    for (const GroupRead& read : group.reads) {
        const auto map = map_range(model, read.tensor, group.anchor, problems);
        if (map && result) {
            numbers.offsets.push_back(
                static_cast<std::int16_t>(stored_zero(*result) - stored_zero(*map)));
        }
    }
    return layer;
}

std::optional<Shape> slice_begin(const GraphView& model, const GraphNode& node) {
    const auto list = [&](std::size_t input) {
        const GraphValue* value = model.graph().constant(node.input(input));
        return value == nullptr ? std::vector<double>() : value->numbers;
    };
    const std::vector<double> starts = list(1);
    const std::vector<double> axes = list(3);
    const std::vector<double> steps = list(4);
    const Sizes& in = model.sizes(node.inputs[0]);
    const bool whole_steps = std::ranges::all_of(steps, [](double step) { return step == 1; }) &&
                             (node.input(4).empty() || !steps.empty()) &&
                             (node.input(3).empty() || !axes.empty());
    if (in.size() != 4 || in[0] != 1 || starts.empty() || !whole_steps) {
        return std::nullopt;
    }
    std::array<std::int64_t, 4> begin{};
    for (std::size_t i = 0; i < starts.size() && i < begin.size(); ++i) {
        const std::size_t at = axes.empty() ? i : host::axis_index(to_integer(axes.at(i)), 4);
        const std::int64_t start = to_integer(starts[i]);
        begin.at(at) = std::clamp<std::int64_t>(start < 0 ? start + in[at] : start, 0, in[at]);
    }
    const auto size = [&](std::size_t axis) { return static_cast<std::uint32_t>(begin.at(axis)); };
    return Shape{size(1), size(2), size(3)};
}

Layer lower_slice(const GraphView& model, std::size_t index, Diagnostics& problems) {
    const GraphNode& node = model.node(index);
    map_range(model, node.inputs[0], index, problems);
    Layer layer;
    layer.kind = LayerKind::Slice;
    const Sizes& out = model.sizes(node.outputs[0]);
    layer.output = fmt::format("{}x{}x{}", out[1], out[2], out[3]);
    layer.numbers.emplace().begin = *slice_begin(model, node);
    return layer;
}

Layer lower_lookup(const GraphView& model, std::size_t index, Diagnostics& problems) {
    const GraphNode& node = model.node(index);
    const auto input = map_range(model, node.inputs[0], index, problems);
    const auto result = map_range(model, node.outputs[0], index, problems);
    if (!input || !result) {
        return {};
    }
    Layer layer;
    layer.kind = LayerKind::Lookup;
    LayerNumbers& numbers = layer.numbers.emplace();
    const std::vector<std::int64_t> codes = node.integers("codes");
    const NumberRange all = range_of(model.graph().types.at(node.inputs[0]).element);
    for (int stored = -128; stored < 128; ++stored) {
        const double number =
            std::clamp<double>(stored + stored_zero(*input), input->low, input->high);
        const std::int64_t code = codes[static_cast<std::size_t>(number - all.low)];
        numbers.table.push_back(static_cast<std::int8_t>(code - stored_zero(*result)));
    }
    return layer;
}

Layer lower_prelu(const GraphView& model, std::size_t index, Diagnostics& problems) {
    const GraphNode& node = model.node(index);
    const auto input = map_range(model, node.inputs[0], index, problems);
    if (!input) {
        return {};
    }
    const ScaledPrelu prelu = scaled_prelu_of(node);
    Layer layer;
    layer.kind = LayerKind::Lookup;
    LayerNumbers& numbers = layer.numbers.emplace();
    numbers.constant = static_cast<std::int16_t>(stored_zero(*input) - prelu.map_zero);
    numbers.gain = static_cast<std::int16_t>(prelu.gain);
    for (const std::int64_t slope : prelu.slopes) {
        numbers.factor.push_back(static_cast<std::int16_t>(slope));
    }
    numbers.factor_shift = static_cast<unsigned>(prelu.slope_shift);
    numbers.convertor = {.offset = static_cast<std::int32_t>(-prelu.offset),
                         .scale = static_cast<std::int16_t>(prelu.scale),
                         .shift = static_cast<unsigned>(prelu.shift)};
    return layer;
}

Layer lower_sum(const GraphView& model, const Sum& sum, Diagnostics& problems) {
    const auto a = map_range(model, sum.terms[0], sum.node, problems);
    const auto b = map_range(model, sum.terms[1], sum.node, problems);
    const auto result = map_range(model, sum.output, sum.clip.node, problems);
    if (!a || !b || !result) {
        return {};
    }
    const GraphNode& node = model.node(sum.node);
    if (node.op != scaled_sum_op) {
        return stage_sum(*a, *b, *result);
    }
    const ScaledSum scaled = scaled_sum_of(node);
    const bool moved = scaled.b_zero != stored_zero(*b) ||
                       (scaled.reads_twice && scaled.a_zero != stored_zero(*a));
    if (scaled.relu && !scaled.to_even && scaled.other == 0 && moved) {
        problems.push_back(problem_at(
            model, sum.node, "it clips a sum of feature maps, one of which has a zero point",
            "quantise the maps symmetrically, or remove the activation"));
    }
    return stage_scaled_sum(scaled, *a, *b);
}

}  // namespace npuscope
