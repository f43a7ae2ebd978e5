// SPDX-License-Identifier: Apache-2.0
#include "models/layout/relayout_plan.h"

#include <algorithm>

namespace npuscope {

namespace {

std::int64_t offset_on(const LayoutPart& part, std::size_t axis, std::uint64_t index) {
    std::int64_t sum = 0;
    for (const LayoutStep& step : part.steps) {
        sum += step.axis == axis ? step.offset(index) : 0;
    }
    return sum;
}

/// A range of one axis in which every digit of both sides steps evenly.
struct AxisPiece {
    std::uint64_t origin = 0;
    std::vector<NestLoop> loops;
};

/// Where digits of either side wrap around, ascending; nothing where one does not divide the next.
std::optional<std::vector<std::uint64_t>> radices_of(const PartPair& pair, std::size_t axis) {
    std::vector<std::uint64_t> radices;
    for (const LayoutPart* part : {&pair.source, &pair.target}) {
        for (const LayoutStep& step : part->steps) {
            if (step.axis == axis) {
                radices.push_back(step.divide);
                radices.push_back(step.divide * std::max<std::uint64_t>(step.modulo, 1));
            }
        }
    }
    std::ranges::sort(radices);
    radices.erase(std::unique(radices.begin(), radices.end()), radices.end());
    for (std::size_t i = 1; i < radices.size(); ++i) {
        if (radices[i] % radices[i - 1] != 0) {
            return std::nullopt;
        }
    }
    return radices;
}

class AxisCutter {
 public:
    AxisCutter(const PartPair& pair, std::size_t axis, std::vector<std::uint64_t> radices)
        : pair_(pair), axis_(axis), radices_(std::move(radices)) {}

    std::vector<AxisPiece> cut(IndexRange range) const {
        std::vector<AxisPiece> pieces;
        cut_at(range, radices_.size(), pieces);
        return pieces;
    }

 private:
    NestLoop loop(std::uint64_t origin, std::uint64_t count, std::uint64_t step) const {
        if (count < 2) {
            return {count, 0, 0};
        }
        const auto pitch = [&](const LayoutPart& part) {
            return offset_on(part, axis_, origin + step) - offset_on(part, axis_, origin);
        };
        return {count, pitch(pair_.source), pitch(pair_.target)};
    }

    void cut_at(IndexRange range, std::size_t level, std::vector<AxisPiece>& pieces) const {
        if (range.first >= range.last) {
            return;
        }
        if (level == 0) {
            pieces.push_back({range.first, {loop(range.first, range.size(), 1)}});
            return;
        }
        const std::uint64_t block = radices_[level - 1];
        const std::uint64_t first = (range.first + block - 1) / block * block;
        const std::uint64_t last = range.last / block * block;
        if (first >= last) {
            const std::uint64_t cut = std::min(first, range.last);
            cut_at({range.first, cut}, level - 1, pieces);
            cut_at({cut, range.last}, level - 1, pieces);
            return;
        }
        cut_at({range.first, first}, level - 1, pieces);
        std::vector<AxisPiece> inner;
        cut_at({first, first + block}, level - 1, inner);
        for (AxisPiece& piece : inner) {
            piece.loops.insert(piece.loops.begin(),
                               loop(piece.origin, (last - first) / block, block));
            pieces.push_back(std::move(piece));
        }
        cut_at({last, range.last}, level - 1, pieces);
    }

    const PartPair& pair_;
    std::size_t axis_;
    std::vector<std::uint64_t> radices_;
};

/// Joins loops that are one loop on both sides, and those that lengthen the unit.
void simplify(LoopNest& nest) {
    std::erase_if(nest.loops, [](const NestLoop& loop) { return loop.count == 1; });
    const auto join_once = [&nest] {
        const auto unit = static_cast<std::int64_t>(nest.unit);
        for (std::size_t i = 0; i < nest.loops.size(); ++i) {
            if (nest.loops[i].from == unit && nest.loops[i].to == unit) {
                nest.unit *= nest.loops[i].count;
                nest.loops.erase(nest.loops.begin() + static_cast<std::ptrdiff_t>(i));
                return true;
            }
            for (std::size_t j = 0; j < nest.loops.size(); ++j) {
                const auto count = static_cast<std::int64_t>(nest.loops[j].count);
                if (i != j && nest.loops[i].from == nest.loops[j].from * count &&
                    nest.loops[i].to == nest.loops[j].to * count) {
                    nest.loops[j].count *= nest.loops[i].count;
                    nest.loops.erase(nest.loops.begin() + static_cast<std::ptrdiff_t>(i));
                    return true;
                }
            }
        }
        return false;
    };
    while (join_once()) {
    }
}

}  // namespace

std::uint64_t LoopNest::units() const {
    std::uint64_t product = 1;
    for (const NestLoop& loop : loops) {
        product *= loop.count;
    }
    return product;
}

std::vector<IndexRange> intersect(const PartPair& pair, const std::vector<IndexRange>& box) {
    std::vector<IndexRange> shared;
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
        const IndexRange range{
            std::max({box[axis].first, pair.source.box[axis].first, pair.target.box[axis].first}),
            std::min({box[axis].last, pair.source.box[axis].last, pair.target.box[axis].last})};
        if (range.first >= range.last) {
            return {};
        }
        shared.push_back(range);
    }
    return shared;
}

std::optional<std::vector<LoopNest>> plan_nests(const PartPair& pair,
                                                const std::vector<IndexRange>& box) {
    const std::vector<IndexRange> shared = intersect(pair, box);
    std::vector<LoopNest> nests;
    if (shared.size() != box.size()) {
        return nests;
    }
    nests.push_back({pair.source.base, pair.target.base, pair.element, {}});
    for (std::size_t axis = 0; axis < shared.size(); ++axis) {
        auto radices = radices_of(pair, axis);
        if (!radices) {
            return std::nullopt;
        }
        const std::vector<AxisPiece> pieces =
            AxisCutter(pair, axis, std::move(*radices)).cut(shared[axis]);
        std::vector<LoopNest> grown;
        for (const LoopNest& nest : nests) {
            for (const AxisPiece& piece : pieces) {
                LoopNest next = nest;
                next.from += offset_on(pair.source, axis, piece.origin);
                next.to += offset_on(pair.target, axis, piece.origin);
                next.loops.insert(next.loops.end(), piece.loops.begin(), piece.loops.end());
                grown.push_back(std::move(next));
            }
        }
        nests = std::move(grown);
    }
    for (LoopNest& nest : nests) {
        simplify(nest);
    }
    return nests;
}

}  // namespace npuscope
