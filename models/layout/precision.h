// SPDX-License-Identifier: Apache-2.0
// The three element types of the data path. source: NVDLA format page, tables 29 to 32
#pragma once

#include <cstdint>

namespace npuscope {

enum class Precision { Int8, Int16, Fp16 };

/// Bytes of one element in memory and in the convolution buffer.
constexpr std::uint32_t bytes_of(Precision precision) {
    return precision == Precision::Int8 ? 1U : 2U;
}

}  // namespace npuscope
