// SPDX-License-Identifier: Apache-2.0
// Which loops of a nest a vector transpose takes, in which blocks and order, and whether the target
// is written past the caches.
//
//     interleaving    the source has rows (a loop of one unit there), the target pieces
//     deinterleaving  the source has pieces, the target rows
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/data/relayout_kernels.h"
#include "models/data/relayout_plan.h"

namespace npuscope {

struct Shuffle {
    bool interleaves = true;
    std::size_t columns = 0;    ///< loop that steps through a row
    std::size_t lanes = 0;      ///< loop from row to row
    std::size_t continued = 0;  ///< loop that continues the row in pieces elsewhere, or none
    std::uint32_t width = 0;    ///< lanes of a piece
    /// Turns of the two loops that whole blocks cover; what is beyond goes another way.
    std::array<std::pair<std::size_t, std::uint64_t>, 2> whole{};
};

/// Nothing where no pair of loops suits.
std::optional<Shuffle> find_shuffle(const LoopNest& nest);

/// What the kernel does at each turn of `outer`.
struct ShuffleWalk {
    bool interleaves = true;
    ShuffleShape shape;
    std::vector<NestLoop> outer;  ///< slowest first
    std::vector<NestLoop> inner;  ///< done at each turn, before a stage is flushed
    std::uint64_t bytes = 0;      ///< moved at each turn
    std::uint64_t stage = 0;      ///< bytes collected before they are written; 0: written in place
    bool stream = false;          ///< past the caches, where the target's lines allow
    std::size_t along = 0;        ///< loop of the nest that was cut into blocks
    std::uint64_t covered = 0;    ///< its turns in whole blocks; the rest is a nest of its own
};

ShuffleWalk plan_shuffle(const LoopNest& nest, const Shuffle& shuffle, bool stream);

/// Runs the kernel for one turn of the outer loops.
class ShuffleStage {
 public:
    explicit ShuffleStage(const ShuffleWalk& walk);
    ~ShuffleStage();
    ShuffleStage(const ShuffleStage&) = delete;
    ShuffleStage& operator=(const ShuffleStage&) = delete;

    void run(const std::uint8_t* from, std::uint8_t* to);

 private:
    void run_in_place(const std::uint8_t* from, std::uint8_t* to) const;
    void run_pieces(const std::uint8_t* from, std::uint8_t* to);
    void run_rows(const std::uint8_t* from, std::uint8_t* to, bool stream);

    const ShuffleWalk& walk_;
    std::vector<std::uint8_t> buffer_;
    std::uint8_t* stage_ = nullptr;  ///< 64-byte aligned, in buffer_
};

}  // namespace npuscope
