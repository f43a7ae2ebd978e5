// SPDX-License-Identifier: Apache-2.0
#include "models/layout/relayout_plan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "models/base/check.h"
#include "models/layout/element_code.h"

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

namespace {

/// Indices of an axis that form a block in either layout.
std::uint64_t block_of(const Layout& source, const Layout& target, std::size_t axis) {
    std::uint64_t block = 1;
    for (const Layout* layout : {&source, &target}) {
        for (const LayoutPart& part : layout->parts) {
            for (const LayoutStep& step : part.steps) {
                block = step.axis == axis ? std::max(block, step.divide) : block;
            }
        }
    }
    return std::min(block, source.shape.axes[axis].extent);
}

/// Axes by the largest step of any of their digits.
std::vector<std::size_t> slowest_first(const Layout& layout) {
    std::vector<std::pair<std::int64_t, std::size_t>> steps;
    for (std::size_t axis = 0; axis < layout.shape.axes.size(); ++axis) {
        std::int64_t largest = 0;
        for (const LayoutStep& step : layout.parts.front().steps) {
            largest = step.axis == axis ? std::max(largest, std::abs(step.pitch)) : largest;
        }
        steps.emplace_back(-largest, axis);
    }
    std::ranges::sort(steps);
    std::vector<std::size_t> order;
    std::ranges::transform(steps, std::back_inserter(order),
                           [](const auto& step) { return step.second; });
    return order;
}

std::vector<std::uint64_t> tile_sides(const Layout& source, const Layout& target,
                                      std::uint64_t elements) {
    std::vector<std::uint64_t> sides;
    for (const AxisExtent& axis : source.shape.axes) {
        sides.push_back(axis.extent);
    }
    const auto size = [&sides] {
        std::uint64_t product = 1;
        for (const std::uint64_t side : sides) {
            product *= side;
        }
        return product;
    };
    const std::vector<std::size_t> order = slowest_first(source);
    for (const bool inside : {false, true}) {
        for (const std::size_t axis : order) {
            if (size() <= elements) {
                break;
            }
            const std::uint64_t block = inside ? 1 : block_of(source, target, axis);
            const std::uint64_t others = size() / sides[axis];
            const std::uint64_t most = std::max(elements / others, block) / block * block;
            sides[axis] = std::min(sides[axis], most);
        }
    }
    return sides;
}

/// The bytes of a tile of 16-bit values: its low plane, then its high plane.
Layout plane_layout(const Layout& tile, const std::vector<IndexRange>& planes) {
    Layout layout = tile;
    layout.element = 1;
    layout.shape.axes.insert(layout.shape.axes.begin(), {'#', 2});
    LayoutPart& part = layout.parts.front();
    part.box = planes;
    part.base /= 2;
    for (LayoutStep& step : part.steps) {
        step.axis += 1;
        step.pitch /= 2;
    }
    part.steps.push_back({0, 1, 0, static_cast<std::int64_t>(tile.bytes / 2)});
    return layout;
}

/// The box including both planes.
std::vector<IndexRange> with_planes(const std::vector<IndexRange>& box) {
    std::vector<IndexRange> planes = box;
    planes.insert(planes.begin(), IndexRange{0, 2});
    return planes;
}

/// Offsets of single elements, where radices of the two layouts do not divide each other.
void copy_elements(const PartPair& pair, const std::vector<IndexRange>& box,
                   const NestMemory& memory) {
    const std::vector<IndexRange> shared = intersect(pair, box);
    if (shared.size() != box.size()) {
        return;
    }
    std::vector<std::uint64_t> index = first_index(shared);
    do {
        std::memcpy(memory.to + pair.target.offset(index), memory.from + pair.source.offset(index),
                    pair.element);
        memory.progress->moved(pair.element);
    } while (next_index(index, shared));
}

}  // namespace

bool moves_in_tiles(const Layout& layout) {
    const bool fields = std::ranges::any_of(
        layout.parts, [](const LayoutPart& part) { return part.field.width != 0; });
    return !fields && (layout.code != ElementCode::HighLow || byte_layout(layout).has_value());
}

