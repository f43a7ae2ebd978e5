// SPDX-License-Identifier: Apache-2.0
// How one convolution is cut so that each piece fits the convolution buffer: rows of output into
// tiles, each with the input rows that it reaches over, and the banks between data and weights.
// The sequencer starts only when a tile's whole cube is in, so the cube must fit its banks; weights
// stream through theirs, group by group. Among the ways that fit, the one of least estimated time
// is taken; more tiles must be worth half a percent. Not considered: tiles of columns, weights that
// stay from one tile to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "models/data/conv_job.h"
#include "models/data/convolution.h"
#include "models/npu/npu_config.h"

namespace npuscope {

/// A convolution as one operation would do it if the buffer were large enough.
struct ConvProblem {
    Shape input;
    KernelShape kernels;
    Convolution geometry;
};

struct ConvTile {
    std::uint32_t out_begin = 0;
    std::uint32_t out_rows = 0;
    std::uint32_t in_begin = 0;
    std::uint32_t in_rows = 0;
    std::uint32_t pad_top = 0;

    bool operator==(const ConvTile&) const = default;
};

struct ConvTiling {
    BankSplit banks;
    std::vector<ConvTile> tiles;
    Cycles estimate;
};

/// What the estimate of a tiling is made of.
struct TilingCosts {
    NpuConfig npu;
    std::uint64_t beat_interval = 1;
    Cycles read_latency{50};
};

ConvFeatures conv_features(const NpuConfig& npu);

/// Rows of output [0, out_height) in `count` tiles of nearly one size.
std::vector<ConvTile> cut_rows(const ConvProblem& problem, std::uint32_t count);

/// Kernels that one group may have so that its weights fit beside the smallest tile: a whole group,
/// or fewer by powers of two; 0 where not even one fits.
std::uint32_t largest_group(const ConvProblem& problem, const NpuConfig& npu);

/// ConfigError where nothing fits.
ConvTiling choose_tiling(const ConvProblem& problem, const TilingCosts& costs);

}  // namespace npuscope
