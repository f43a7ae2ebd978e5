// SPDX-License-Identifier: Apache-2.0
#include "models/layout/relayout_entries.h"

#include <algorithm>

#include "models/layout/high_low.h"
#include "models/layout/relayout_tiles.h"

namespace npuscope {

namespace {

constexpr std::uint64_t pair_bytes = 32;       // source: Kneron pages, low entry and high entry
constexpr std::uint64_t box_elements = 65536;  // plain and joined in a second-level cache

/// The high/low layout as the plain 16-bit values that its entry pairs hold.
Layout values_of(const Layout& high_low) {
    Layout layout = high_low;
    layout.code = ElementCode::Plain;
    for (LayoutPart& part : layout.parts) {
        part.base *= 2;
        for (LayoutStep& step : part.steps) {
            step.pitch *= 2;
        }
    }
    return layout;
}

struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::vector<IndexRange> box;
};

/// The whole entry pairs that a box reaches.
Stretch stretch_of(const LayoutPart& part, const std::vector<IndexRange>& box) {
    std::vector<std::uint64_t> first, last;
    for (const IndexRange& range : box) {
        first.push_back(range.first);
        last.push_back(range.last - 1);
    }
    std::int64_t low = part.base, high = part.base;
    for (const LayoutStep& step : part.steps) {
        const std::uint64_t from = first[step.axis] / step.divide;
        const std::uint64_t to = last[step.axis] / step.divide;
        const bool turns = step.modulo != 0 && from / step.modulo != to / step.modulo;
        const std::uint64_t least = step.modulo == 0 ? from : turns ? 0 : from % step.modulo;
        const std::uint64_t most = step.modulo == 0 ? to
                                   : turns          ? step.modulo - 1
                                                    : to % step.modulo;
        low += step.pitch * static_cast<std::int64_t>(least);
        high += step.pitch * static_cast<std::int64_t>(most);
    }
    return {static_cast<std::uint64_t>(low) / pair_bytes * pair_bytes,
            (static_cast<std::uint64_t>(high) + 2 + pair_bytes - 1) / pair_bytes * pair_bytes, box};
}

/// Boxes with their stretches; none where two stretches would share a pair.
std::vector<Stretch> stretches_of(const Layout& values, const Layout& other) {
    std::vector<Stretch> stretches;
    for_each_tile(values, other, box_elements, [&](const std::vector<IndexRange>& box) {
        stretches.push_back(stretch_of(values.parts.front(), box));
    });
    std::vector<const Stretch*> order;
    order.reserve(stretches.size());
    for (const Stretch& stretch : stretches) {
        order.push_back(&stretch);
    }
    std::ranges::sort(order, {}, &Stretch::begin);
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (order[i]->begin < order[i - 1]->end) {
            return {};
        }
    }
    return stretches;
}

bool is_single(const Layout& layout) {
    return layout.parts.size() == 1 &&
           std::ranges::all_of(layout.parts.front().steps,
                               [](const LayoutStep& step) { return step.pitch >= 0; });
}

}  // namespace

bool relayout_entries(const Layout& source, std::span<const std::uint8_t> from,
                      const Layout& target, std::span<std::uint8_t> to, MoveProgress& progress) {
    const bool splits = target.code == ElementCode::HighLow && source.code == ElementCode::Plain;
    const bool joins = source.code == ElementCode::HighLow && target.code == ElementCode::Plain;
    const Layout& paired = splits ? target : source;
    if ((!splits && !joins) || !is_single(paired)) {
        return false;
    }
    Layout values = values_of(paired);
    const std::vector<Stretch> stretches = stretches_of(values, splits ? source : target);
    std::vector<std::uint8_t> joined;
    for (const Stretch& stretch : stretches) {
        const std::uint64_t bytes = stretch.end - stretch.begin;
        if (splits) {
            relayout_box(source, values, stretch.box, {from.data(), to.data(), false, &progress});
            split_entries(to.data() + stretch.begin, bytes);
            continue;
        }
        joined.resize(std::max<std::size_t>(joined.size(), bytes));
        join_entries(from.data() + stretch.begin, bytes, joined.data());
        const auto shift = static_cast<std::int64_t>(stretch.begin);
        values.parts.front().base -= shift;
        relayout_box(values, target, stretch.box, {joined.data(), to.data(), false, &progress});
        values.parts.front().base += shift;
    }
    return !stretches.empty();
}

}  // namespace npuscope
