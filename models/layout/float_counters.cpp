// SPDX-License-Identifier: Apache-2.0
#include "models/layout/float_counters.h"

namespace npuscope {
namespace {

// source: NVDLA doc v1/ias/precision.rst, fp16
constexpr int kMagnitude = 0x7FFF;
constexpr int kInfinity = 0x7C00;

}  // namespace

SpecialCount count_specials(const ElementTensor& tensor) {
    SpecialCount count;
    if (const auto* words = std::get_if<Tensor<std::int16_t>>(&tensor)) {
        for (const std::int16_t element : words->values) {
            const int magnitude = element & kMagnitude;
            count.nans += magnitude > kInfinity ? 1U : 0U;
            count.infs += magnitude == kInfinity ? 1U : 0U;
        }
    }
    return count;
}

}  // namespace npuscope
