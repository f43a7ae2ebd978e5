// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/value_histogram.h"

#include <algorithm>
#include <cmath>

namespace npuscope {

void ValueHistogram::add(const std::vector<double>& numbers) {
    for (const double number : numbers) {
        if (!std::isfinite(number)) {
            continue;
        }
        seen_ = count_ == 0
                    ? NumberRange{number, number}
                    : NumberRange{std::min(seen_.low, number), std::max(seen_.high, number)};
        ++count_;
        widen(number);
        const double bin = (number + reach_) / width();
        ++bins_[std::min(static_cast<std::size_t>(bin), bin_count - 1)];
    }
}

void ValueHistogram::widen(double number) {
    if (bins_.empty()) {
        bins_.resize(bin_count);
        reach_ = std::ldexp(1.0, number == 0 ? 0 : std::clamp(std::ilogb(number) + 1, -60, 1000));
    }
    while (std::abs(number) > reach_) {
        std::vector<std::uint64_t> wider(bin_count);
        for (std::size_t i = 0; i < bin_count; ++i) {
            wider[bin_count / 4 + i / 2] += bins_[i];
        }
        bins_ = std::move(wider);
        reach_ *= 2;
    }
}

NumberRange ValueHistogram::range(RangeMethod method) const {
    if (count_ == 0 || method == RangeMethod::Minmax || method == RangeMethod::Best) {
        return seen_;
    }
    return method == RangeMethod::Percentile ? percentile() : least_error();
}

NumberRange ValueHistogram::percentile() const {
    constexpr double outside = 1e-4;
    const auto most = static_cast<std::uint64_t>(static_cast<double>(count_) * outside);
    std::size_t low = 0;
    std::size_t high = bin_count - 1;
    for (std::uint64_t below = bins_[low]; below <= most && low < high; below += bins_[low]) {
        ++low;
    }
    for (std::uint64_t above = bins_[high]; above <= most && high > low; above += bins_[high]) {
        --high;
    }
    return {std::max(seen_.low, middle(low) - width() / 2),
            std::min(seen_.high, middle(high) + width() / 2)};
}

/// Each end moves inwards in turn, as long as that helps.
NumberRange ValueHistogram::least_error() const {
    constexpr int steps = 100;
    NumberRange best = seen_;
    double least = error_of(best);
    for (int step = 1; step < steps; ++step) {
        const double part = 1 - step * 0.8 / steps;
        for (const NumberRange& tried :
             {NumberRange{seen_.low * part, seen_.high * part},
              NumberRange{best.low, seen_.high * part}, NumberRange{seen_.low * part, best.high}}) {
            const double error = error_of(tried);
            if (error < least) {
                least = error;
                best = tried;
            }
        }
    }
    return best;
}

double ValueHistogram::error_of(const NumberRange& range) const {
    const Grid grid = grid_of(range);
    const double rounding = grid.scale * grid.scale / 12;
    const NumberRange all = range_of(ElementType::Int8);
    const double low = (all.low - grid.zero - 0.5) * grid.scale;
    const double high = (all.high - grid.zero + 0.5) * grid.scale;
    double error = 0;
    for (std::size_t i = 0; i < bin_count; ++i) {
        if (bins_[i] == 0) {
            continue;
        }
        const double number = middle(i);
        const bool inside = number >= low && number <= high;
        const double missed = inside ? 0 : std::max(low - number, number - high) + grid.scale / 2;
        error += static_cast<double>(bins_[i]) * (inside ? rounding : missed * missed);
    }
    return error;
}

}  // namespace npuscope
