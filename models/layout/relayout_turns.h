// SPDX-License-Identifier: Apache-2.0
// Counts through loops of a nest, the last one fastest, with the offsets on both sides.
#pragma once

#include <utility>
#include <vector>

#include "models/layout/relayout_plan.h"

namespace npuscope {

class NestTurns {
 public:
    explicit NestTurns(std::vector<NestLoop> loops)
        : loops_(std::move(loops)), turn_(loops_.size(), 0) {}

    std::int64_t from() const { return from_; }
    std::int64_t to() const { return to_; }

    /// False, and the first turn again, behind the last.
    bool next() {
        for (std::size_t level = loops_.size(); level-- > 0;) {
            const NestLoop& loop = loops_[level];
            if (++turn_[level] < loop.count) {
                from_ += loop.from;
                to_ += loop.to;
                return true;
            }
            turn_[level] = 0;
            from_ -= loop.from * static_cast<std::int64_t>(loop.count - 1);
            to_ -= loop.to * static_cast<std::int64_t>(loop.count - 1);
        }
        return false;
    }

 private:
    std::vector<NestLoop> loops_;
    std::vector<std::uint64_t> turn_;
    std::int64_t from_ = 0;
    std::int64_t to_ = 0;
};

}  // namespace npuscope
