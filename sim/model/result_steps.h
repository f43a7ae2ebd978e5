// SPDX-License-Identifier: Apache-2.0
// At which sums results begin. A runtime multiplies a sum by a float of 32 bits and rounds halves to
// even; a product of integers and a shift give the same results where each of them begins at the same
// sum.
// source: ONNX QLinearConv, QuantizeLinear; ONNX Runtime 1.30, compared by running
#pragma once

#include <limits>

namespace npuscope {

/// Of a kernel's results less their zero point, and of the sums that they are made of.
struct ResultRange {
    double low = 0;
    double high = 0;
    double reach = 0;  ///< of a sum, at most
};

/// Between them are the scales with which every result begins at the runtime's sum, and no sum that
/// counts is halfway between two results. Where ties go to even as no single scale rounds them, the
/// results near 0 count, and the bounds do not keep all results.
struct ScaleBounds {
    double above = 0;
    double below = std::numeric_limits<double>::infinity();
    bool keep_all = true;

    bool hold(double scale) const { return scale > above && scale < below; }
    double middle() const { return (above + below) / 2; }
};

/// Of the runtime's `factor`, which is positive.
ScaleBounds scale_bounds(double factor, const ResultRange& range);

}  // namespace npuscope
