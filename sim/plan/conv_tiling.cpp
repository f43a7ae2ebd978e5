// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/conv_tiling.h"

#include <algorithm>
#include <optional>

#include "models/base/error.h"

namespace npuscope {
namespace {

/// Tile counts beyond the smallest that fits which are worth a look.
constexpr std::uint32_t more_tiles = 12;
/// From an operation's start to its first MAC, and from its last to the interrupt.
constexpr std::uint64_t start_and_end = 170;  // source: nv_small RTL, measured
/// From one operation's last MAC to the first of the next, whose data are in.
constexpr std::uint64_t change_over = 60;  // source: nv_small RTL, measured with pairs

std::uint64_t entries_of_row(const ConvProblem& problem, const NpuConfig& npu) {
    CdmaJob line;
    line.input = problem.input;
    return entries_of_slice(line, conv_features(npu));
}

std::uint64_t group_entries(const ConvProblem& problem, const NpuConfig& npu) {
    const WeightLayout weights = direct_weights(problem.kernels, npu.datapath);
    // one more where a group does not begin with an entry
    return divide_up(weights.group_bytes(0).value, npu.cbuf.bank_width.value) + 1;
}

std::uint32_t banks_for(std::uint64_t entries, const NpuConfig& npu) {
    return static_cast<std::uint32_t>(divide_up(entries, npu.cbuf.bank_depth));
}

/// One row of output at a time; a map of one column is not cut into single pixels, which the SDP
/// would pack.
std::uint32_t most_tiles(const ConvProblem& problem) {
    const std::uint32_t rows = problem.geometry.out_height;
    return problem.geometry.out_width > 1 ? rows : std::max(1U, rows / 2);
}

std::uint32_t tallest(const std::vector<ConvTile>& tiles) {
    return std::ranges::max(tiles, {}, &ConvTile::in_rows).in_rows;
}

/// Every tile fetches the weights again: more of them must save more than the estimate is worth.
bool clearly_less(Cycles estimate, Cycles other) {
    return estimate + Cycles(other.value / 200) < other;
}

class Estimator {
 public:
    Estimator(const ConvProblem& problem, const TilingCosts& costs)
        : problem_(problem),
          costs_(costs),
          row_entries_(entries_of_row(problem, costs.npu)),
          group_entries_(group_entries(problem, costs.npu)),
          weights_(direct_weights(problem.kernels, costs.npu.datapath)) {}

    /// The better of two ways to give banks to these tiles: room for one of them, or for two, so
    /// that the next one's data come while one is computed.
    std::optional<ConvTiling> best(std::vector<ConvTile> tiles) const {
        const std::uint64_t cube = row_entries_ * tallest(tiles);
        std::optional<ConvTiling> best = with_banks(banks_for(cube, costs_.npu), tiles, false);
        if (tiles.size() > 1) {
            const auto twice = with_banks(banks_for(2 * cube, costs_.npu), tiles, true);
            if (twice && (!best || twice->estimate < best->estimate)) {
                best = twice;
            }
        }
        if (best) {
            best->tiles = std::move(tiles);
        }
        return best;
    }

 private:
    std::optional<ConvTiling> with_banks(std::uint32_t data, const std::vector<ConvTile>& tiles,
                                         bool overlap) const {
        const std::uint32_t banks = costs_.npu.cbuf.banks;
        const std::uint32_t least = banks_for(group_entries_, costs_.npu);
        if (data + least > banks) {
            return std::nullopt;
        }
        const std::uint32_t weight = banks - data;
        ConvTiling tiling{{data, weight}, {}, {}};
        tiling.estimate = Cycles(time_of(tiles, weight, overlap));
        return tiling;
    }

    std::uint64_t time_of(const std::vector<ConvTile>& tiles, std::uint32_t weight_banks,
                          bool overlap) const {
        const std::uint64_t capacity = std::uint64_t{weight_banks} * costs_.npu.cbuf.bank_depth;
        const bool two_groups = capacity >= 2 * group_entries_ || weights_.groups() == 1;
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < tiles.size(); ++i) {
            const std::uint64_t next =
                overlap && i + 1 < tiles.size() ? fetch_time(tiles[i + 1]) : 0;
            total += compute_time(tiles[i], two_groups, next) + change_over;
            if (i == 0 || !overlap) {
                total += fetch_time(tiles[i]) + start_and_end + 2 * costs_.read_latency.value;
            }
        }
        return total;
    }

    /// Four channel blocks come side by side at five cycles for four beats.
    std::uint64_t fetch_time(const ConvTile& tile) const {
        const std::uint64_t beats =
            beats_of(Bytes(std::uint64_t{tile.in_rows} * problem_.input.width *
                           round_up(problem_.input.channels, atom())));
        return std::max(divide_up(beats * 5, 4), beats * costs_.beat_interval);
    }

