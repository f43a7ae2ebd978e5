// SPDX-License-Identifier: Apache-2.0
// Two bound expressions refined into common loops: loop nests that visit every element of a box
// once, with constant steps in both memories.
//
//     N C H W -> N C/4 H W C%4 of 6x2x3:     C/4 (1) x C%4 (4) x HW (6)
//                                            and the short remainder C%4 (2) x HW (6)
//
// A digit of one side may split the other's; where the radices of an axis do not divide each other,
// no such nest exists and the pair is walked element by element.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/layout/layout.h"
#include "models/layout/relayout_kernels.h"

namespace npuscope {

struct NestLoop {
    std::uint64_t count = 1;
    std::int64_t from = 0;  ///< bytes from one step to the next in the source
    std::int64_t to = 0;    ///< the same in the target

    bool operator==(const NestLoop&) const = default;
};

struct LoopNest {
    std::int64_t from = 0;  ///< byte of the first element
    std::int64_t to = 0;
    std::uint64_t unit = 1;  ///< bytes that are contiguous on both sides
    std::vector<NestLoop> loops;

    bool operator==(const LoopNest&) const = default;
};

/// Boxes of both parts have one range per axis. `element` bytes are contiguous.
struct PartPair {
    const LayoutPart& source;
    const LayoutPart& target;
    std::uint64_t element;
};

/// All nests of the elements common to both parts and `box`; none if there is no common element.
/// Nothing where radices do not divide each other.
std::optional<std::vector<LoopNest>> plan_nests(const PartPair& pair,
                                                const std::vector<IndexRange>& box);

/// The intersection of both parts and the box; may be empty.
std::vector<IndexRange> intersect(const PartPair& pair, const std::vector<IndexRange>& box);

/// Counts through loops of a nest, the last one fastest, with the offsets on both sides.
class NestIterator {
 public:
    explicit NestIterator(std::vector<NestLoop> loops)
        : loops_(std::move(loops)), index_(loops_.size(), 0) {}

    std::int64_t from() const { return from_; }
    std::int64_t to() const { return to_; }

    /// After the last step: false, and back to the first.
    bool next() {
        for (std::size_t level = loops_.size(); level-- > 0;) {
            const NestLoop& loop = loops_[level];
            if (++index_[level] < loop.count) {
                from_ += loop.from;
                to_ += loop.to;
                return true;
            }
            index_[level] = 0;
            from_ -= loop.from * static_cast<std::int64_t>(loop.count - 1);
            to_ -= loop.to * static_cast<std::int64_t>(loop.count - 1);
        }
        return false;
    }

 private:
    std::vector<NestLoop> loops_;
    std::vector<std::uint64_t> index_;
    std::int64_t from_ = 0;
    std::int64_t to_ = 0;
};

// The blocks and order in which a vector transpose walks its nest, and how its target is written:
// in place, in whole cache lines that bypass the caches, or via a staging buffer.

// The loops of a nest that a vector transpose uses.
//
//     interleaving    the source has rows (a loop of one unit there), the target pieces
//     deinterleaving  the source has pieces, the target rows

constexpr std::uint64_t piece_bytes = 16;

/// The nest as interleaving sees it: `row` is the side of rows, `piece` the other.
struct Sides {
    std::int64_t NestLoop::*row;
    std::int64_t NestLoop::*piece;
};
constexpr Sides interleaving{&NestLoop::from, &NestLoop::to};
constexpr Sides deinterleaving{&NestLoop::to, &NestLoop::from};

struct Shuffle {
    bool interleaves = true;
    std::size_t columns = 0;    ///< loop that steps through a row
    std::size_t lanes = 0;      ///< loop from row to row
    std::size_t continued = 0;  ///< loop that continues the row in pieces elsewhere, or none
    std::uint32_t width = 0;    ///< lanes per piece
    /// Steps of the two loops that whole blocks cover; what is beyond is handled separately.
    std::array<std::pair<std::size_t, std::uint64_t>, 2> whole{};
};

/// Nothing if no pair of loops is suitable.
std::optional<Shuffle> find_shuffle(const LoopNest& nest);

/// A block that is collected before it is written: rows that are `row` bytes apart in the target.
struct StageShape {
    std::uint64_t rows = 0;
    std::uint64_t run = 0;  ///< bytes per row; 0: no stage
    std::int64_t row = 0;

