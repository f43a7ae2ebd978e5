// SPDX-License-Identifier: Apache-2.0
#include "sim/model/result_steps.h"

#include <algorithm>
#include <cmath>

namespace npuscope {
namespace {

/// The runtime's result of a sum, minus its zero point.
double result_of(double sum, float factor) {
    return static_cast<double>(std::nearbyint(static_cast<float>(sum) * factor));
}

/// The smallest sum whose result is greater than `result`.
double begin_after(double result, double factor) {
    const auto single = static_cast<float>(factor);
    double sum = std::ceil((result + 0.5) / factor);
    while (result_of(sum, single) <= result) {
        ++sum;
    }
    while (result_of(sum - 1, single) > result) {
        --sum;
    }
    return sum;
}

/// Accepts limits as long as a scale remains between them.
class Narrowing {
 public:
    void stay_above(double scale) {
        const bool possible = scale < bounds_.below;
        bounds_.above = possible ? std::max(bounds_.above, scale) : bounds_.above;
        bounds_.keep_all = bounds_.keep_all && possible;
    }
    void stay_below(double scale) {
        const bool possible = scale > bounds_.above;
        bounds_.below = possible ? std::min(bounds_.below, scale) : bounds_.below;
        bounds_.keep_all = bounds_.keep_all && possible;
    }
    const ScaleBounds& bounds() const { return bounds_; }

 private:
    ScaleBounds bounds_;
};

/// Applies the limits from the end of `result`, at `result` + 1/2; false: no sum reaches it.
bool narrow(double result, double factor, double reach, Narrowing& scales) {
    const double half = result + 0.5;
    const double sum = begin_after(result, factor);
    if (std::abs(sum) > reach) {
        scales.stay_below(half / std::copysign(reach, half));
        return false;
    }
    if (half > 0) {
        scales.stay_above(half / sum);
        if (sum > 1) {
            scales.stay_below(half / (sum - 1));
        }
    } else {
        if (sum < 0) {
            scales.stay_below(half / sum);
        }
        scales.stay_above(half / (sum - 1));
    }
    return true;
}

}  // namespace

ScaleBounds scale_bounds(double factor, const ResultRange& range) {
    Narrowing scales;
    bool above = true;
    bool below = true;
    for (double size = 0; above || below; ++size) {  // frequent results first
        above = above && size < range.high && narrow(size, factor, range.reach, scales);
        below = below && -size - 1 >= range.low && narrow(-size - 1, factor, range.reach, scales);
    }
    return scales.bounds();
}

}  // namespace npuscope
