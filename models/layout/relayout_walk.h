// SPDX-License-Identifier: Apache-2.0
// In which blocks and order a vector transpose goes through its nest, and how its target is
// written: in place, past the caches in whole lines, or collected in a stage first.
#pragma once

#include <cstdint>
#include <vector>

#include "models/layout/relayout_kernels.h"
#include "models/layout/relayout_plan.h"
#include "models/layout/relayout_shuffle.h"

namespace npuscope {

/// A block that is collected before it is written: rows that lie `row` bytes apart in the target.
struct StageShape {
    std::uint64_t rows = 0;
    std::uint64_t run = 0;  ///< bytes of a row; 0: no stage
    std::int64_t row = 0;

    std::uint64_t bytes() const { return rows * run; }
};

/// What the kernel does at each turn of `outer` and `inner`.
struct ShuffleWalk {
    bool interleaves = true;
    ShuffleShape shape;
    std::vector<NestLoop> outer;  ///< slowest first
    std::vector<NestLoop> inner;  ///< of one block; its steps on the target's side are the stage's
    std::uint64_t bytes = 0;      ///< of a block
    StageShape stage;
    bool stream = false;  ///< past the caches, where the target begins with a line
    /// From a call of the kernel to the one whose source it fetches; 0: it fetches nothing.
    unsigned calls_ahead = 0;
    std::size_t along = 0;      ///< loop of the nest that was cut into blocks
    std::uint64_t covered = 0;  ///< its turns in whole blocks; the rest is a nest of its own

    /// Calls of the kernel for a block.
    std::uint64_t calls() const;
};

ShuffleWalk plan_shuffle(const LoopNest& nest, const Shuffle& shuffle, bool stream);

}  // namespace npuscope
