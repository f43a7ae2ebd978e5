// SPDX-License-Identifier: Apache-2.0
// How far results of a layer may be from the model's because its weights were rounded again: each
// weight has an error, and a sum has the errors times the input.
//
// Nothing is known about the input but its codes. For any input the error is at most `any input`;
// for inputs that use all codes equally often, independently of each other, it is a mean and five
// standard deviations. The smaller of both is the layer's. Inputs whose errors are as large would
// have to be spread more widely than over all codes, or to follow the errors of a kernel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/model/convolved_form.h"

namespace npuscope {

/// The result of rounding a kernel's weights, in units of the weights.
struct FoldedKernel {
    double sum = 0;        ///< of its weights
    double fine_sum = 0;   ///< of those of the fine map
    double raised = 0;     ///< sum of the errors above 0
    double lowered = 0;    ///< the same below 0, as a magnitude
    double squares = 0;    ///< sum of squared errors
    double fine_size = 0;  ///< sum of the magnitudes of the fine map's weights
    double fine_squares = 0;
    std::int64_t granule = 0;  ///< largest power of two that divides all weights; 0: all are 0
    double uneven = 0;         ///< largest sum of errors in a window, whole or cut by the border
};

/// Error of all but one in a million sums. `codes`: of the input, minus its zero point.
double largest_error(const FoldedKernel& kernel, const NumberRange& codes);
/// Mean magnitude of the error of a sum, for inputs with a standard deviation of 32 codes.
double mean_error(const FoldedKernel& kernel);

/// A kernel's errors by tap. The border cuts rows and columns of taps from a window, so that the
/// errors left may not sum to nearly 0.
class TapErrors {
 public:
    explicit TapErrors(const ConvolvedLayer& form);
    /// The largest sum of a window, whole or cut. `errors`: of one kernel, columns fastest.
    double largest_window(std::span<const double> errors);

 private:
    double& before(std::int64_t row, std::int64_t column);
    void add_up(std::span<const double> errors);
    double largest_of_rows(std::int64_t top, std::int64_t end);

    CutTaps cut_;
    std::int64_t rows_ = 1;
    std::int64_t columns_ = 1;
    std::vector<double> sums_;
};

}  // namespace npuscope
