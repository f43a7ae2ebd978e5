// SPDX-License-Identifier: Apache-2.0
// Pooling in fp16. Max and min compare bit patterns, infinities among them. Averages are summed in
// fp17: along a line from its first element, then the lines from the first, each step rounded; what
// missing elements add comes after the last one. An infinity counts as the largest fp17. The sum
// is multiplied by the two reciprocals, which are fp17 codes, and narrowed. A NaN that is met first
// in its line wins, and the one of the last line. source: nv_full C model, compared by running
#pragma once

#include "models/layout/tensor.h"
#include "models/pdp/pdp_math.h"

namespace npuscope {

Tensor<std::int16_t> pool_floats(const PdpPooling& pooling, const Tensor<std::int16_t>& input);

/// The value of an fp17 code: 1 sign bit, 6 exponent bits, 10 mantissa bits; higher bits are
/// ignored.
float fp17_of_code(std::uint32_t code);

}  // namespace npuscope
