// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/tiling_estimate.h"

#include <algorithm>
#include <optional>

#include "models/conv/csc_math.h"
#include "models/conv/csc_timing.h"
#include "models/layout/weight_layout.h"
#include "models/npu/pipelines.h"
#include "sim/compile/nvdla/compressed_wait.h"

namespace npuscope {
namespace {

std::uint64_t beats(std::uint64_t bytes, const NpuConfig& npu) {
    return divide_up(bytes, npu.mcif.bus_width.value);
}

void fill_feature_rows(const ConvProblem& problem, const NpuConfig& npu, ConvOperands& operands) {
    CdmaJob line;
    line.precision = problem.precision;
    line.input = problem.input;
    operands.row_entries = entries_of_slice(line, conv_features(npu)) * problem.batches;
    const std::uint64_t atom = npu.datapath.memory_atom.value;
    operands.row_beats =
        divide_up(problem.input.channels, npu.datapath.atom_channels(problem.precision)) *
        beats(std::uint64_t{problem.input.width} * atom, npu) * problem.batches;
    operands.row_cycles = operands.row_beats * 5 / 4;  // source: nv_small RTL, measured
}

void fill_image_rows(const ConvProblem& problem, const NpuConfig& npu, ConvOperands& operands) {
    CdmaJob line;
    line.mode = ConvMode::Image;
    line.input = operands.input;
    line.pad_left = problem.geometry.pad_left;
    line.pad_right = operands.pad_right;
    operands.row_entries = entries_of_slice(line, conv_features(npu));
    operands.row_beats = 0;
    for (std::uint32_t plane = 0; plane < problem.pixels->planes; ++plane) {
        operands.row_beats +=
            beats((problem.pixels->pixel_bytes(plane) * problem.input.width).value, npu);
    }
    // packing takes one cycle per entry and one per line; source: nv_small RTL, measured
    operands.row_cycles = std::max<std::uint64_t>(operands.row_beats, operands.row_entries + 1ULL);
}

/// Zero-weight columns added to a kernel so that the sequencer counts its blocks correctly.
std::uint32_t zero_columns(const ConvProblem& problem, const ConvForm& form, const NpuConfig& npu) {
    const std::uint32_t channels = problem.pixels->channels;
    const std::uint32_t cells = load_cycles(npu);
    return columns_to_add({.row_bytes = problem.kernels.columns * channels,
                           .step = problem.geometry.stride_x * channels,
                           .width = npu.datapath.atomic_c,
                           .shortest = cells,
                           .miscounts = npu.csc.miscounts_image_blocks && form.row_group == 1},
                          {problem.geometry.out_width, npu.csc.stripe_groups * cells}, channels);
}

void fill_image_kernels(const ConvProblem& problem, const ConvForm& form, const NpuConfig& npu,
                        ConvOperands& operands) {
    const KernelShape& plain = problem.kernels;
    const std::uint32_t channels = problem.pixels->channels;
    const std::uint32_t columns = plain.columns + zero_columns(problem, form, npu);
    const KernelShape stored{plain.kernels, columns * channels, plain.rows, 1};
    operands.weights = direct_weights(stored, npu.datapath);
    operands.weights.row_group = form.row_group;
    operands.input.channels = channels;
    operands.stripes_end_at_rows = true;
    const std::uint32_t reached =
        reach(problem.geometry.out_width, problem.geometry.stride_x, columns);
    const std::uint32_t given = problem.geometry.pad_left + problem.input.width;
    operands.pad_right = reached > given ? reached - given : 0;
}

/// Patches of 4 x 4, two outputs apart in both directions; the DMA pads to whole patches.
/// source: nv_full C model
void fill_winograd(const ConvProblem& problem, const NpuConfig& npu, ConvOperands& operands) {
    constexpr std::uint32_t patch = 4;
    const auto atom = static_cast<std::uint32_t>(npu.datapath.memory_atom.value);
    const auto channels = static_cast<std::uint32_t>(round_up(problem.input.channels, atom));
    operands.weights =
        winograd_weights({problem.kernels.kernels, channels, patch, patch}, npu.datapath, Bytes(1));
    operands.input.channels = channels;
    operands.patch_rows = patch;
    operands.outputs_per_cycle = patch;
    operands.full_stripe = npu.csc.stripe_groups * npu.datapath.atomic_k;
    const std::uint32_t width = problem.geometry.out_width + patch;
    operands.pad_right = width - problem.geometry.pad_left - problem.input.width;
    operands.row_entries = width / patch * (channels / atom);
}

/// Weights in the buffer as in memory, or as values, with the mask in a separate bank.
void fill_weight_sizes(const ConvProblem& problem, const ConvForm& form, const NpuConfig& npu,
                       ConvOperands& operands) {
    const std::uint64_t entry = npu.cbuf.bank_width.value;
    const WeightLayout& weights = operands.weights;
    Bytes values = weights.stored_bytes();
    Bytes group = weights.group_bytes(0);
    operands.weight_bytes = values;
    operands.banks = npu.cbuf.banks;
    std::uint64_t beside = 0;  // beats of mask and sizes for a group
    if (form.compressed) {
        const CompressedSizes& sizes = *problem.compressed;
        values = sizes.values;
        group = sizes.group_values;
        operands.weight_bytes = sizes.all();
        operands.banks = npu.cbuf.banks - 1;
        operands.weights_can_stay = divide_up(sizes.mask.value, entry) <= npu.cbuf.bank_depth;
        beside = beats(divide_up(sizes.mask.value, weights.groups()), npu) + 1;
    }
    operands.weight_beats = form.compressed ? beats(values.value, npu) + weights.groups() * beside
                                            : beats(values.value, npu);
    operands.group_beats = beats(group.value, npu) + beside;
    operands.weight_entries = divide_up(values.value, entry);
    operands.group_entries = divide_up(group.value, entry) + 1;
}

/// From op-enable to the first beat in the buffer, and from the last beat to the first MAC.
constexpr std::uint64_t start = 88;  // source: nv_small RTL, measured
/// From the last MAC to the interrupt.
constexpr std::uint64_t end = 60;  // source: nv_small RTL, measured

/// From the launch of a program's first operation to that of its second one, at least: the host
/// writes all registers of the second group. Later operations find most of theirs written. Not
/// considered where other layers follow: the next one would have to write them as well.
std::uint64_t time_of_registers(const CsbConfig& csb) {
    constexpr std::uint64_t writes = 160;  // of a convolution and its SDP
    return std::max(writes, writes * csb.fifo_round_trip.value / csb.fifo_depth);
}

/// Stripes of one kernel group: full ones and the lengths of those after them.
struct Stripes {
    std::uint64_t full = 0;
    std::uint64_t full_length = 0;
    std::vector<std::uint32_t> rest;
    std::uint64_t repeats = 1;  ///< rows, where stripes end at them
};

Stripes stripes_of(const RowPiece& tile, std::uint64_t columns, const ConvOperands& operands,
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

ConvOperands operands_of(const ConvProblem& problem, const ConvForm& form, const NpuConfig& npu) {
    ConvOperands operands;
    operands.input = problem.input;
    operands.full_stripe = npu.csc.stripe_groups * load_cycles(npu);
    if (form.mode == ConvMode::Image) {
        fill_image_kernels(problem, form, npu, operands);
        fill_image_rows(problem, npu, operands);
    } else {
        operands.weights =
            direct_weights(problem.kernels, npu.datapath, Bytes(bytes_of(problem.precision)));
        fill_feature_rows(problem, npu, operands);
    }
    if (form.mode == ConvMode::Winograd) {
        fill_winograd(problem, npu, operands);
    }
    const WeightLayout& weights = operands.weights;
    const std::uint32_t taps =
        form.mode == ConvMode::Winograd
            ? 1
            : static_cast<std::uint32_t>(divide_up(weights.shape.rows, weights.row_group)) *
                  weights.shape.columns;
    const std::uint32_t depth =
        form.mode == ConvMode::Winograd ? weights.cube_channels : npu.datapath.atomic_c;
    operands.blocks = divide_up(weights.shape.channels, depth) * taps;
    fill_weight_sizes(problem, form, npu, operands);
    return operands;
}

std::uint32_t load_cycles(const NpuConfig& npu) {
    const std::uint64_t group = std::uint64_t{npu.datapath.atomic_c} * npu.datapath.atomic_k;
    return static_cast<std::uint32_t>(divide_up(group, npu.cbuf.bank_width.value));
}

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

TilingEstimate::TileTime TilingEstimate::time_of(const RowPiece& tile) const {
    const NpuConfig& npu = costs_.npu;
    const std::uint64_t load = load_cycles(npu);
    const std::uint64_t depth = std::min(npu.datapath.atomic_c, operands_.weights.shape.channels);
    const std::uint64_t reads =
        divide_up(depth * bytes_of(problem_.precision), npu.cbuf.bank_width.value);
    const std::uint64_t columns = std::uint64_t{problem_.geometry.out_width} * problem_.batches;
    const std::uint64_t outputs = tile.out_rows * columns;
    const std::uint64_t elements = divide_up(npu.datapath.atomic_k, npu.sdp.output_throughput);
    const std::uint64_t fetched =
        problem_.residual ? pace_of(problem_.residual_in_sram).time_of(1) : 1;
    const std::uint64_t atom = std::max(elements + npu.sdp.flying_bubble.value, fetched);
    const std::uint64_t turn =
        npu.cacc.fill_latency.value + npu.cacc.credit_return.value - std::min(atom, elements);
    // the last block of a stripe enters when its outputs have credits: one at a time if there are
    // no more credits than for one stripe
    const std::uint64_t credits = std::uint64_t{npu.cacc.buffered_groups} * npu.datapath.atomic_k;
    const bool two_stripes = credits >= 2 * std::uint64_t{operands_.full_stripe};
    const Stripes stripes = stripes_of(tile, columns, operands_, npu);
    TileTime time;
    time.awaits = npu.cacc.ends_may_meet(outputs * groups_, npu.datapath.atomic_k);
    const auto add = [&](std::uint64_t count, std::uint64_t length) {
        const std::uint64_t mac =
            std::max(divide_up(length, operands_.outputs_per_cycle) * reads, load) *
            operands_.blocks;
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
    const MemoryPace& output = pace_of(problem_.output_in_sram);
    time.written_in_turn = output.shared_256 > 0 ? written : 0;
    time.compute = std::max(time.compute, output.time_of(written));
    return time;
}

/// Minimum cycles for beats over both ports.
std::uint64_t TilingEstimate::transfer_time(const Moved& beats) const {
    const auto time = [](const MemoryPace& pace, const Beats& moved) {
        return pace.time_of_both(moved.read, moved.written);
    };
    return std::max(time(costs_.memory, beats.memory), time(costs_.sram, beats.sram));
}

/// Cycles until a tile's data are in while this many beats of weights arrive as well: the two
/// alternate, and the remaining data then arrive as fast as without weights.
std::uint64_t TilingEstimate::first_data(const TileTime& tile, std::uint64_t weights) const {
    if (problem_.input_in_sram) {
        return std::max(tile.data_time, costs_.sram.time_of(tile.data));
    }
    const std::uint64_t both = std::min(tile.data, weights);
    const std::uint64_t alone = tile.data - both;
    const std::uint64_t alone_time = tile.data == 0 ? 0 : tile.data_time * alone / tile.data;
    return std::max(2 * both + alone_time, costs_.memory.time_of(2 * both + alone));
}

TilingEstimate::Moved TilingEstimate::moved_with(const TileTime& tile, std::uint64_t weights,
                                                 std::uint64_t data) const {
    Moved moved{.memory = {.read = weights}, .sram = {}};
    moved.at(problem_.residual_in_sram).read += tile.residual;
    moved.at(problem_.input_in_sram).read += data;
    moved.at(problem_.output_in_sram).written += tile.written_in_turn;
    return moved;
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
    // weights, which every tile waits for, come from the first port's memory
    return start + costs_.memory.latency.value +
           std::max(first_data(tile, with_data), costs_.memory.time_of(group));
}

std::uint64_t TilingEstimate::second_start(const TileTime& tile, std::uint64_t weights,
                                           bool data_is_in) const {
    const std::uint64_t launched = time_of_registers(costs_.npu.csb);
    return data_is_in ? launched + start_of(tile, weights, weights) : launched;
}

void TilingEstimate::add_work(const TileTime& tile, std::uint64_t weights, Total& total) const {
    total.mac += tile.mac;
    total.drain += tile.drain;
    const Moved moved = moved_with(tile, weights, tile.data);
    total.beats.memory += moved.memory;
    total.beats.sram += moved.sram;
}

TilingEstimate::TileTime TilingEstimate::time_after(const TileTime& now, const RowPiece& tile,
                                                    const RowPiece& next) const {
    const bool alike = next.out_rows == tile.out_rows && next.in_rows == tile.in_rows;
    return alike ? now : time_of(next);
}

std::uint64_t TilingEstimate::wait_for_plain(const ConvTiling& tiling) const {
    const bool two_groups =
        groups_ == 1 || std::uint64_t{tiling.banks.weight} * costs_.npu.cbuf.bank_depth >=
                            2 * operands_.group_entries;
    const std::uint64_t before = start + costs_.memory.latency.value;
    return two_groups ? 0
                      : (groups_ - 1) * (costs_.memory.time_of(operands_.group_beats) + before / 2);
}

TilingEstimate::Total TilingEstimate::total_of(const ConvTiling& tiling,
                                               std::uint32_t slices) const {
    const std::uint64_t room = weight_room(tiling);
    std::optional<CompressedWait> compressed;
    if (tiling.form.compressed && groups_ > 1) {
        compressed.emplace(problem_, operands_, costs_, tiling.banks.weight);
    }
    const std::uint64_t plain = compressed ? 0 : wait_for_plain(tiling);
    const std::uint64_t after = end + costs_.memory.latency.value;
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
        const std::uint64_t waited =
            compressed && weights > 0 ? compressed->cycles(now.compute / groups_) : plain;
        // a full weight buffer leaves the bus to the data; after another tile weights came early
        const std::uint64_t early = std::min(weights, room);
        if (i == 1 && problem_.alone) {
            total.cycles = std::max(total.cycles, second_start(now, early, data_is_in));
        }
        if (!data_is_in) {
            total.cycles += start_of(now, i == 0 || now.awaits ? early : early / 4, weights);
        } else {
            total.cycles += costs_.npu.csc.next_operation.value;
        }
        const std::uint64_t ahead = last || next.awaits || tiling.overlapped || tiling.resident
                                        ? 0
                                        : std::min(operands_.weight_beats, room) / 4;
        const bool overlapped = tiling.overlapped && !next.awaits;
        const Moved meanwhile =
            moved_with(now, weights + ahead, !last && overlapped ? next.data : 0);
        total.cycles += std::max(now.compute + waited, transfer_time(meanwhile));
        total.cycles += !last && next.awaits ? after : 0;
        data_is_in = overlapped;
    }
    total.cycles += after;
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
        for (const auto port : {&Moved::memory, &Moved::sram}) {
            extend((total.beats.*port).read, (two.beats.*port).read);
            extend((total.beats.*port).written, (two.beats.*port).written);
        }
    }
    tiling.estimate = Cycles(total.cycles);
    tiling.beats = total.beats.memory.read + total.beats.memory.written;
    const LayerBounds shares{Cycles(total.mac), Cycles(total.drain),
                             Cycles(transfer_time(total.beats))};
    tiling.bound_by = 2 * shares.largest().value < total.cycles ? "start" : shares.name();
}

LayerBounds TilingEstimate::bounds() const {
    const RowPiece whole{.out_begin = 0,
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
    const MemoryPace& output = pace_of(problem_.output_in_sram);
    const TileTime all{.residual = problem_.residual ? written : 0,
                       .written_in_turn = output.shared_256 > 0 ? written : 0};
    const Moved moved = moved_with(all, operands_.weight_beats, data);
    const std::uint64_t atom_cycles =
        divide_up(npu.datapath.atomic_k, npu.sdp.output_throughput) + npu.sdp.flying_bubble.value;
    const std::uint64_t memory = std::max(transfer_time(moved), output.time_of(written));
    return {.mac = Cycles(time_of(whole).mac * problem_.slices),
            .sdp = Cycles(outputs * groups_ * atom_cycles * problem_.slices),
            .memory = Cycles(memory * problem_.slices)};
}

}  // namespace npuscope
