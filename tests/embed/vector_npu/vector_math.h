// SPDX-License-Identifier: Apache-2.0
// What the vector unit computes, bit-exact. The sum and the product are rounded to fp32, the result
// to fp16: ties to even, 65504 where it is larger. Knows nothing of time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vector_job.h"

namespace vector_npu {

/// The bytes of the output from those of the operands; `b` is empty where the job adds a constant.
std::vector<std::uint8_t> vector_result(const VectorJob& job, std::span<const std::uint8_t> a,
                                        std::span<const std::uint8_t> b);

/// Element `index` of a map.
npuscope::Fp16 load_element(std::span<const std::uint8_t> map, std::size_t index);
void store_element(std::span<std::uint8_t> map, std::size_t index, npuscope::Fp16 value);

}  // namespace vector_npu
