// SPDX-License-Identifier: Apache-2.0
#include "models/layout/relayout.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "models/base/error.h"
#include "models/layout/element_code.h"
#include "models/layout/relayout_plan.h"

namespace npuscope {

namespace {

constexpr std::uint64_t pair_bytes = 32;       // source: Kneron pages, low entry and high entry
constexpr std::uint64_t box_elements = 65536;  // plain and joined values in a second-level cache

/// The high/low layout as plain 16-bit values, as stored in its entry pairs.
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

struct PairRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::vector<IndexRange> box;
};

/// The whole entry pairs that a box touches.
PairRange pairs_reached(const LayoutPart& part, const std::vector<IndexRange>& box) {
    const auto [low, high] = part.reach(box);
    return {static_cast<std::uint64_t>(low) / pair_bytes * pair_bytes,
            (static_cast<std::uint64_t>(high) + 2 + pair_bytes - 1) / pair_bytes * pair_bytes, box};
}

/// Boxes with their ranges; none where two ranges would share a pair.
std::vector<PairRange> boxes_with_pairs(const Layout& values, const Layout& other) {
    std::vector<PairRange> ranges;
    for_each_tile(values, other, box_elements, [&](const std::vector<IndexRange>& box) {
        ranges.push_back(pairs_reached(values.parts.front(), box));
    });
    std::vector<PairRange> order = ranges;
    std::ranges::sort(order, {}, &PairRange::begin);
    const auto overlap = [](const PairRange& a, const PairRange& b) { return b.begin < a.end; };
    return std::ranges::adjacent_find(order, overlap) == order.end() ? ranges
                                                                     : std::vector<PairRange>();
}

bool is_single(const Layout& layout) {
    return layout.parts.size() == 1 &&
           std::ranges::all_of(layout.parts.front().steps,
                               [](const LayoutStep& step) { return step.pitch >= 0; });
}

/// The fast path for high/low layouts: a pair of entries is 16 plain 16-bit values with their bytes
/// reordered, so a box that fills whole pairs moves as plain values and its pairs are split (or
/// were joined) in place. True where it was done: one side is high/low and the other plain, and
/// boxes fill whole pairs. Target bytes outside all elements must already be 0.
bool relayout_entries(const Layout& source, std::span<const std::uint8_t> from,
                      const Layout& target, std::span<std::uint8_t> to, MoveProgress& progress) {
    const bool splits = target.code == ElementCode::HighLow && source.code == ElementCode::Plain;
    const bool joins = source.code == ElementCode::HighLow && target.code == ElementCode::Plain;
    const Layout& paired = splits ? target : source;
    if ((!splits && !joins) || !is_single(paired)) {
        return false;
    }
    Layout values = values_of(paired);
    const std::vector<PairRange> ranges = boxes_with_pairs(values, splits ? source : target);
    std::vector<std::uint8_t> joined;
    for (const PairRange& range : ranges) {
        const std::uint64_t bytes = range.end - range.begin;
        if (splits) {
            relayout_box(source, values, range.box, {from.data(), to.data(), false, &progress});
            split_entries(to.data() + range.begin, bytes);
            continue;
        }
        joined.resize(std::max<std::size_t>(joined.size(), bytes));
        join_entries(from.data() + range.begin, bytes, joined.data());
        const auto shift = static_cast<std::int64_t>(range.begin);
        values.parts.front().base -= shift;
        relayout_box(values, target, range.box, {joined.data(), to.data(), false, &progress});
        values.parts.front().base += shift;
    }
    return !ranges.empty();
}

void require_size(const char* which, const Layout& layout, std::uint64_t needed,
                  std::uint64_t given) {
    if (given < needed) {
        throw ConfigError(fmt::format("the {} holds {} byte{}, but layout {} of {} needs {}", which,
                                      given, given == 1 ? "" : "s", layout.name,
                                      to_string(layout.shape), needed));
    }
}

/// Axes in another order do not make another tensor.
/// The refusals of relayout().
void require_pair(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
                  std::span<const std::uint8_t> to) {
    if (source.shape != target.shape || source.element != target.element) {
        throw ConfigError(fmt::format(
            "{} of {} with {}-byte elements cannot be converted to {} of {} with {}-byte elements",
            source.name, to_string(source.shape), source.element, target.name,
            to_string(target.shape), target.element));
    }
    require_size("source", source, source.used, from.size());
    require_size("target", target, target.bytes, to.size());
}

}  // namespace

void relayout_plain(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
                    std::span<std::uint8_t> to, GapPolicy gaps) {
    require_pair(source, from, target, to);
    if (gaps == GapPolicy::Zero) {
        std::ranges::fill(to.first(target.bytes), std::uint8_t{0});
    }
    const std::vector<IndexRange> box = source.shape.box();
    std::vector<std::uint64_t> index = first_index(box);
    do {
        write_element(target, to, index, read_element(source, from, index));
    } while (next_index(index, box));
}

namespace {

constexpr std::uint64_t tile_elements = 32768;  // with its planes in a second-level cache
constexpr std::uint64_t usual_cache = std::uint64_t{32} << 20;

/// Bytes of the last-level cache near one core: some systems report the sum over a whole socket.
std::uint64_t cache_bytes() {
    static const long told = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return told > 0 ? std::min(static_cast<std::uint64_t>(told), usual_cache) : usual_cache;
}

void clear(std::span<std::uint8_t> memory, MoveProgress& progress) {
    constexpr std::uint64_t step = std::uint64_t{1} << 20;
    for (std::uint64_t at = 0; at < memory.size(); at += step) {
        const std::uint64_t bytes = std::min<std::uint64_t>(step, memory.size() - at);
        std::memset(memory.data() + at, 0, bytes);
        progress.moved(bytes);
    }
}

void move_elements(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
                   std::span<std::uint8_t> to, MoveProgress& progress) {
    const std::vector<IndexRange> box = source.shape.box();
    std::vector<std::uint64_t> index = first_index(box);
    do {
        write_element(target, to, index, read_element(source, from, index));
        progress.moved(source.element);
    } while (next_index(index, box));
}

void move_tiles(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
                std::span<std::uint8_t> to, MoveProgress& progress) {
    TileMover reader(source), writer(target);
    std::vector<std::uint8_t> values;
    for_each_tile(source, target, tile_elements, [&](const std::vector<IndexRange>& box) {
        values.resize(tile_layout(source.shape, box, source.element).bytes);
        reader.read(from, box, values.data(), progress);
        writer.write(to, box, values.data(), progress);
    });
}

}  // namespace

void relayout(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
              std::span<std::uint8_t> to, const RelayoutOptions& options) {
    require_pair(source, from, target, to);
    MoveProgress progress(options.progress);
    if (options.gaps == GapPolicy::Zero && !target.is_dense()) {
        clear(to.first(target.bytes), progress);
    }
    const bool plain = source.code == ElementCode::Plain && target.code == ElementCode::Plain;
    if (!moves_in_tiles(source) || !moves_in_tiles(target)) {
        move_elements(source, from, target, to, progress);
    } else if (plain) {
        const std::uint64_t cache = options.cache == 0 ? cache_bytes() : options.cache;
        const bool stream = source.used + target.bytes > cache / 4 * 3;
        relayout_box(source, target, source.shape.box(),
                     {from.data(), to.data(), stream, &progress});
    } else if (options.gaps == GapPolicy::Keep ||
               !relayout_entries(source, from, target, to, progress)) {
        move_tiles(source, from, target, to, progress);
    }
    progress.flush();
}

}  // namespace npuscope
