// SPDX-License-Identifier: Apache-2.0
// Operators that select and reorder elements.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

/// Begin, end and step of Slice along one axis, as ONNX clamps them.
struct SliceAxis {
    std::int64_t begin = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;
};
SliceAxis slice_axis(std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t size) {
    require(step != 0 && std::abs(step) <= most_elements,
            fmt::format("{} is not a valid step", step), "steps must be non-zero integers");
    const auto clamped = [size](std::int64_t at, std::int64_t low, std::int64_t high) {
        return std::clamp(at < 0 ? std::max(at, -2 * size - 2) + size : at, low, high);
    };
    const std::int64_t first = step > 0 ? clamped(begin, 0, size) : clamped(begin, 0, size - 1);
    const std::int64_t last = step > 0 ? clamped(end, 0, size) : clamped(end, -1, size - 1);
    const std::int64_t reach = step > 0 ? last - first : first - last;
    const std::int64_t width = std::abs(step);
    return {first, step, reach <= 0 ? 0 : (reach + width - 1) / width};
}

Sizes padded_sizes(const Sizes& in, const std::vector<std::int64_t>& pads,
                   const std::string& mode) {
    require(mode == "constant" || mode == "reflect" || mode == "edge",
            fmt::format("mode '{}' is not supported", mode), "use constant, reflect or edge");
    require(pads.size() == 2 * in.size(), "its paddings have a wrong length",
            "give a beginning and an end for every axis");
    Sizes out = in;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::int64_t begin = pads[i];
        const std::int64_t end = pads[i + in.size()];
        require(begin >= -most_elements && begin <= most_elements && end >= -most_elements &&
                    end <= most_elements,
                "a padding is too large", "take less");
        out[i] += begin + end;
        require(mode != "reflect" || std::max(begin, end) < in[i],
                "its reflection padding is larger than the input", "take less padding");
        require(out[i] >= 0 && (in[i] > 0 || mode == "constant"), "its result is empty",
                "crop less");
    }
    return out;
}

/// Source index of a position on the padded axis; -1: the constant.
std::int64_t padded_source(std::int64_t place, std::int64_t size, const std::string& mode) {
    if (place >= 0 && place < size) {
        return place;
    }
    if (mode == "constant") {
        return -1;
    }
    if (mode == "edge") {
        return std::clamp<std::int64_t>(place, 0, size - 1);
    }
    return place < 0 ? -place : 2 * (size - 1) - place;
}

Values transpose(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const std::size_t rank = input.type.sizes.size();
    std::vector<std::int64_t> order = operands.node.integers("perm");
    if (order.empty()) {
        for (std::size_t i = rank; i-- > 0;) {
            order.push_back(static_cast<std::int64_t>(i));
        }
    }
    std::vector<bool> seen(rank, false);
    require(order.size() == rank, "attribute 'perm' has a wrong length",
            "list every axis exactly once");
    const std::vector<std::size_t> steps = steps_of(input.type.sizes);
    Sizes sizes;
    std::vector<std::size_t> moved;
    for (const std::int64_t axis : order) {
        const std::size_t index = axis_index(axis, rank);
        require(!seen[index], "attribute 'perm' names an axis twice", "name every axis once");
        seen[index] = true;
        sizes.push_back(input.type.sizes[index]);
        moved.push_back(steps[index]);
    }
    return {pick(input, sizes, 0, [&](const auto& at) { return index_of(at, moved); })};
}

Values concat(const Operands& operands) {
    const std::size_t axis = axis_index(operands.node.integer("axis", 1), operands.sizes(0).size());
    Sizes sizes = operands.sizes(0);
    sizes[axis] = 0;
    for (std::size_t i = 0; i < operands.values.size(); ++i) {
        Sizes own = operands.sizes(i);
        require(own.size() == sizes.size(), "its inputs have different ranks",
                "give all inputs the same rank");
        sizes[axis] += own[axis];
        own[axis] = operands.sizes(0)[axis];
        require(own == operands.sizes(0),
                fmt::format("{} and {} do not match", sizes_text(operands.sizes(0)),
                            sizes_text(operands.sizes(i))),
                "only the size along the axis may differ");
    }
    GraphValue result = zeros({operands.element(0), sizes});
    const std::size_t row = steps_of(sizes)[axis] * unsigned_of(sizes[axis]);
    std::size_t offset = 0;
    for (std::size_t i = 0; i < operands.values.size(); ++i) {
        const GraphValue& part = operands.at(i);
        const std::size_t own =
            steps_of(part.type.sizes)[axis] * unsigned_of(part.type.sizes[axis]);
        for (std::size_t k = 0; k < part.numbers.size(); ++k) {
            result.numbers[k / own * row + offset + k % own] = part.numbers[k];
        }
        offset += own;
    }
    return {std::move(result)};
}

