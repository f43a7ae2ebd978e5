// SPDX-License-Identifier: Apache-2.0
// At which sums results begin. A runtime multiplies a sum by a 32-bit float and rounds ties to
// even; an integer multiplication and a shift produce the same results if each of them begins at
// the same sum.
// source: ONNX QLinearConv, QuantizeLinear; ONNX Runtime 1.30, compared by running
#pragma once

#include <limits>

namespace npuscope {

/// Range of a kernel's results minus their zero point, and of the sums that they are computed from.
struct ResultRange {
    double low = 0;
    double high = 0;
    double reach = 0;  ///< largest magnitude of a sum
};

/// Between the bounds are the scales for which every result begins at the runtime's sum, and no
/// relevant sum lies halfway between two results. If no single scale rounds ties to even, the
/// results near 0 decide, and the bounds do not keep all results.
struct ScaleBounds {
    double above = 0;
    double below = std::numeric_limits<double>::infinity();
    bool keep_all = true;

    bool hold(double scale) const { return scale > above && scale < below; }
    double middle() const { return (above + below) / 2; }
};

/// For the runtime's `factor`, which is positive.
ScaleBounds scale_bounds(double factor, const ResultRange& range);

}  // namespace npuscope
