// SPDX-License-Identifier: Apache-2.0
// Carries out a planned transpose. Blocks are collected in a small stage and leave it in whole
// lines, while the next block is made in a second stage and the source of the calls after it is
// fetched: reading, shuffling and writing overlap.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/layout/relayout_run.h"
#include "models/layout/relayout_streams.h"
#include "models/layout/relayout_turns.h"
#include "models/layout/relayout_walk.h"

namespace npuscope {

class ShuffleRun {
 public:
    /// `from` and `to` are those of the nest's first unit.
    ShuffleRun(const ShuffleWalk& walk, const std::uint8_t* from, std::uint8_t* to);

    void run(MoveProgress& progress);

 private:
    void call(const std::uint8_t* from, std::uint8_t* to);
    void make_block(const std::uint8_t* from, const std::uint8_t* to);
    void flush(std::uint64_t portion);

    const ShuffleWalk& walk_;
    const std::uint8_t* from_;
    std::uint8_t* to_;
    ShuffleShape shape_;
    NestTurns ahead_;   ///< of the call whose source is fetched now
    RowShape portion_;  ///< of a stage that leaves at once
    std::uint64_t portions_ = 0;
    std::int64_t step_ = 0;
    bool stream_ = false;
    std::vector<std::uint8_t> buffer_;
    std::array<std::uint8_t*, 2> stages_{};  ///< 64-byte aligned, in buffer_; none: in place
    std::uint8_t* waiting_ = nullptr;        ///< where the block in the second stage belongs
};

/// The whole walk.
void run_shuffle_walk(const ShuffleWalk& walk, const std::uint8_t* from, std::uint8_t* to,
                      MoveProgress& progress);

}  // namespace npuscope
