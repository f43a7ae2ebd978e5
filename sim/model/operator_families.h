// SPDX-License-Identifier: Apache-2.0
// The operators by family, one file each; operators.cpp lists them.
#pragma once

#include "sim/model/operators.h"

namespace npuscope::host {

// elementwise.cpp
Types stretched_types(const Operands& operands);
Values add(const Operands& operands);
Values subtract(const Operands& operands);
Values multiply(const Operands& operands);
Values divide(const Operands& operands);
Values power(const Operands& operands);
Values maximum(const Operands& operands);
Values minimum(const Operands& operands);
Values sum(const Operands& operands);

// pointwise.cpp
Types own_type(const Operands& operands);
Values floor(const Operands& operands);
Values ceil(const Operands& operands);
Values round(const Operands& operands);
Values negate(const Operands& operands);
Values absolute(const Operands& operands);
Values square_root(const Operands& operands);
Values exponential(const Operands& operands);
Values logarithm(const Operands& operands);
Values relu(const Operands& operands);
Values leaky_relu(const Operands& operands);
Values sigmoid(const Operands& operands);
Values hard_sigmoid(const Operands& operands);
Values hard_swish(const Operands& operands);
Values hyperbolic_tangent(const Operands& operands);
Values clip(const Operands& operands);
Types cast_types(const Operands& operands);
Values cast(const Operands& operands);
Values identity(const Operands& operands);
Types batch_normalise_types(const Operands& operands);
Values batch_normalise(const Operands& operands);

// convolution.cpp: Conv, ConvInteger, ConvTranspose
Values conv(const Operands& operands);
Types conv_types(const Operands& operands);
Values conv_integer(const Operands& operands);
Types conv_integer_types(const Operands& operands);
Values conv_transpose(const Operands& operands);
Types conv_transpose_types(const Operands& operands);

// matrix.cpp
Values matmul(const Operands& operands);
Types matmul_types(const Operands& operands);
Values matmul_integer(const Operands& operands);
Types matmul_integer_types(const Operands& operands);
Values gemm(const Operands& operands);
Types gemm_types(const Operands& operands);

// quantised.cpp
Values quantize_linear(const Operands& operands);
Values dequantize_linear(const Operands& operands);
Values qlinear_conv(const Operands& operands);
Types qlinear_conv_types(const Operands& operands);
Values qlinear_matmul(const Operands& operands);
Types qlinear_matmul_types(const Operands& operands);

// pooling.cpp
Values max_pool(const Operands& operands);
Values average_pool(const Operands& operands);
Types pool_types(const Operands& operands);
Values global_max_pool(const Operands& operands);
Values global_average_pool(const Operands& operands);

// reduction.cpp
Values reduce_sum(const Operands& operands);
Values reduce_mean(const Operands& operands);
Values reduce_max(const Operands& operands);
Values reduce_min(const Operands& operands);
Values softmax(const Operands& operands);
Values log_softmax(const Operands& operands);
Values arg_max(const Operands& operands);

// reshaping.cpp
Values reshape(const Operands& operands);
Values flatten(const Operands& operands);
Values squeeze(const Operands& operands);
Values unsqueeze(const Operands& operands);
Values shape_of(const Operands& operands);
Values constant(const Operands& operands);
Values constant_of_shape(const Operands& operands);
Values expand(const Operands& operands);

// moving.cpp
Values transpose(const Operands& operands);
Values concat(const Operands& operands);
Values pad(const Operands& operands);
Values slice(const Operands& operands);
Values split(const Operands& operands);
Values gather(const Operands& operands);

// resizing.cpp
Values resize(const Operands& operands);

}  // namespace npuscope::host
