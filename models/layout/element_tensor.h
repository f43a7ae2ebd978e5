// SPDX-License-Identifier: Apache-2.0
// A tensor of the elements that feature cubes hold: one byte (int8), or two (int16, or the bit
// patterns of fp16). Which of the two-byte types it is stands with the operation.
#pragma once

#include <variant>

#include "models/layout/precision.h"
#include "models/layout/tensor.h"

namespace npuscope {

using ElementTensor = std::variant<Tensor<std::int8_t>, Tensor<std::int16_t>>;

inline bool is_empty(const ElementTensor& tensor) {
    return std::visit([](const auto& values) { return values.values.empty(); }, tensor);
}

inline const Shape& shape_of(const ElementTensor& tensor) {
    return std::visit([](const auto& values) -> const Shape& { return values.shape; }, tensor);
}

}  // namespace npuscope
