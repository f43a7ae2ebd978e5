// SPDX-License-Identifier: Apache-2.0
// Two bound sentences cut against each other: loop nests that visit every element of a box once,
// with constant steps in both memories.
//
//     N C H W -> N C/4 H W C%4 of 6x2x3:     C/4 (1) x C%4 (4) x HW (6)
//                                            and the short rest C%4 (2) x HW (6)
//
// A digit of one side may split the other's; where an axis' radices do not divide each other no
// such nest exists and the pair is walked element by element.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/layout/layout.h"

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
    std::uint64_t unit = 1;  ///< bytes that lie together on both sides
    std::vector<NestLoop> loops;

    std::uint64_t units() const;
    bool operator==(const LoopNest&) const = default;
};

/// Boxes of both parts have one range for each axis. `element` bytes lie together.
struct PartPair {
    const LayoutPart& source;
    const LayoutPart& target;
    std::uint64_t element;
};

/// All nests of the elements that both parts and `box` hold; none where they share no element.
/// Nothing where radices do not divide each other.
std::optional<std::vector<LoopNest>> plan_nests(const PartPair& pair,
                                                const std::vector<IndexRange>& box);

/// What both parts and the box hold; empty where it is nothing.
std::vector<IndexRange> intersect(const PartPair& pair, const std::vector<IndexRange>& box);

/// Counts through loops of a nest, the last one fastest, with the offsets on both sides.
class NestIterator {
 public:
    explicit NestIterator(std::vector<NestLoop> loops)
        : loops_(std::move(loops)), index_(loops_.size(), 0) {}

    std::int64_t from() const { return from_; }
    std::int64_t to() const { return to_; }

    /// False, and the first step again, after the last.
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

}  // namespace npuscope
