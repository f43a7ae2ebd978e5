// SPDX-License-Identifier: Apache-2.0
// Operands of a convolution whose element type a register chooses: int8, or 16 bits wide. int16
// numbers and bit patterns of fp16 share a type; the job's precision tells them apart.
#pragma once

#include <cstdint>
#include <variant>

#include "models/layout/tensor.h"

namespace npuscope {

using DataTensor = std::variant<Tensor<std::int8_t>, Tensor<std::int16_t>>;
using WeightKernels = std::variant<Kernels<std::int8_t>, Kernels<std::int16_t>>;

}  // namespace npuscope