/// Beginnings and ends for all axes; an operand may name those that are padded.
std::vector<std::int64_t> pads_of(const Operands& operands) {
    std::vector<std::int64_t> pads = listed(operands, 1, "pads");
    if (!operands.has(3)) {
        return pads;
    }
    const std::vector<std::int64_t> axes = integers_of(operands.at(3));
    const std::size_t rank = operands.sizes(0).size();
    require(pads.size() == 2 * axes.size(), "the length of its pads does not match its axes",
            "give a begin and an end value for each of its axes");
    std::vector<std::int64_t> all(2 * rank, 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t axis = axis_index(axes[i], rank);
        all[axis] = pads[i];
        all[axis + rank] = pads[i + axes.size()];
    }
    return all;
}

Values pad(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    const std::string mode = operands.node.text("mode", "constant");
    const std::vector<std::int64_t> pads = pads_of(operands);
    const Sizes out = padded_sizes(in, pads, mode);
    const double fill_with = operands.has(2)
                                 ? scalar_of(operands.at(2), "value")
                                 : (operands.opset < 11 ? operands.node.number("value", 0) : 0);
    const std::vector<std::size_t> steps = steps_of(in);
    return {pick(input, out, fill_with, [&](const auto& at) {
        std::vector<std::int64_t> source(at);
        for (std::size_t i = 0; i < in.size(); ++i) {
            source[i] = padded_source(source[i] - pads[i], in[i], mode);
            if (source[i] < 0) {
                return std::int64_t{-1};
            }
        }
        return index_of(source, steps);
    })};
}

/// To other sizes along some axes, with the middle of the input in the middle of the result.
Values crop_or_pad(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    const Sizes wanted = integers_of(operands.at(1));
    const Sizes axes = operands.node.integers("axes");
    require(wanted.size() == (operands.node.has("axes") ? axes.size() : in.size()),
            fmt::format("it has {} sizes", wanted.size()), "give one for each axis");
    Sizes out = in;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        out[axes.empty() ? i : axis_index(axes[i], in.size())] = wanted[i];
    }
    count_elements(out, most_made_elements);
    const std::vector<std::size_t> steps = steps_of(in);
    return {pick(input, out, 0, [&](std::vector<std::int64_t> at) {
        for (std::size_t i = 0; i < in.size(); ++i) {
            at[i] += out[i] < in[i] ? (in[i] - out[i]) / 2 : -((out[i] - in[i]) / 2);
            if (at[i] < 0 || at[i] >= in[i]) {
                return std::int64_t{-1};
            }
        }
        return index_of(at, steps);
    })};
}

Values slice(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    const auto begins = listed(operands, 1, "starts");
    const auto ends = listed(operands, 2, "ends");
    const auto axes = listed(operands, 3, "axes");
    const auto strides = operands.has(4) ? integers_of(operands.at(4)) : Sizes{};
    require(begins.size() == ends.size() && (axes.empty() || axes.size() == begins.size()) &&
                (strides.empty() || strides.size() == begins.size()) && begins.size() <= in.size(),
            "starts, ends, axes and steps differ in length", "give as many of each");
    std::vector<SliceAxis> slices;
    for (const std::int64_t size : in) {
        slices.push_back({0, 1, size});
    }
    for (std::size_t i = 0; i < begins.size(); ++i) {
        const std::size_t axis = axes.empty() ? i : axis_index(axes[i], in.size());
        slices[axis] = slice_axis(begins[i], ends[i], strides.empty() ? 1 : strides[i], in[axis]);
    }
    Sizes out;
    for (const SliceAxis& axis : slices) {
        out.push_back(axis.count);
    }
    const std::vector<std::size_t> steps = steps_of(in);
    return {pick(input, out, 0, [&](std::vector<std::int64_t> at) {
        for (std::size_t i = 0; i < at.size(); ++i) {
            at[i] = slices[i].begin + at[i] * slices[i].step;
        }
        return index_of(at, steps);
    })};
}

Values split(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const std::size_t axis = axis_index(operands.node.integer("axis", 0), input.type.sizes.size());
    const std::int64_t size = input.type.sizes[axis];
    std::vector<std::int64_t> parts = listed(operands, 1, "split");
    const auto count = static_cast<std::int64_t>(operands.node.outputs.size());
    for (std::int64_t i = 0; parts.size() < operands.node.outputs.size(); ++i) {
        const std::int64_t width = (size + count - 1) / count;
        parts.push_back(std::clamp<std::int64_t>(size - i * width, 0, width));
    }
    Values results;
    std::int64_t begin = 0;
    const std::vector<std::size_t> steps = steps_of(input.type.sizes);
    for (const std::int64_t part : parts) {
        require(part >= 0 && part <= size - begin, "its parts do not fit its input",
                "make the parts add up to the size of the axis");
        Sizes out = input.type.sizes;
        out[axis] = part;
        results.push_back(pick(input, out, 0, [&](std::vector<std::int64_t> at) {
            at[axis] += begin;
            return index_of(at, steps);
        }));
        begin += part;
    }
    require(begin == size && std::ssize(parts) == count, "its parts do not fit its input",
            "make the parts add up to the size of the axis, with one output for each part");
    return results;
}

