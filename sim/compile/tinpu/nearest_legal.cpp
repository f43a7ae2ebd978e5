// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/nearest_legal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <tuple>

namespace npuscope {

NumberRange nearest_range(const std::vector<NumberRange>& legal, const NumberRange& wanted) {
    const auto rank = [&](const NumberRange& range) {
        const bool clips = range.low > wanted.low || range.high < wanted.high;
        const double low = std::abs(range.low - wanted.low);
        return std::tuple(clips, low + std::abs(range.high - wanted.high), low);
    };
    return *std::ranges::min_element(legal, {}, rank);
}

std::string nearest_kernel(const PatternLimits& limits, std::int64_t rows, std::int64_t columns) {
    const auto excess = [](std::int64_t size, std::uint32_t most) {
        return most == 0 ? 0 : std::max<std::int64_t>(size - most, 0);
    };
    const std::int64_t more_rows = excess(rows, limits.most_rows);
    const std::int64_t more_columns = excess(columns, limits.most_columns);
    const bool keeps_rows = limits.one_side && more_columns <= more_rows;
    const bool keeps_columns = limits.one_side && !keeps_rows;
    return fmt::format("{}x{}", rows - (keeps_rows ? 0 : more_rows),
                       columns - (keeps_columns ? 0 : more_columns));
}

std::string nearest_strides(const std::vector<std::string>& listed, std::int64_t rows,
                            std::int64_t columns) {
    const auto distance = [&](const std::string& strides) {
        std::int64_t listed_rows = 0;
        std::int64_t listed_columns = 0;
        char by = 'x';
        std::istringstream(strides) >> listed_rows >> by >> listed_columns;
        return std::abs(listed_rows - rows) + std::abs(listed_columns - columns);
    };
    return *std::ranges::min_element(listed, {}, distance);
}

}  // namespace npuscope
