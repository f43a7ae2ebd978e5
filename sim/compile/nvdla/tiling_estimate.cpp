// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/tiling_estimate.h"

#include <algorithm>

#include "models/conv/csc_timing.h"
#include "models/layout/weight_layout.h"

namespace npuscope {
namespace {

/// From op-enable to the first beat in the buffer, and from the last beat to the first MAC.
constexpr std::uint64_t start = 88;  // source: nv_small RTL, measured
/// From the last MAC to the interrupt.
constexpr std::uint64_t end = 60;  // source: nv_small RTL, measured

/// Stripes of one kernel group: full ones and the lengths of those after them.
struct Stripes {
    std::uint64_t full = 0;
    std::uint64_t full_length = 0;
    std::vector<std::uint32_t> rest;
    std::uint64_t repeats = 1;  ///< rows, where stripes end at them
};

Stripes stripes_of(const ConvTile& tile, std::uint64_t columns, const ConvOperands& operands,
                   const NpuConfig& npu) {
    const std::uint64_t length = operands.full_stripe;
    const bool end_at_rows = operands.stripes_end_at_rows;
    const std::uint64_t outputs = end_at_rows ? columns : tile.out_rows * columns;
    Stripes stripes{.full = outputs >= 2 * length ? outputs / length - 1 : 0,
                    .full_length = length,
                    .rest = {},
                    .repeats = end_at_rows ? tile.out_rows : 1};
    const std::uint64_t rest = outputs - stripes.full * length;
    stripes.rest = stripe_lengths({.outputs = rest,
                                   .blocks = 1,
                                   .row = end_at_rows ? rest : 0,
                                   .cells = load_cycles(npu),
                                   .full_stripe = operands.full_stripe});
    return stripes;
}

}  // namespace

const char* LayerBounds::name() const {
    if (memory >= mac && memory >= sdp) {
        return "memory";
    }
    return mac >= sdp ? "mac" : "sdp";
}

TilingEstimate::TilingEstimate(const ConvProblem& problem, const ConvForm& form,
                               const TilingCosts& costs)
    : problem_(problem),
      costs_(costs),
      operands_(operands_of(problem, form, costs.npu)),
      groups_(operands_.weights.groups()) {}

TilingEstimate::TileTime TilingEstimate::time_of(const ConvTile& tile) const {
    const NpuConfig& npu = costs_.npu;
    const std::uint64_t load = load_cycles(npu);
    const std::uint64_t columns = std::uint64_t{problem_.geometry.out_width} * problem_.batches;
    const std::uint64_t outputs = tile.out_rows * columns;
    const std::uint64_t elements = divide_up(npu.datapath.atomic_k, npu.sdp.output_throughput);
    const std::uint64_t interval = costs_.beat_interval;
    const std::uint64_t atom =
        std::max(elements + npu.sdp.flying_bubble.value, problem_.residual ? interval : 1);
    const std::uint64_t turn =
        npu.cacc.fill_latency.value + npu.cacc.credit_return.value - std::min(atom, elements);
    // the last block of a stripe enters when its outputs have credits: one after the other where
    // there are no more of them than for one stripe
    const std::uint64_t credits = std::uint64_t{npu.cacc.buffered_groups} * npu.datapath.atomic_k;
    const bool two_stripes = credits >= 2 * std::uint64_t{operands_.full_stripe};
    const Stripes stripes = stripes_of(tile, columns, operands_, npu);
    TileTime time;
    time.awaits = npu.cacc.ends_may_meet(outputs * groups_, npu.datapath.atomic_k);
    const auto add = [&](std::uint64_t count, std::uint64_t length) {
        const std::uint64_t mac =
            std::max(divide_up(length, operands_.outputs_per_cycle), load) * operands_.blocks;
        const std::uint64_t drain = length * atom + (two_stripes ? 0 : turn);
        time.mac += count * mac;
        time.drain += count * drain;
        time.compute += count * std::max(mac, drain);
    };
    add(stripes.full, stripes.full_length);
    for (const std::uint32_t length : stripes.rest) {
        add(1, length);
    }
    const std::uint64_t passes = groups_ * stripes.repeats;
    time.mac *= passes;
    time.drain *= passes;
    time.compute *= passes;
    time.data = tile.in_rows * operands_.row_beats;
    time.data_time = tile.in_rows * operands_.row_cycles;
    const std::uint64_t written =
        divide_up(outputs / problem_.pool_area * npu.datapath.memory_atom.value,
                  npu.mcif.bus_width.value) *
        divide_up(problem_.kernels.kernels, npu.datapath.atom_channels(problem_.precision));
    time.residual = problem_.residual ? written : 0;
    // writes have channels of their own
    const std::uint64_t writing =
        problem_.output_in_sram ? transfer_time(0, written) : transfer_time(written, 0);
    time.compute = std::max(time.compute, writing);
    return time;
}

/// Cycles that beats over both ports take at least.
std::uint64_t TilingEstimate::transfer_time(std::uint64_t beats, std::uint64_t sram_beats) const {
    return std::max(beats * costs_.beat_interval, sram_beats * costs_.sram_interval);
}

/// Cycles until a tile's data are in while so many beats of weights come as well: the two
/// alternate, and what is left of the data then comes as fast as it can alone.
std::uint64_t TilingEstimate::first_data(const TileTime& tile, std::uint64_t weights) const {
    if (problem_.input_in_sram) {
        return std::max(tile.data_time, tile.data * costs_.sram_interval);
    }
    const std::uint64_t both = std::min(tile.data, weights);
    const std::uint64_t alone = tile.data - both;
    const std::uint64_t alone_time = tile.data == 0 ? 0 : tile.data_time * alone / tile.data;
    return std::max(2 * both + alone_time, (2 * both + alone) * costs_.beat_interval);
}

std::pair<std::uint64_t, std::uint64_t> TilingEstimate::moved_meanwhile(std::uint64_t weights,
                                                                        std::uint64_t residual,
                                                                        std::uint64_t data) const {
    std::uint64_t moved = weights;
    std::uint64_t sram = 0;
    (problem_.residual_in_sram ? sram : moved) += residual;
    (problem_.input_in_sram ? sram : moved) += data;
    return {moved, sram};
}

std::uint64_t TilingEstimate::weight_room(const ConvTiling& tiling) const {
    const std::uint64_t entry_beats =
        std::max<std::uint64_t>(1, costs_.npu.cbuf.bank_width / costs_.npu.mcif.bus_width);
    return std::uint64_t{tiling.banks.weight} * costs_.npu.cbuf.bank_depth * entry_beats;
}

std::uint64_t TilingEstimate::start_of(const TileTime& tile, std::uint64_t with_data,
                                       std::uint64_t& weights) const {
    const std::uint64_t group = std::min(weights, operands_.group_beats);
    weights -= groups_ == 1 ? group : std::min(weights, std::min(with_data, tile.data));
    return start + costs_.read_latency.value +
           std::max(first_data(tile, with_data), group * costs_.beat_interval);
}

void TilingEstimate::add_work(const TileTime& tile, std::uint64_t weights, Total& total) const {
    total.mac += tile.mac;
    total.drain += tile.drain;
    total.beats += weights;
    (problem_.input_in_sram ? total.sram_beats : total.beats) += tile.data;
    (problem_.residual_in_sram ? total.sram_beats : total.beats) += tile.residual;
}

TilingEstimate::TileTime TilingEstimate::time_after(const TileTime& now, const ConvTile& tile,
                                                    const ConvTile& next) const {
    const bool alike = next.out_rows == tile.out_rows && next.in_rows == tile.in_rows;
    return alike ? now : time_of(next);
}

TilingEstimate::Total TilingEstimate::total_of(const ConvTiling& tiling,
                                               std::uint32_t slices) const {
    const std::uint64_t room = weight_room(tiling);
    const bool two_groups =
        groups_ == 1 || std::uint64_t{tiling.banks.weight} * costs_.npu.cbuf.bank_depth >=
                            2 * operands_.group_entries;
    const std::uint64_t before = start + costs_.read_latency.value;
    const std::uint64_t exposed =
        two_groups ? 0
                   : (groups_ - 1) * (operands_.group_beats * costs_.beat_interval + before / 2);
    const std::size_t tiles = tiling.tiles.size();
    const std::size_t count = tiles * slices;
    Total total;
    bool data_is_in = false;
    TileTime next = time_of(tiling.tiles.front());
    for (std::size_t i = 0; i < count; ++i) {
        const TileTime now = next;
        const bool last = i + 1 == count;
        next = last ? TileTime{}
                    : time_after(now, tiling.tiles[i % tiles], tiling.tiles[(i + 1) % tiles]);
        std::uint64_t weights = tiling.resident && i % tiles > 0 ? 0 : operands_.weight_beats;
        add_work(now, weights, total);
        // a full weight store gives the bus to the data; after another tile weights came early
        const std::uint64_t early = std::min(weights, room);
        if (!data_is_in) {
            total.cycles += start_of(now, i == 0 || now.awaits ? early : early / 4, weights);
        } else {
            total.cycles += costs_.npu.csc.next_operation.value;
        }
        const std::uint64_t ahead = last || next.awaits || tiling.overlapped || tiling.resident
                                        ? 0
                                        : std::min(operands_.weight_beats, room) / 4;
        const bool overlapped = tiling.overlapped && !next.awaits;
        const auto [moved, sram] = moved_meanwhile(
            weights + ahead, now.residual, !last && overlapped ? next.data : std::uint64_t{0});
        total.cycles += std::max(now.compute + exposed, transfer_time(moved, sram));
        total.cycles += !last && next.awaits ? end + costs_.read_latency.value : 0;
        data_is_in = overlapped;
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
        extend(total.beats, two.beats);
        extend(total.sram_beats, two.sram_beats);
    }
    tiling.estimate = Cycles(total.cycles);
    tiling.beats = total.beats;
    const LayerBounds shares{Cycles(total.mac), Cycles(total.drain),
                             Cycles(transfer_time(total.beats, total.sram_beats))};
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
    const std::uint64_t written = beats_of(outputs / problem_.pool_area, problem_.kernels.kernels);
    // rows between the windows of long strides need not be fetched
    const std::uint64_t rows =
        std::min(problem_.input.height, whole.out_rows * problem_.kernels.rows);
    const std::uint64_t data = rows * operands_.row_beats;
    const std::uint64_t residual = problem_.residual ? written : 0;
    std::uint64_t read = operands_.weight_beats;
    std::uint64_t sram = 0;
    (problem_.input_in_sram ? sram : read) += data;
    (problem_.residual_in_sram ? sram : read) += residual;
    const std::uint64_t atom_cycles =
        divide_up(npu.datapath.atomic_k, npu.sdp.output_throughput) + npu.sdp.flying_bubble.value;
    const std::uint64_t writing =
        problem_.output_in_sram ? transfer_time(0, written) : transfer_time(written, 0);
    const std::uint64_t memory = std::max(transfer_time(read, sram), writing);
    return {.mac = Cycles(time_of(whole).mac * problem_.slices),
            .sdp = Cycles(outputs * groups_ * atom_cycles * problem_.slices),
            .memory = Cycles(memory * problem_.slices)};
}

}  // namespace npuscope
