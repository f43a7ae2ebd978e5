// SPDX-License-Identifier: Apache-2.0
// Operators whose result sizes depend on values: they are evaluated if those are constants.
// source: ONNX operator definitions, opset 9 to 24
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

GraphValue integers(const Sizes& sizes, const std::vector<std::size_t>& numbers) {
    return fill({ElementType::Int64, sizes},
                [&](std::size_t i) { return static_cast<double>(numbers[i]); });
}
std::int64_t count_of(const std::vector<std::size_t>& list) { return std::ssize(list); }

/// Where the numbers are not 0.
std::vector<std::size_t> non_zero_places(const std::vector<double>& numbers) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] != 0) {
            found.push_back(i);
        }
    }
    return found;
}

/// The positions of numbers other than 0: one row per dimension.
Values non_zero(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const std::vector<std::size_t> found = non_zero_places(input.numbers);
    const Sizes& sizes = input.type.sizes;
    const std::vector<std::size_t> steps = steps_of(sizes);
    return {fill({ElementType::Int64, {std::ssize(sizes), count_of(found)}}, [&](std::size_t i) {
        const std::size_t axis = i / found.size();
        return static_cast<double>(found[i % found.size()] / steps[axis] %
                                   unsigned_of(sizes[axis]));
    })};
}

/// Slices of a tensor along an axis.
GraphValue slices_of(const GraphValue& input, std::size_t axis,
                     const std::vector<std::size_t>& chosen) {
    Sizes out = input.type.sizes;
    out[axis] = count_of(chosen);
    const std::vector<std::size_t> steps = steps_of(input.type.sizes);
    return pick(input, out, 0, [&](std::vector<std::int64_t> at) {
        at[axis] = static_cast<std::int64_t>(chosen[unsigned_of(at[axis])]);
        return index_of(at, steps);
    });
}

/// As one dimension.
GraphValue flat(const GraphValue& value) {
    return {{value.type.element, {std::ssize(value.numbers)}}, value.numbers};
}

// operands: data, condition
Values compress(const Operands& operands) {
    const bool whole = !operands.node.has("axis");
    const GraphValue input = whole ? flat(operands.at(0)) : operands.at(0);
    const std::size_t axis = axis_index(operands.node.integer("axis", 0), input.type.sizes.size());
    const auto& condition = operands.at(1).numbers;
    require(std::ssize(condition) <= input.type.sizes[axis],
            fmt::format("a condition of {} exceeds its axis of {}", condition.size(),
                        input.type.sizes[axis]),
            "give at most one per slice");
    return {slices_of(input, axis, non_zero_places(condition))};
}

/// Equal slices: the first of each, how many there are, and which of them each slice is.
struct Classes {
    std::vector<std::size_t> first;
    std::vector<std::size_t> counts;
    std::vector<std::size_t> of_slice;
};

Classes classes_of(const std::vector<std::vector<double>>& slices, bool sorted) {
    std::vector<std::size_t> order(slices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return slices[a] < slices[b]; });
    std::vector<std::vector<std::size_t>> groups;
    for (const std::size_t slice : order) {
        if (groups.empty() || slices[groups.back().front()] != slices[slice]) {
            groups.emplace_back();
        }
        groups.back().push_back(slice);
    }
    if (!sorted) {
        std::ranges::sort(groups, {}, [](const auto& group) { return group.front(); });
    }
    Classes classes;
    classes.of_slice.resize(slices.size());
    for (const auto& group : groups) {
        for (const std::size_t slice : group) {
            classes.of_slice[slice] = classes.first.size();
        }
        classes.first.push_back(group.front());
        classes.counts.push_back(group.size());
    }
    return classes;
}

// results: unique slices, first occurrences, the place of each slice among them, counts
Values unique(const Operands& operands) {
    const bool whole = !operands.node.has("axis");
    const GraphValue input = whole ? flat(operands.at(0)) : operands.at(0);
    const std::size_t axis = axis_index(operands.node.integer("axis", 0), input.type.sizes.size());
    const std::size_t step = steps_of(input.type.sizes)[axis];
    const std::size_t length = count_elements({input.type.sizes[axis]}, most_made_elements);
    std::vector<std::vector<double>> slices(length);
    for (std::size_t i = 0; i < input.numbers.size(); ++i) {
        slices[i / step % length].push_back(input.numbers[i]);
    }
    const Classes classes = classes_of(slices, operands.node.integer("sorted", 1) != 0);
    const Sizes sizes{count_of(classes.first)};
    return {slices_of(input, axis, classes.first), integers(sizes, classes.first),
            integers({std::ssize(slices)}, classes.of_slice), integers(sizes, classes.counts)};
}

