// SPDX-License-Identifier: Apache-2.0
// What one launch of the vector unit computes: y = relu((a + b) * scale), element by element.
//
//     map   fp16 elements in the order of the tensor's, low byte first, without gaps
#pragma once

#include <cstdint>
#include <optional>

#include "models/arith/float16.h"
#include "models/base/quantity.h"
#include "models/base/unit_job.h"

namespace vector_npu {

inline constexpr npuscope::Fp16 fp16_one = 0x3c00;

struct VectorJob : npuscope::UnitJob {
    std::uint64_t elements = 0;  ///< of each map
    npuscope::Address a;
    std::optional<npuscope::Address> b{};  ///< nothing: `constant` is added to each element
    npuscope::Fp16 constant = 0;
    npuscope::Fp16 scale = fp16_one;
    bool relu = false;
    npuscope::Address output;

    npuscope::Bytes map_bytes() const { return npuscope::Bytes(elements * sizeof(npuscope::Fp16)); }
};

}  // namespace vector_npu
