// SPDX-License-Identifier: Apache-2.0
// How the processor time of some work grows with its size. Linear work takes 4 times as long for 4
// times as much, quadratic work 16 times; what lies between the two is far from both.
#pragma once

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>

namespace npuscope::test {

inline constexpr double between_linear_and_quadratic = 9;

/// Processor time of 4 * `size` divided by that of `size`, the least of some tries each.
inline double growth(std::size_t size, const std::function<void(std::size_t)>& work) {
    const auto least = [&](std::size_t many) {
        std::clock_t best = std::numeric_limits<std::clock_t>::max();
        for (int tries = 0; tries < 3; ++tries) {
            const std::clock_t begin = std::clock();
            work(many);
            best = std::min(best, std::clock() - begin);
        }
        return static_cast<double>(std::max<std::clock_t>(best, 1));
    };
    const double one = least(size);
    return least(4 * size) / one;
}

}  // namespace npuscope::test
