// SPDX-License-Identifier: Apache-2.0
// Post-processing of sums as in a TINPU's layers, a parametrised form of the SDP's work:
//
//     BNORM     (sum + bias) * scale >> shift, clipped
//     BNORMRES  the same clipped to 10 bits, + residual, clipped
//
// The shift rounds towards minus infinity (floor), unlike NVDLA's shifters. Everything is exact in
// 64 bits for sums of up to 2^47.
// source: TI NNC for MCUs, User's Guide, Supported Layer Patterns, section 4.2
#pragma once

#include <cstdint>
#include <vector>

#include "models/layout/tensor.h"

namespace npuscope {

/// Both ends are included.
struct ClipRange {
    std::int32_t low = 0;
    std::int32_t high = 255;

    bool operator==(const ClipRange&) const = default;
};

/// What is applied to one output channel's sums.
struct BnormChannel {
    std::int32_t bias = 0;
    std::uint8_t scale = 1;
    std::uint8_t shift = 0;  ///< 0 to 31

    bool operator==(const BnormChannel&) const = default;
};

struct BnormStage {
    std::vector<BnormChannel> channels;  ///< one per channel of the sums
    ClipRange clip;
    ClipRange preclip{-512, 511};  ///< before a residual
};

/// How many elements a clip changed.
struct ClipCounters {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool operator==(const ClipCounters&) const = default;
};

/// One sum, without a residual and before any clip.
constexpr std::int64_t bnorm_shifted(std::int64_t sum, const BnormChannel& channel) {
    return ((sum + channel.bias) * channel.scale) >> channel.shift;
}

/// Sums [c][y][x] to stored values of the same shape; `residual` may be null. Counts elements that
/// the last clip changed if `counters` is not null. NPU_CHECK that shapes and channels agree.
Tensor<std::int32_t> bnorm(const Tensor<std::int64_t>& sums, const BnormStage& stage,
                           const Tensor<std::int32_t>* residual = nullptr,
                           ClipCounters* counters = nullptr);

}  // namespace npuscope
