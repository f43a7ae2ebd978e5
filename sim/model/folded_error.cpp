// SPDX-License-Identifier: Apache-2.0
#include "sim/model/folded_error.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace npuscope {
namespace {

// Share of results that differ: inputs are assumed to have a standard deviation of an eighth of
// their codes around the zero point, as a quantiser's range covers all calibration values.
constexpr double usual_spread = 32;

// Largest difference: inputs may use all codes equally often, independently of each other. Fewer
// than one in a million results have an error beyond five standard deviations.
constexpr double even_spread = 74;  // of 256 codes
constexpr double most_deviations = 5;

// Difference between a value and eight times its rounded eighth: -4 to 4, both ends half as often.
constexpr double fine_spread = 5.5;  // their mean square
constexpr double most_fine = 4;

/// Standard deviation of the error of a sum, for inputs with this one.
double spread_of(const FoldedKernel& kernel, double input) {
    return std::sqrt(kernel.squares * input * input + kernel.fine_squares * fine_spread);
}

}  // namespace

double largest_error(const FoldedKernel& kernel, const NumberRange& codes) {
    const double any_input = std::max(kernel.raised * codes.high - kernel.lowered * codes.low,
                                      kernel.lowered * codes.high - kernel.raised * codes.low) +
                             kernel.fine_size * most_fine;
    const double middle = std::abs(codes.low + codes.high) / 2;
    const double even_input =
        most_deviations * spread_of(kernel, even_spread) + middle * kernel.uneven;
    return std::min(any_input, even_input);
}

double mean_error(const FoldedKernel& kernel) {
    const double bias = 0.25;  // the mean of 0 to one half
    return bias + spread_of(kernel, usual_spread) * std::sqrt(2 / std::numbers::pi);
}

TapErrors::TapErrors(const ConvolvedLayer& form) : cut_(form.cut) {
    const Sizes& sizes = form.layer.weights.type.sizes;
    if (sizes.size() == 4) {
        rows_ = sizes[2];
        columns_ = sizes[3];
    }
    sums_.resize(static_cast<std::size_t>((rows_ + 1) * (columns_ + 1)));
}

double TapErrors::largest_window(std::span<const double> errors) {
    add_up(errors);
    double largest = 0;
    for (std::int64_t top = 0; top <= cut_.top; ++top) {
        for (std::int64_t end = rows_ - cut_.bottom; end <= rows_; ++end) {
            largest = std::max(largest, largest_of_rows(top, end));
        }
    }
    return largest;
}

double& TapErrors::before(std::int64_t row, std::int64_t column) {
    return sums_[static_cast<std::size_t>(row * (columns_ + 1) + column)];
}

/// The sum of all taps above and left of each tap.
void TapErrors::add_up(std::span<const double> errors) {
    std::ranges::fill(sums_, 0);
    const std::int64_t taps = rows_ * columns_;
    for (std::int64_t i = 0; i < std::ssize(errors); ++i) {
        const std::int64_t tap = i % taps;
        before(tap / columns_ + 1, tap % columns_ + 1) += errors[static_cast<std::size_t>(i)];
    }
    for (std::int64_t row = 1; row <= rows_; ++row) {
        for (std::int64_t column = 1; column <= columns_; ++column) {
            before(row, column) +=
                before(row - 1, column) + before(row, column - 1) - before(row - 1, column - 1);
        }
    }
}

double TapErrors::largest_of_rows(std::int64_t top, std::int64_t end) {
    double largest = 0;
    for (std::int64_t left = 0; top < end && left <= cut_.left; ++left) {
        for (std::int64_t last = std::max(left, columns_ - cut_.right); last <= columns_; ++last) {
            const double sum =
                before(end, last) - before(top, last) - before(end, left) + before(top, left);
            largest = std::max(largest, std::abs(sum));
        }
    }
    return largest;
}

}  // namespace npuscope
