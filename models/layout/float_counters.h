// SPDX-License-Identifier: Apache-2.0
// NaNs and infinities that a unit counts among elements of fp16, pad lanes included.
// source: nv_full C model, status registers
#pragma once

#include <cstdint>

#include "models/layout/element_tensor.h"

namespace npuscope {

struct SpecialCount {
    std::uint64_t nans = 0;
    std::uint64_t infs = 0;

    bool operator==(const SpecialCount&) const = default;
};

/// Of a tensor of fp16; nothing in a tensor of bytes.
SpecialCount count_specials(const ElementTensor& tensor);

}  // namespace npuscope
