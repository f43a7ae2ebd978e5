// SPDX-License-Identifier: Apache-2.0
// The two inner loops of the fast convolution, compiled for several instruction sets; the best one
// for the machine is picked when they are first called (Highway's dynamic dispatch).
#pragma once

#include <cstdint>
#include <vector>

#include "models/arith/convolve_layout.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// All outputs from operands in raster form.
void convolve_raster(const RasterPlan& plan, const std::vector<std::int16_t>& pairs,
                     const std::vector<std::int16_t>& weights, Tensor<std::int32_t>& sums);

/// All outputs from operands in column form.
void convolve_columns(const Columns& columns, const Kernels<std::int8_t>& kernels,
                      Tensor<std::int32_t>& sums);
void convolve_columns(const Columns& columns, const Kernels<std::int16_t>& kernels,
                      Tensor<std::int32_t>& sums);

}  // namespace npuscope
