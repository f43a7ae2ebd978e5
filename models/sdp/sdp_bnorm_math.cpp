// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_bnorm_math.h"

#include <algorithm>

#include "models/base/check.h"

namespace npuscope {
namespace {

std::int64_t clipped(std::int64_t value, const ClipRange& range) {
    return std::clamp<std::int64_t>(value, range.low, range.high);
}

}  // namespace

Tensor<std::int32_t> bnorm(const Tensor<std::int64_t>& sums, const BnormStage& stage,
                           const Tensor<std::int32_t>* residual, ClipCounters* counters) {
    NPU_CHECK(stage.channels.size() == sums.shape.channels, "one row of constants per channel");
    NPU_CHECK(residual == nullptr || residual->shape == sums.shape,
              "a residual has the shape of the sums");
    Tensor<std::int32_t> result(sums.shape);
    ClipCounters counted;
    const std::size_t plane = std::size_t{sums.shape.height} * sums.shape.width;
    for (std::size_t c = 0; c < sums.shape.channels; ++c) {
        for (std::size_t i = c * plane; i < (c + 1) * plane; ++i) {
            std::int64_t value = bnorm_shifted(sums.values[i], stage.channels[c]);
            if (residual != nullptr) {
                value = clipped(value, stage.preclip) + residual->values[i];
            }
            counted.low += value < stage.clip.low ? 1U : 0U;
            counted.high += value > stage.clip.high ? 1U : 0U;
            result.values[i] = static_cast<std::int32_t>(clipped(value, stage.clip));
        }
    }
    if (counters != nullptr) {
        *counters = counted;
    }
    return result;
}

}  // namespace npuscope
