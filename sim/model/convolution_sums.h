// SPDX-License-Identifier: Apache-2.0
// The sums of a convolution as plain loops over real numbers, with batch and groups; one direction
// in space is a height of 1.
#pragma once

#include "sim/model/operators.h"
#include "sim/model/window.h"

namespace npuscope::host {

/// Window of a convolution of `data` [N C space] with `weights` [K C/groups space], checked.
Window checked_window(const GraphNode& node, const Sizes& data, const Sizes& weights);
/// Sizes of its result, [N K space].
Sizes conv_sizes(const GraphNode& node, const Sizes& data, const Sizes& weights);

/// Every product is (data - data_zero) * (weight - weight_zero); padding counts as data_zero.
struct ZeroPoints {
    double data = 0;
    std::vector<double> weight{0};  ///< one, or one per kernel
};
/// Sums [N K space]; `bias` is empty or has one number per kernel.
std::vector<double> conv_sums(const GraphNode& node, const GraphValue& data,
                              const GraphValue& weights, const std::vector<double>& bias,
                              const ZeroPoints& zero);

}  // namespace npuscope::host