void for_each_tile(const Layout& source, const Layout& target, std::uint64_t elements,
                   const std::function<void(const std::vector<IndexRange>&)>& visit) {
    const std::vector<std::uint64_t> sides = tile_sides(source, target, elements);
    std::vector<IndexRange> box;
    for (std::size_t axis = 0; axis < sides.size(); ++axis) {
        box.push_back({0, std::min(sides[axis], source.shape.axes[axis].extent)});
    }
    while (true) {
        visit(box);
        std::size_t axis = box.size();
        while (axis > 0 && box[axis - 1].last == source.shape.axes[axis - 1].extent) {
            --axis;
            box[axis] = {0, std::min(sides[axis], source.shape.axes[axis].extent)};
        }
        if (axis == 0) {
            return;
        }
        IndexRange& range = box[axis - 1];
        range = {range.last,
                 std::min(range.last + sides[axis - 1], source.shape.axes[axis - 1].extent)};
    }
}

Layout tile_layout(const LogicalShape& shape, const std::vector<IndexRange>& box,
                   std::uint32_t element) {
    Layout layout{"tile", "row-major", shape, element, ElementCode::Plain, {}, 0, 0};
    LayoutPart part{box, 0, {}, {}};
    std::uint64_t pitch = element;
    bool shifted = false;
    for (std::size_t axis = box.size(); axis-- > 0;) {
        if (!shifted && box[axis].size() > 1 && pitch / element % 1024 == 0) {
            pitch += 64 * std::uint64_t{element};  // rows that collide in the caches move apart
            shifted = true;
        }
        part.steps.push_back({axis, 1, 0, static_cast<std::int64_t>(pitch)});
        part.base -= static_cast<std::int64_t>(pitch * box[axis].first);
        pitch *= box[axis].size();
    }
    layout.parts.push_back(std::move(part));
    layout.bytes = pitch;
    layout.used = pitch;
    return layout;
}

void relayout_box(const Layout& source, const Layout& target, const std::vector<IndexRange>& box,
                  const NestMemory& memory) {
    for (const LayoutPart& from : source.parts) {
        for (const LayoutPart& to : target.parts) {
            const PartPair pair{from, to, source.element};
            const auto nests = plan_nests(pair, box);
            if (!nests) {
                copy_elements(pair, box, memory);
                continue;
            }
            for (const LoopNest& nest : *nests) {
                run_nest(nest, memory);
            }
        }
    }
}

TileMover::TileMover(const Layout& layout) : layout_(layout) {
    if (layout.code == ElementCode::HighLow) {
        bytes_ = byte_layout(layout);
        NPU_CHECK(bytes_.has_value(), "entries hold whole runs");
    }
}

void TileMover::read(std::span<const std::uint8_t> memory, const std::vector<IndexRange>& box,
                     std::uint8_t* values, MoveProgress& progress) {
    const Layout tile = tile_layout(layout_.shape, box, layout_.element);
    const std::uint64_t elements = tile.bytes / tile.element;
    if (!bytes_) {
        relayout_box(layout_, tile, box, {memory.data(), values, false, &progress});
        decode_values(layout_.code, values, elements);
        return;
    }
    planes_.resize(2 * elements);
    const std::vector<IndexRange> planes = with_planes(box);
    relayout_box(*bytes_, plane_layout(tile, planes), planes,
                 {memory.data(), planes_.data(), false, &progress});
    join_high_low(planes_.data(), elements, values);
}

void TileMover::write(std::span<std::uint8_t> memory, const std::vector<IndexRange>& box,
                      std::uint8_t* values, MoveProgress& progress) {
    const Layout tile = tile_layout(layout_.shape, box, layout_.element);
    const std::uint64_t elements = tile.bytes / tile.element;
    if (!bytes_) {
        encode_values(layout_.code, values, elements);
        relayout_box(tile, layout_, box, {values, memory.data(), false, &progress});
        return;
    }
    planes_.resize(2 * elements);
    split_high_low(values, elements, planes_.data());
    const std::vector<IndexRange> planes = with_planes(box);
    relayout_box(plane_layout(tile, planes), *bytes_, planes,
                 {planes_.data(), memory.data(), false, &progress});
}

}  // namespace npuscope