struct Box {
    double top = 0;
    double left = 0;
    double bottom = 0;
    double right = 0;

    double area() const { return (bottom - top) * (right - left); }
};

Box box_at(const double* numbers, bool centred) {
    if (centred) {  // x and y of the centre, width, height
        return {numbers[1] - numbers[3] / 2, numbers[0] - numbers[2] / 2,
                numbers[1] + numbers[3] / 2, numbers[0] + numbers[2] / 2};
    }
    return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]),
            std::max(numbers[0], numbers[2]), std::max(numbers[1], numbers[3])};
}

/// The intersection of two boxes divided by their union.
double overlap_of(const Box& a, const Box& b) {
    const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
    if (height <= 0 || width <= 0) {
        return 0;
    }
    const double common = height * width;
    return common / (a.area() + b.area() - common);
}

/// Limits of NonMaxSuppression, from its operands 2 to 4.
struct Limits {
    explicit Limits(const Operands& operands)
        : boxes(operands.has(2) ? to_integer(scalar_of(operands.at(2), "limit of boxes")) : 0),
          overlap(operands.has(3) ? scalar_of(operands.at(3), "iou_threshold") : 0.0) {
        if (operands.has(4)) {
            score = scalar_of(operands.at(4), "score_threshold");
        }
    }

    std::int64_t boxes;
    double overlap;
    double score = -std::numeric_limits<double>::infinity();
};

/// Those that no better one overlaps.
std::vector<std::size_t> kept_boxes(const std::vector<Box>& boxes, const double* scores,
                                    const Limits& limits) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        if (scores[i] > limits.score) {
            order.push_back(i);
        }
    }
    std::ranges::stable_sort(
        order, [scores](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    std::vector<std::size_t> kept;
    for (const std::size_t box : order) {
        if (count_of(kept) >= limits.boxes) {
            break;
        }
        const bool is_new = std::ranges::none_of(kept, [&](std::size_t other) {
            return overlap_of(boxes[box], boxes[other]) > limits.overlap;
        });
        if (is_new) {
            kept.push_back(box);
        }
    }
    return kept;
}

// operands: boxes [N B 4], scores [N classes B]; result: batch, class, box
Values suppress(const Operands& operands) {
    const Sizes& boxes = operands.sizes(0);
    const Sizes& scores = operands.sizes(1);
    require(
        boxes.size() == 3 && boxes[2] == 4 && scores.size() == 3 && scores[0] == boxes[0] &&
            scores[2] == boxes[1],
        fmt::format("boxes of {} do not fit scores of {}", sizes_text(boxes), sizes_text(scores)),
        "give four numbers per box, and one score per class and box");
    const Limits limits(operands);
    const bool centred = operands.node.integer("center_point_box", 0) != 0;
    const std::size_t count = unsigned_of(boxes[1]);
    const std::int64_t most_kept = std::clamp<std::int64_t>(limits.boxes, 0, boxes[1]);
    require_work(
        {unsigned_of(boxes[0]), unsigned_of(scores[1]), count + 1, unsigned_of(most_kept) + 1});
    std::vector<std::size_t> found;
    for (std::size_t batch = 0; batch < unsigned_of(boxes[0]); ++batch) {
        std::vector<Box> own;
        for (std::size_t i = 0; i < count; ++i) {
            own.push_back(box_at(operands.at(0).numbers.data() + (batch * count + i) * 4, centred));
        }
        for (std::size_t c = 0; c < unsigned_of(scores[1]); ++c) {
            const std::size_t plane = batch * unsigned_of(scores[1]) + c;
            const double* numbers = operands.at(1).numbers.data() + plane * count;
            for (const std::size_t box : kept_boxes(own, numbers, limits)) {
                found.insert(found.end(), {batch, c, box});
            }
        }
    }
    return {integers({count_of(found) / 3, 3}, found)};
}

}  // namespace

std::span<const OperatorRow> counted_operators() {
    static constexpr std::array rows{
        row("NonZero", {1, 1}, non_zero) | sized_by(0),
        row("Compress", {2, 2}, compress) | attributes("axis") | sized_by(1) | first_range,
        row("Unique", {1, 1}, unique) | attributes("axis sorted") | sized_by(0),
        row("NonMaxSuppression", {2, 5}, suppress) | attributes("center_point_box") |
            sized_by(0, 1, 2, 3, 4)};
    return rows;
}

}  // namespace npuscope::host