    std::uint64_t compute_time(const ConvTile& tile, bool two_groups, std::uint64_t next) const {
        const DatapathConfig& path = costs_.npu.datapath;
        const std::uint64_t outputs = std::uint64_t{tile.out_rows} * problem_.geometry.out_width;
        const std::uint64_t blocks = divide_up(problem_.kernels.channels, path.atomic_c) *
                                     problem_.kernels.rows * problem_.kernels.columns;
        const std::uint64_t mac = std::max<std::uint64_t>(outputs, path.atomic_k) * blocks;
        const std::uint64_t drain = outputs * drain_of_atom();
        const std::uint64_t groups = weights_.groups();
        const std::uint64_t fetch = beats_of(weights_.stored_bytes()) * costs_.beat_interval;
        if (!two_groups) {
            return groups * std::max(mac, drain) + fetch + next;
        }
        return std::max(groups * std::max(mac, drain), fetch + next) + fetch / groups;
    }

    /// source: nv_small RTL, measured: an element a cycle and one cycle between atoms
    std::uint64_t drain_of_atom() const {
        return divide_up(costs_.npu.datapath.atomic_k, costs_.npu.sdp.output_throughput) + 1;
    }
    std::uint64_t atom() const { return costs_.npu.datapath.memory_atom.value; }
    std::uint64_t beats_of(Bytes bytes) const {
        return divide_up(bytes.value, costs_.npu.mcif.bus_width.value);
    }

    const ConvProblem& problem_;
    const TilingCosts& costs_;
    std::uint64_t row_entries_;
    std::uint64_t group_entries_;
    WeightLayout weights_;
};

}  // namespace

ConvFeatures conv_features(const NpuConfig& npu) {
    return {.datapath = npu.datapath,
            .cbuf_banks = npu.cbuf.banks,
            .cbuf_entry = npu.cbuf.bank_width,
            .secondary_port = npu.mcif.secondary_port};
}

std::vector<ConvTile> cut_rows(const ConvProblem& problem, std::uint32_t count) {
    const Convolution& geometry = problem.geometry;
    const std::uint32_t span = dilated_span(problem.kernels.rows, geometry.dilation_y);
    std::vector<ConvTile> tiles;
    std::uint32_t begin = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t end =
            static_cast<std::uint32_t>(std::uint64_t{geometry.out_height} * (i + 1) / count);
        ConvTile tile{.out_begin = begin, .out_rows = end - begin};
        // padding counts as rows in front of the input
        const std::uint32_t top = begin * geometry.stride_y;
        const std::uint32_t bottom = (end - 1) * geometry.stride_y + span;
        tile.pad_top = top < geometry.pad_top ? geometry.pad_top - top : 0;
        tile.in_begin = top + tile.pad_top - geometry.pad_top;
        const std::uint32_t in_end =
            std::min(problem.input.height, bottom - std::min(bottom, geometry.pad_top));
        tile.in_rows = in_end - std::min(in_end, tile.in_begin);
        tiles.push_back(tile);
        begin = end;
    }
    return tiles;
}

std::uint32_t largest_group(const ConvProblem& problem, const NpuConfig& npu) {
    const std::uint32_t rows = tallest(cut_rows(problem, most_tiles(problem)));
    const std::uint32_t data = banks_for(entries_of_row(problem, npu) * rows, npu);
    ConvProblem group = problem;
    for (std::uint32_t kernels = npu.datapath.atomic_k; kernels > 0; kernels /= 2) {
        group.kernels.kernels = std::min(kernels, problem.kernels.kernels);
        if (data + banks_for(group_entries(group, npu), npu) <= npu.cbuf.banks) {
            return kernels;
        }
    }
    return 0;
}

ConvTiling choose_tiling(const ConvProblem& problem, const TilingCosts& costs) {
    const Estimator estimator(problem, costs);
    std::optional<ConvTiling> best;
    std::uint32_t last = most_tiles(problem);
    for (std::uint32_t count = 1; count <= last; ++count) {
        std::optional<ConvTiling> tiling = estimator.best(cut_rows(problem, count));
        if (tiling && !best) {
            last = std::min(last, count + more_tiles);
        }
        if (tiling && (!best || clearly_less(tiling->estimate, best->estimate))) {
            best = std::move(tiling);
        }
    }
    if (!best) {
        throw ConfigError(
            "the rows under one row of output and one kernel group do not fit the "
            "convolution buffer",
            "choose a preset with a larger cbuf");
    }
    return *best;
}

}  // namespace npuscope
