// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <ranges>

#include "models/base/check.h"
#include "models/layout/element_code.h"
#include "models/layout/relayout_kernels.h"
#include "models/layout/relayout_plan.h"

namespace npuscope {

namespace {

/// Indices of an axis that belong together in either layout.
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

/// Axes by the largest step that one of their digits takes.
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
    std::ranges::copy(steps | std::views::values, std::back_inserter(order));
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

/// The box of both planes.
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
