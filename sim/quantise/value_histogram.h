// SPDX-License-Identifier: Apache-2.0
// Histogram of a tensor's values over many runs, and the range that its integers are to cover. Bins
// are symmetric around 0 and double in width when a value is beyond them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "sim/quantise/grid.h"

namespace npuscope {

/// Which part of the observed values a tensor's integers cover.
enum class RangeMethod {
    Best,        ///< whichever of the others makes the outputs most accurate
    Minmax,      ///< all of them
    Percentile,  ///< all but the outermost 0.01 % on either side
    Mse          ///< the range with the smallest mean squared error
};

template <>
struct EnumNames<RangeMethod> {
    static constexpr std::array names{
        std::pair{RangeMethod::Best, std::string_view("best")},
        std::pair{RangeMethod::Minmax, std::string_view("minmax")},
        std::pair{RangeMethod::Percentile, std::string_view("percentile")},
        std::pair{RangeMethod::Mse, std::string_view("mse")}};
};

class ValueHistogram {
 public:
    void add(const std::vector<double>& numbers);
    /// {0, 0} if nothing was added; for `Best`, all values that occurred.
    NumberRange range(RangeMethod method) const;

 private:
    static constexpr std::size_t bin_count = 4096;

    double width() const { return 2 * reach_ / bin_count; }
    double middle(std::size_t bin) const {
        return (static_cast<double>(bin) + 0.5) * width() - reach_;
    }
    void widen(double number);
    NumberRange percentile() const;
    NumberRange least_error() const;
    double error_of(const NumberRange& range) const;

    double reach_ = 0;  ///< bins are between -reach_ and reach_, a power of two
    std::vector<std::uint64_t> bins_{};
    std::uint64_t count_ = 0;
    NumberRange seen_{0, 0};
};

}  // namespace npuscope
