// SPDX-License-Identifier: Apache-2.0
#include "sim/convert/tensor_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/check.h"

namespace npuscope {
namespace {

constexpr std::uint64_t most_lines = 20;
constexpr std::uint64_t most_columns = 56;
constexpr std::size_t most_ranges = 12;

std::string_view axis_word(char axis, bool weights) {
    switch (axis) {
        case 'N':
            return "batch";
        case 'C':
            return "channel";
        case 'D':
            return "depth";
        case 'H':
        case 'R':
            return "row";
        case 'W':
        case 'S':
            return "column";
        case 'K':
            return weights ? "kernel" : "K";
        default:
            return "index";
    }
}

/// Rows and columns if there is more than one pixel, otherwise batches and channels.
std::pair<char, char> plane_of(const LogicalShape& shape) {
    const bool weights = shape.extent('K') > 1 || shape.find('R') < shape.axes.size();
    const char row = weights ? 'R' : 'H';
    const char column = weights ? 'S' : 'W';
    if (shape.extent(row) * shape.extent(column) > 1) {
        return {row, column};
    }
    return {weights ? 'K' : 'N', 'C'};
}

/// Mismatches and elements of every cell of the picture.
class DifferencePicture {
 public:
    explicit DifferencePicture(const LogicalShape& shape)
        : shape_(shape),
          plane_(plane_of(shape)),
          lines_(std::min(most_lines, shape.extent(plane_.first))),
          columns_(std::min(most_columns, shape.extent(plane_.second))),
          wrong_(lines_ * columns_),
          all_(lines_ * columns_) {}

    void count(std::span<const std::uint64_t> index, bool differs) {
        const std::size_t cell =
            part(index, plane_.first, lines_) * columns_ + part(index, plane_.second, columns_);
        ++all_[cell];
        wrong_[cell] += differs ? 1 : 0;
    }

    void draw(TensorDifference& difference) const {
        difference.down = plane_.first;
        difference.across = plane_.second;
        for (std::size_t line = 0; line < lines_; ++line) {
            std::string& text = difference.picture.emplace_back();
            for (std::size_t cell = line * columns_; cell < (line + 1) * columns_; ++cell) {
                text += wrong_[cell] == 0 ? '.' : wrong_[cell] == all_[cell] ? '#' : '+';
            }
        }
    }

 private:
    std::size_t part(std::span<const std::uint64_t> index, char axis, std::uint64_t parts) const {
        const std::size_t at = shape_.find(axis);
        return at == shape_.axes.size() ? 0 : index[at] * parts / shape_.axes[at].extent;
    }

    const LogicalShape& shape_;
    std::pair<char, char> plane_;
    std::uint64_t lines_;
    std::uint64_t columns_;
    std::vector<std::uint64_t> wrong_;
    std::vector<std::uint64_t> all_;
};

/// `3, 7..9`.
std::string ranges_of(const std::vector<bool>& marked) {
    std::string text;
    std::size_t ranges = 0;
    for (std::size_t i = 0; i < marked.size(); ++i) {
        if (!marked[i]) {
            continue;
        }
        if (ranges++ == most_ranges) {
            return text + " and more";
        }
        const std::size_t first = i;
        while (i + 1 < marked.size() && marked[i + 1]) {
            ++i;
        }
        text += text.empty() ? "" : ", ";
        text += first == i ? fmt::format("{}", i) : fmt::format("{}..{}", first, i);
    }
    return text;
}

double distance(double a, double b) {
    const double apart = std::abs(a - b);
    return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

bool differ(double a, double b) { return a != b && !(std::isnan(a) && std::isnan(b)); }

/// The axis whose indices are listed: channels, or kernels for weights.
char listed_axis(const LogicalShape& shape) {
    return shape.find('K') < shape.axes.size() ? 'K' : 'C';
}

std::string element_text(const char* which, const TensorDifference& difference,
                         const ElementDifference& element) {
    return fmt::format("{}: {} (at {}) is {}, not {}", which,
                       index_text(difference.shape, element.index), to_hex(element.address),
                       element.actual, element.expected);
}

}  // namespace

TensorDifference compare_tensors(const ComparedSurface& surface, std::span<const double> expected,
                                 std::span<const double> actual) {
    const LogicalShape& shape = surface.layout.shape;
    NPU_CHECK(expected.size() == shape.elements() && actual.size() == expected.size(),
              "both tensors have the shape's elements");
    TensorDifference difference{.shape = shape, .elements = expected.size()};
    DifferencePicture picture(shape);
    const std::size_t listed = shape.find(listed_axis(shape));
    std::vector<bool> marked(listed < shape.axes.size() ? shape.axes[listed].extent : 0);
    const std::vector<IndexRange> box = shape.box();
    std::vector<std::uint64_t> index = first_index(box);
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i, next_index(index, box)) {
        const bool wrong = differ(expected[i], actual[i]);
        picture.count(index, wrong);
        if (!wrong) {
            continue;
        }
        const auto here = [&] {
            return ElementDifference{index, surface.base + Bytes(surface.layout.address(index)),
                                     expected[i], actual[i]};
        };
        if (difference.mismatches++ == 0) {
            difference.first = here();
        }
        if (distance(expected[i], actual[i]) > worst) {
            worst = distance(expected[i], actual[i]);
            difference.worst = here();
        }
        if (!marked.empty()) {
            marked[index[listed]] = true;
        }
    }
    if (difference.mismatches > 0) {
        difference.channels = ranges_of(marked);
        picture.draw(difference);
    }
    return difference;
}

std::string index_text(const LogicalShape& shape, std::span<const std::uint64_t> index) {
    const bool weights = shape.find('K') < shape.axes.size();
    std::string text;
    for (std::size_t i = 0; i < shape.axes.size(); ++i) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                            axis_word(shape.axes[i].axis, weights), index[i]);
    }
    return text;
}

std::string difference_text(const TensorDifference& difference, std::size_t width) {
    const LogicalShape& shape = difference.shape;
    const bool weights = shape.find('K') < shape.axes.size();
    std::string text =
        wrapped(fmt::format("{} of {} differ", with_separators(difference.mismatches),
                            counted(difference.elements, "element")),
                4, 6, width);
    text += wrapped(element_text("first", difference, difference.first), 4, 6, width);
    text += wrapped(element_text("worst", difference, difference.worst), 4, 6, width);
    if (!difference.channels.empty()) {
        text += wrapped(
            fmt::format("in {}s {}", axis_word(listed_axis(shape), weights), difference.channels),
            4, 6, width);
    }
    const auto axis = [&](char letter) {
        const std::uint64_t extent = shape.extent(letter);
        const std::string_view word = axis_word(letter, weights);
        return extent == 1 ? fmt::format("{} 0", word)
                           : fmt::format("{} 0 to {}", word, extent - 1);
    };
    text += wrapped(
        fmt::format(
            "{} vertical, {} horizontal; all other axes overlaid (. none, + some, # all differ):",
            axis(difference.down), axis(difference.across)),
        4, 6, width);
    for (const std::string& line : difference.picture) {
        text += "    " + line + '\n';
    }
    return text;
}

}  // namespace npuscope