    std::uint64_t bytes() const { return rows * run; }
};

/// What the kernel does at each step of `outer` and `inner`.
struct ShuffleWalk {
    bool interleaves = true;
    ShuffleShape shape;
    std::vector<NestLoop> outer;  ///< slowest first
    std::vector<NestLoop> inner;  ///< within one block; its target steps are those of the stage
    std::uint64_t bytes = 0;      ///< per block
    StageShape stage;
    bool stream = false;  ///< bypasses the caches, if the target begins at a cache line
    /// From a call of the kernel to the one whose source it prefetches; 0: no prefetch.
    unsigned calls_ahead = 0;
    std::size_t along = 0;      ///< loop of the nest that is cut into blocks
    std::uint64_t covered = 0;  ///< its steps in whole blocks; the remainder is its own nest

    /// Kernel calls per block.
    std::uint64_t calls() const;
};

ShuffleWalk plan_shuffle(const LoopNest& nest, const Shuffle& shuffle, bool stream);

// Walks a loop nest: picks what its loops allow - byte runs, vector transposes, or single units in
// blocks - and an order that suits caches and pages.

/// Reports bytes moved, in portions of about a megabyte.
class MoveProgress {
 public:
    explicit MoveProgress(const std::function<void(std::uint64_t)>& report) : report_(report) {}

    void moved(std::uint64_t bytes) {
        waiting_ += bytes;
        if (waiting_ >= portion && report_) {
            flush();
        }
    }
    void flush() {
        if (report_ && waiting_ > 0) {
            report_(waiting_);
        }
        waiting_ = 0;
    }

 private:
    static constexpr std::uint64_t portion = std::uint64_t{1} << 20;
    const std::function<void(std::uint64_t)>& report_;
    std::uint64_t waiting_ = 0;
};

struct NestMemory {
    const std::uint8_t* from = nullptr;
    std::uint8_t* to = nullptr;
    bool stream = false;  ///< the target is too large to be worth caching
    MoveProgress* progress = nullptr;
};

void run_nest(const LoopNest& nest, const NestMemory& memory);

// A tensor cut into boxes that fit the second-level cache, and each box as a row-major tile: where
// values change (codes, quantisation), they change there.

/// Boxes of at most `elements` (or one block of both layouts, if larger), cut along the slowest
/// axes first and never inside a block of either layout unless unavoidable.
void for_each_tile(const Layout& source, const Layout& target, std::uint64_t elements,
                   const std::function<void(const std::vector<IndexRange>&)>& visit);

/// False for components of 32-bit words and high/low values whose runs cross entries.
bool moves_in_tiles(const Layout& layout);

/// The box of `shape` in row-major order; indices remain those of the whole tensor. There may be
/// small gaps between rows: `bytes` is the memory needed.
Layout tile_layout(const LogicalShape& shape, const std::vector<IndexRange>& box,
                   std::uint32_t element);

/// Moves one box; codes are treated as plain. Element by element where no loop nest exists.
void relayout_box(const Layout& source, const Layout& target, const std::vector<IndexRange>& box,
                  const NestMemory& memory);

/// Boxes of any layout as values in row-major order: decoded from it, encoded into it.
class TileMover {
 public:
    explicit TileMover(const Layout& layout);
    /// `values` needs tile_layout(..).bytes bytes.
    void read(std::span<const std::uint8_t> memory, const std::vector<IndexRange>& box,
              std::uint8_t* values, MoveProgress& progress);
    /// `values` are modified by encoding.
    void write(std::span<std::uint8_t> memory, const std::vector<IndexRange>& box,
               std::uint8_t* values, MoveProgress& progress);

 private:
    const Layout& layout_;
    std::optional<Layout> bytes_;  ///< for a high/low layout
    std::vector<std::uint8_t> planes_;
};

}  // namespace npuscope
