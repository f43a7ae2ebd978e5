// SPDX-License-Identifier: Apache-2.0
#include "models/layout/relayout.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "models/layout/element_code.h"
#include "models/layout/high_low.h"
#include "models/layout/relayout_entries.h"
#include "models/layout/relayout_tiles.h"

namespace npuscope {

namespace {

constexpr std::uint64_t tile_elements = 32768;  // with its planes in a second-level cache
constexpr std::uint64_t usual_cache = std::uint64_t{32} << 20;

/// Bytes of the last-level cache near one core: systems also tell the sum over a whole socket.
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

std::vector<IndexRange> whole(const LogicalShape& shape) {
    std::vector<IndexRange> box;
    for (const AxisExtent& axis : shape.axes) {
        box.push_back({0, axis.extent});
    }
    return box;
}

void move_elements(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
                   std::span<std::uint8_t> to, MoveProgress& progress) {
    std::vector<std::uint64_t> index(source.shape.axes.size(), 0);
    do {
        write_element(target, to, index, read_element(source, from, index));
        progress.moved(source.element);
    } while (advance(index, source.shape));
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
        relayout_box(source, target, whole(source.shape),
                     {from.data(), to.data(), stream, &progress});
    } else if (options.gaps == GapPolicy::Keep ||
               !relayout_entries(source, from, target, to, progress)) {
        move_tiles(source, from, target, to, progress);
    }
    progress.flush();
}

}  // namespace npuscope
