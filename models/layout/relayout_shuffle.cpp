// SPDX-License-Identifier: Apache-2.0
#include "models/layout/relayout_shuffle.h"

#include <algorithm>

namespace npuscope {

namespace {

bool is_power_of_two(std::uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

std::optional<Shuffle> match(const LoopNest& nest, const Sides& sides) {
    const auto unit = static_cast<std::int64_t>(nest.unit);
    const std::uint64_t full = piece_bytes / nest.unit;
    const std::size_t none = nest.loops.size();
    Shuffle found{sides.row == &NestLoop::from, none, none, none, 0, {}};
    for (std::size_t i = 0; i < nest.loops.size(); ++i) {
        found.columns = nest.loops[i].*sides.row == unit ? i : found.columns;
        found.lanes = nest.loops[i].*sides.piece == unit ? i : found.lanes;
    }
    if (found.columns == none || found.lanes == none || found.columns == found.lanes) {
        return std::nullopt;
    }
    const NestLoop& columns = nest.loops[found.columns];
    const NestLoop& lanes = nest.loops[found.lanes];
    std::uint64_t length = columns.count;
    if (lanes.count >= full) {
        found.width = static_cast<std::uint32_t>(full);
        found.whole = {std::pair{found.lanes, lanes.count / full * full},
                       std::pair{found.columns, length / full * full}};
        return length >= full ? std::optional(found) : std::nullopt;
    }
    const std::uint64_t together = lanes.count * nest.unit;
    if (!is_power_of_two(lanes.count) || lanes.count == 1 ||
        columns.*sides.piece != static_cast<std::int64_t>(together)) {
        return std::nullopt;
    }
    found.width = static_cast<std::uint32_t>(lanes.count);
    found.whole = {std::pair{found.lanes, lanes.count},
                   std::pair{found.columns, length / full * full}};
    if (length >= full) {
        return found;
    }
    for (std::size_t i = 0; i < nest.loops.size() && length * together == piece_bytes; ++i) {
        const bool follows = nest.loops[i].*sides.row == unit * static_cast<std::int64_t>(length);
        if (follows && i != found.lanes && nest.loops[i].count * length >= full) {
            const std::uint64_t turns = full / length;
            found.continued = i;
            found.whole = {std::pair{found.columns, length},
                           std::pair{i, nest.loops[i].count / turns * turns}};
            return found;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<Shuffle> find_shuffle(const LoopNest& nest) {
    if (nest.unit > 8 || !is_power_of_two(nest.unit)) {
        return std::nullopt;
    }
    const auto weave = match(nest, interleaving);
    const auto unweave = match(nest, deinterleaving);
    if (!weave || !unweave) {
        return weave ? weave : unweave;
    }
    return nest.loops[weave->lanes].count <= nest.loops[unweave->lanes].count ? weave : unweave;
}

}  // namespace npuscope