Values gather(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    const std::size_t axis = axis_index(operands.node.integer("axis", 0), in.size());
    const GraphValue& indices = operands.at(1);
    Sizes out(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(axis));
    out.insert(out.end(), indices.type.sizes.begin(), indices.type.sizes.end());
    out.insert(out.end(), in.begin() + static_cast<std::ptrdiff_t>(axis) + 1, in.end());
    const std::size_t inner = steps_of(in)[axis];
    const std::size_t chosen = indices.numbers.size();
    const auto size = unsigned_of(in[axis]);
    return {fill({input.type.element, out}, [&](std::size_t i) {
        const std::int64_t index = to_integer(indices.numbers[i / inner % chosen]);
        return input
            .numbers[(i / inner / chosen * size + axis_index(index, size)) * inner + i % inner];
    })};
}

ValueRange joined_range(const RangeOperands& operands) {
    return combined_range(operands, join_ranges);
}

ValueRange padded_range(const RangeOperands& operands) {
    ValueRange values = operands.at(0);
    const GraphValue* constant = operands.graph.constant(operands.node.input(2));
    const double padding =
        constant != nullptr ? constant->numbers.front() : operands.node.number("value", 0);
    values.whole = values.whole && padding == std::trunc(padding);
    values.range = join_ranges(values.range, {padding, padding});
    return values;
}

/// Blocks of b x b positions in a plane, and as many channels.
std::int64_t block_size(const Operands& operands) {
    const std::int64_t block = operands.node.integer("blocksize", 0);
    require(operands.sizes(0).size() == 4, "its input does not have four dimensions",
            "give it N C H W");
    require(block >= 1 && block <= 64, fmt::format("a block size of {} is not supported", block),
            "attribute 'blocksize' must be 1 to 64");
    return block;
}

Values depth_to_space(const Operands& operands) {
    const std::int64_t block = block_size(operands);
    const Sizes& in = operands.sizes(0);
    require(in[1] % (block * block) == 0,
            fmt::format("the number of channels, {}, does not divide into blocks", in[1]),
            "the number of channels must be a multiple of the block size squared");
    const Sizes out{in[0], in[1] / block / block, in[2] * block, in[3] * block};
    const std::string mode = operands.node.text("mode", "DCR");
    require(mode == "DCR" || mode == "CRD", fmt::format("mode '{}' is not known", mode),
            "DCR or CRD");
    const bool places_first = mode == "DCR";
    const std::vector<std::size_t> steps = steps_of(in);
    return {pick(operands.at(0), out, 0, [&](const auto& at) {
        const std::int64_t place = at[2] % block * block + at[3] % block;
        const std::int64_t channel =
            places_first ? place * out[1] + at[1] : at[1] * block * block + place;
        return index_of({at[0], channel, at[2] / block, at[3] / block}, steps);
    })};
}

Values space_to_depth(const Operands& operands) {
    const std::int64_t block = block_size(operands);
    const Sizes& in = operands.sizes(0);
    require(in[2] % block == 0 && in[3] % block == 0,
            fmt::format("{} does not divide into blocks of {}", sizes_text(in), block),
            "height and width must be multiples of the block size");
    const Sizes out{in[0], in[1] * block * block, in[2] / block, in[3] / block};
    const std::vector<std::size_t> steps = steps_of(in);
    return {pick(operands.at(0), out, 0, [&](const auto& at) {
        const std::int64_t place = at[1] / in[1];
        return index_of(
            {at[0], at[1] % in[1], at[2] * block + place / block, at[3] * block + place % block},
            steps);
    })};
}

}  // namespace

std::span<const OperatorRow> moving_operators() {
    static constexpr std::array rows{
        row("DepthToSpace", {1, 1}, depth_to_space) | attributes("blocksize mode") | moves,
        row("SpaceToDepth", {1, 1}, space_to_depth) | attributes("blocksize") | moves,
        row("Transpose", {1, 1}, transpose) | attributes("perm") | moves,
        row("Concat", {.least = 1}, concat) | same_types | attributes("axis") |
            ranging(joined_range),
        row("Pad", {1, 4}, pad) | attributes("mode pads value") | sized_by(1, 2, 3) |
            takes_infinity | ranging(padded_range),
        row("CenterCropPad", {2, 2}, crop_or_pad) | attributes("axes") | sized_by(1) |
            ranging(range_of_first_or_zero),
        row("Slice", {1, 5}, slice) | attributes("axes ends starts") | sized_by(1, 2, 3, 4) | moves,
        row("Split", {1, 2}, split) | attributes("axis num_outputs split") | sized_by(1) | moves,
        row("Gather", {2, 2}, gather) | attributes("axis") | moves};
    return rows;
}

}  // namespace npuscope::host
