// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/tiling_estimate.h"

#include <algorithm>

#include "models/csc/csc_timing.h"
#include "models/data/weight_layout.h"

namespace npuscope {
namespace {

/// From op-enable to the first beat in the buffer, and from the last beat to the first MAC.
constexpr std::uint64_t start = 88;  // source: nv_small RTL, measured
/// From the last MAC to the interrupt.
constexpr std::uint64_t end = 60;  // source: nv_small RTL, measured

/// Stripes of one kernel group: full ones and the lengths of those behind them.
struct Stripes {
    std::uint64_t full = 0;
    std::uint64_t full_length = 0;
    std::vector<std::uint32_t> rest;
};

Stripes stripes_of(std::uint64_t outputs, const NpuConfig& npu) {
    const std::uint32_t cells = npu.datapath.atomic_k;
    const std::uint64_t length = std::uint64_t{npu.csc.stripe_groups} * cells;
    Stripes stripes{.full = outputs >= 2 * length ? outputs / length - 1 : 0,
                    .full_length = length,
                    .rest = {}};
    stripes.rest = stripe_lengths({.outputs = outputs - stripes.full * length,
                                   .blocks = 1,
                                   .cells = cells,
                                   .full_stripe = static_cast<std::uint32_t>(length)});
    return stripes;
}

}  // namespace

const char* LayerBounds::name() const {
    if (memory >= mac && memory >= sdp) {
        return "memory";
    }
    return mac >= sdp ? "mac" : "sdp";
}

TilingEstimate::TilingEstimate(const ConvProblem& problem, const TilingCosts& costs)
    : problem_(problem), costs_(costs) {
    const NpuConfig& npu = costs.npu;
    const WeightLayout weights = direct_weights(problem.kernels, npu.datapath);
    const std::uint64_t bus = npu.mcif.bus_width.value;
    groups_ = weights.groups();
    blocks_ = divide_up(problem.kernels.channels, npu.datapath.atomic_c) * problem.kernels.rows *
              problem.kernels.columns;
    weight_beats_ = divide_up(weights.stored_bytes().value, bus);
    group_beats_ = divide_up(weights.group_bytes(0).value, bus);
    group_entries_ = divide_up(weights.group_bytes(0).value, npu.cbuf.bank_width.value) + 1;
    atom_beats_ = divide_up(npu.datapath.memory_atom.value, bus);
}

TilingEstimate::TileTime TilingEstimate::time_of(const ConvTile& tile) const {
    const NpuConfig& npu = costs_.npu;
    const std::uint64_t cells = npu.datapath.atomic_k;
    const std::uint64_t outputs = std::uint64_t{tile.out_rows} * problem_.geometry.out_width;
    const std::uint64_t elements = divide_up(cells, npu.sdp.output_throughput);
    const std::uint64_t interval = costs_.beat_interval;
    const std::uint64_t atom =
        std::max(elements + npu.sdp.flying_bubble.value, problem_.residual ? interval : 1);
    const std::uint64_t turn =
        npu.cacc.fill_latency.value + npu.cacc.credit_return.value - std::min(atom, elements);
    const Stripes stripes = stripes_of(outputs, npu);
    TileTime time;
    const auto add = [&](std::uint64_t count, std::uint64_t length) {
        const std::uint64_t mac = std::max(length, cells) * blocks_;
        const std::uint64_t drain = length * atom + turn;
        time.mac += count * mac;
        time.drain += count * drain;
        time.compute += count * std::max(mac, drain);
    };
    add(stripes.full, stripes.full_length);
    for (const std::uint32_t length : stripes.rest) {
        add(1, length);
    }
    time.mac *= groups_;
    time.drain *= groups_;
    time.compute *= groups_;
    const std::uint64_t lanes = npu.datapath.memory_atom.value;
    const std::uint64_t row = std::uint64_t{problem_.input.width} *
                              divide_up(problem_.input.channels, lanes) * atom_beats_;
    time.data = tile.in_rows * row;
    if (problem_.residual) {
        time.residual = outputs * divide_up(problem_.kernels.kernels, lanes) * atom_beats_;
    }
    return time;
}

/// Cycles until a tile's data are in while so many beats of weights come as well: the two
/// alternate, and data alone lose a cycle in five.
std::uint64_t TilingEstimate::first_data(std::uint64_t data, std::uint64_t weights) const {
    const std::uint64_t both = std::min(data, weights);
    const std::uint64_t alone = data - both;
    const std::uint64_t interval = costs_.beat_interval;
    return std::max(2 * both + alone * 5 / 4, (2 * both + alone) * interval);
}

TilingEstimate::Total TilingEstimate::total_of(const ConvTiling& tiling,
                                               std::uint32_t slices) const {
    const std::uint64_t interval = costs_.beat_interval;
    const std::uint64_t depth = costs_.npu.cbuf.bank_depth;
    const std::uint64_t entry_beats =
        std::max<std::uint64_t>(1, costs_.npu.cbuf.bank_width / costs_.npu.mcif.bus_width);
    const std::uint64_t room = std::uint64_t{tiling.banks.weight} * depth * entry_beats;
    const bool two_groups =
        groups_ == 1 || std::uint64_t{tiling.banks.weight} * depth >= 2 * group_entries_;
    const std::uint64_t before = start + costs_.read_latency.value;
    const std::size_t tiles = tiling.tiles.size();
    const std::size_t count = tiles * slices;
    Total total;
    bool data_is_in = false;
    TileTime next = time_of(tiling.tiles.front());
    for (std::size_t i = 0; i < count; ++i) {
        const TileTime now = next;
        const bool last = i + 1 == count;
        next = last ? TileTime{} : time_of(tiling.tiles[(i + 1) % tiles]);
        std::uint64_t weights = tiling.resident && i % tiles > 0 ? 0 : weight_beats_;
        // a full weight store gives the bus to the data; behind another tile weights came early
        const std::uint64_t early = std::min(weights, room);
        if (!data_is_in) {
            const std::uint64_t with_data = i == 0 ? early : early / 4;
            total.cycles += before + std::max(first_data(now.data, with_data),
                                              std::min(weights, group_beats_) * interval);
            weights -= std::min(weights, std::min(with_data, now.data));
        } else {
            total.cycles += costs_.npu.csc.next_operation.value;
        }
        std::uint64_t moved = weights + now.residual;
        if (!last && tiling.overlapped) {
            moved += next.data;
        } else if (!last && !tiling.resident) {
            moved += std::min(weight_beats_, room) / 4;
        }
        const std::uint64_t exposed =
            two_groups ? 0 : (groups_ - 1) * (group_beats_ * interval + before / 2);
        total.cycles += std::max(now.compute + exposed, moved * interval);
        data_is_in = tiling.overlapped;
        total.mac += now.mac;
        total.drain += now.drain;
        total.memory += (weights + now.residual + now.data) * interval;
    }
    total.cycles += end + costs_.read_latency.value;
    return total;
}

void TilingEstimate::fill(ConvTiling& tiling) const {
    Total total = total_of(tiling, 1);
    if (problem_.slices > 1) {  // one more slice costs what the second one does
        const Total two = total_of(tiling, 2);
        const std::uint64_t more = problem_.slices - 1;
        const auto extend = [more](std::uint64_t& one, std::uint64_t both) {
            one += more * (both - one);
        };
        extend(total.cycles, two.cycles);
        extend(total.mac, two.mac);
        extend(total.drain, two.drain);
        extend(total.memory, two.memory);
    }
    tiling.estimate = Cycles(total.cycles);
    const LayerBounds shares{Cycles(total.mac), Cycles(total.drain), Cycles(total.memory)};
    tiling.bound_by = 2 * shares.largest().value < total.cycles ? "start" : shares.name();
}

LayerBounds TilingEstimate::bounds() const {
    const ConvTile whole{.out_begin = 0,
                         .out_rows = problem_.geometry.out_height,
                         .in_begin = 0,
                         .in_rows = problem_.input.height,
                         .pad_top = 0};
    const NpuConfig& npu = costs_.npu;
    const std::uint64_t outputs = std::uint64_t{whole.out_rows} * problem_.geometry.out_width;
    const auto beats_of = [&](std::uint64_t pixels, std::uint64_t channels) {
        const std::uint64_t atom = npu.datapath.memory_atom.value;
        return divide_up(pixels * round_up(channels, atom), npu.mcif.bus_width.value);
    };
    const std::uint64_t inputs = std::uint64_t{problem_.input.height} * problem_.input.width;
    const std::uint64_t written = beats_of(outputs, problem_.kernels.kernels);
    const std::uint64_t read = beats_of(inputs, problem_.input.channels) + weight_beats_ +
                               (problem_.residual ? written : 0);
    const std::uint64_t atom_cycles =
        divide_up(npu.datapath.atomic_k, npu.sdp.output_throughput) + npu.sdp.flying_bubble.value;
    return {.mac = Cycles(time_of(whole).mac * problem_.slices),
            .sdp = Cycles(outputs * groups_ * atom_cycles * problem_.slices),
            .memory = Cycles(std::max(read, written) * costs_.beat_interval * problem_.slices)};
}

}  // namespace npuscope
