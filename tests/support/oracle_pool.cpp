// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_pool.h"

#include <algorithm>
#include <optional>

namespace npuscope::oracle {

namespace {

/// First valid index and number of valid ones of a window along one axis.
struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

Range existing(std::int64_t start, std::uint32_t kernel, std::uint32_t size) {
    const std::int64_t low = std::max<std::int64_t>(start, 0);
    const std::int64_t high = std::min<std::int64_t>(start + kernel, size);
    return {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high - low)};
}

Wide average(const PoolJob& job, Wide sum, std::uint32_t missing_lines) {
    if (missing_lines > 0) {
        sum += Wide{job.pad_values[missing_lines]} * job.kernel_width;
    }
    const Wide by_width = round_shift(sum * job.recip_width, 16);
    return round_shift(by_width * job.recip_height, 16);
}

std::int64_t pool_window(const PoolJob& job, const Cube& input, std::uint32_t c, Range rows,
                         Range columns) {
    Wide sum = 0;
    std::optional<std::int64_t> best;
    for (std::uint32_t y = rows.first; y < rows.first + rows.count; ++y) {
        for (std::uint32_t x = columns.first; x < columns.first + columns.count; ++x) {
            const std::int64_t value = input.at(c, y, x);
            sum += value;
            const bool wins =
                !best || (job.method == PoolMethod::Max ? value > *best : value < *best);
            best = wins ? value : *best;
        }
        const std::uint32_t missing = job.kernel_width - columns.count;
        sum += missing > 0 ? job.pad_values[missing] : 0;
    }
    const Wide result = job.method == PoolMethod::Average
                            ? average(job, sum, job.kernel_height - rows.count)
                            : Wide{best.value_or(0)};
    return static_cast<std::int64_t>(sign_extend(result, 8));
}

Cube convert_in(const NormaliseJob& job, const Cube& input, std::uint32_t channels) {
    Cube result = input;
    for_each_element(input, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        const Wide product = (Wide{input.at(c, y, x)} - job.in_offset) * job.in_scale;
        const Wide value = shift_right(product, job.in_shift, {25, 9});
        result.at(c, y, x) = c < channels ? static_cast<std::int64_t>(value) : 0;
    });
    return result;
}

std::int64_t sum_of_squares(const Cube& values, std::uint32_t c, std::uint32_t y, std::uint32_t x,
                            std::uint32_t reach) {
    std::int64_t sum = 0;
    const std::uint32_t first = c < reach ? 0 : c - reach;
    for (std::uint32_t n = first; n < values.channels && n <= c + reach; ++n) {
        sum += values.at(n, y, x) * values.at(n, y, x);
    }
    return sum;
}

Cube add_squares(const NormaliseJob& job, const Cube& values) {
    if (job.square_bypass) {
        return values;
    }
    Cube result(values.channels, values.height, values.width);
    for_each_element(values, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        result.at(c, y, x) = sum_of_squares(values, c, y, x, job.neighbours / 2);
    });
    return result;
}

}  // namespace

Cube pool(const PoolJob& job, const Cube& input) {
    Cube result(input.channels, job.out_height, job.out_width);
    for_each_element(result, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        const std::int64_t top = std::int64_t{y} * job.stride_y - job.pad_top;
        const std::int64_t left = std::int64_t{x} * job.stride_x - job.pad_left;
        const Range rows = existing(top, job.kernel_height, input.height);
        const Range columns = existing(left, job.kernel_width, input.width);
        result.at(c, y, x) = pool_window(job, input, c, rows, columns);
    });
    return result;
}

Cube table_inputs(const NormaliseJob& job, const Cube& input, std::uint32_t channels) {
    return add_squares(job, convert_in(job, input, channels));
}

Cube products(const NormaliseJob& job, const Cube& input, std::uint32_t channels) {
    const Cube centres = convert_in(job, input, channels);
    const Cube sums = add_squares(job, centres);
    Cube result = sums;
    for (std::size_t i = 0; i < result.values.size(); ++i) {
        const std::int64_t factor = look_up_cdp(job.lut, sums.values[i]);
        result.values[i] = job.product_bypass ? factor : factor * centres.values[i];
    }
    return result;
}

Cube normalise(const NormaliseJob& job, const Cube& input, std::uint32_t channels) {
    Cube result = products(job, input, channels);
    for (std::int64_t& value : result.values) {
        const Wide scaled = (Wide{value} - job.out_offset) * job.out_scale;
        value = static_cast<std::int64_t>(shift_right(scaled, job.out_shift, {42, 8}));
    }
    return result;
}

}  // namespace npuscope::oracle
