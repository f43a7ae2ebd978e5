// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp.h"

#include <algorithm>

namespace npuscope {
namespace {

// source of what follows: nv_full RTL, simulated; NV_NVDLA_CDP_DP_sum.v, NV_NVDLA_CDP_DP_mul.v and
// NV_NVDLA_CDP_DP_INTP_unit.v of nvdlav1

/// Number of fp16 results in the stages from the interpolation onwards, where a stall leaves a bubble.
std::uint32_t midst_of_fp16(const CdpNormalization& normalization) {
    constexpr std::uint32_t in_product = 4;
    return normalization.multiply_bypass ? 24 : 24 + in_product;
}

/// Results that the stages hold with fp16, `longer` cycles longer than with integers.
std::uint32_t stages_of_fp16(const CdpNormalization& normalization, Cycles longer) {
    constexpr std::uint32_t in_sum = 4;
    return midst_of_fp16(normalization) + static_cast<std::uint32_t>(longer.value) +
           (normalization.square_sum_bypass ? 0 : in_sum);
}

}  // namespace

Cdp::Cdp(const sc_core::sc_module_name& name, const CdpConfig& config,
         const DatapathConfig& datapath, const Bus& bus)
    : Unit(name), config_(config), datapath_(datapath), bus_(bus) {
    repeat_from(launches, "normalise", [this](Activity& activity) { run_operation(activity); });
    repeat_from(results_, "write", [this](Activity& activity) { write_results(activity); });
}

Cycles Cdp::fp16_sum(std::uint32_t local_size) const {
    // source: nv_full RTL, simulated; NV_NVDLA_CDP_DP_sum.v of nvdlav1
    constexpr std::uint32_t usual = 5;
    constexpr Cycles pair{4};
    const Cycles more = pair * ((std::max(local_size, usual) - usual) / 2);
    const Cycles less = pair * ((usual - std::min(local_size, usual)) / 2);
    return config_.fp16_sum + more - less;
}

NormalisationPace Cdp::pace_of(const CdpWork& work) const {
    const CdpNormalization& normalization = work.job.normalization;
    const bool sum = !normalization.square_sum_bypass;
    // source: RTLs of nv_small, nv_large and nv_full, simulated; the buffer in front of nv_large's
    // holds four blocks, that of nv_small's one
    const bool holds_more = config_.read_buffer > config_.block_columns + 1;
    const bool wide = normalization.precision != Precision::Int8;
    const bool floats = normalization.precision == Precision::Fp16;
    constexpr Cycles fp16_multiply{3};  // source: nv_full RTL, simulated
    const Cycles of_multiply = floats ? fp16_multiply : config_.multiply;
    const Cycles saved = normalization.multiply_bypass ? of_multiply : Cycles(0);
    const Cycles of_floats = (floats && sum ? fp16_sum(normalization.local_size) : Cycles(0)) +
                             (floats ? config_.fp16_product : Cycles(0));
    const Cycles pipeline = (sum ? config_.pipeline : config_.pipeline_without_sum) + of_floats;
    return NormalisationPace(
        {.elements = datapath_.atom_channels(normalization.precision),
         .throughput = wide ? (config_.throughput + 1) / 2 : config_.throughput,
         .block_columns = config_.block_columns,
         .neighbours = sum,
         .bubble = Cycles(holds_more || in_pairs() ? 0 : 1),
         .bubble_columns = config_.block_columns,
         .taken_up_early = !in_pairs(),  // nv_full: as its rows were measured, at a latency of 50
         .latency = pipeline - saved,
         .pairs = in_pairs(),
         .stages = floats ? stages_of_fp16(normalization, of_floats) : NormalisationShape{}.stages,
         .midst = floats ? midst_of_fp16(normalization) : 0});
}

std::vector<Cdp::Block> Cdp::blocks_of(const FeatureCube& cube) const {
    std::vector<Block> blocks;
    const std::uint32_t width = cube.shape.width;
    for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
        for (std::uint32_t x = 0; x < width; x += config_.block_columns) {
            const std::uint32_t columns = std::min(config_.block_columns, width - x);
            for (std::uint32_t surface = 0; surface < cube.surfaces(); ++surface) {
                blocks.push_back({surface, std::uint64_t{y} * width + x, columns});
            }
        }
    }
    return blocks;
}

AtomStream Cdp::open_stream(const CdpWork& work, const std::vector<Block>& blocks) {
    first_request_ = std::max(work.rdma_enabled + config_.start_up, now() + Cycles(1));
    const FeatureCube& cube = work.job.source;
    std::vector<ByteRun> runs;
    runs.reserve(blocks.size());
    for (const Block& block : blocks) {
        const auto y = static_cast<std::uint32_t>(block.first_pixel / cube.shape.width);
        runs.push_back({cube.line_address(block.surface, y) +
                            cube.atom * (block.first_pixel % cube.shape.width),
                        cube.atom * block.columns});
    }
    return AtomStream(
        {.first = first_request_,
         .limits = {config_.read_ahead, std::max(config_.read_buffer, config_.block_columns),
                    config_.read_runs, config_.read_again,
                    Cycles(divide_up(cube.channels_per_atom(), std::max(config_.throughput, 1U)))},
         .atom = cube.atom,
         .beat = bus_.width},
        std::move(runs));
}

void Cdp::run_operation(Activity& activity) {
    const std::shared_ptr<CdpWork> work = launches.take(activity, WaitKind::Idle);
    work->record.start = now();
    const CdpJob& job = work->job;
    const Purpose purpose{"input", work->name, job.source_in_sram, work->values};
    const auto compute_all = [&] {
        const ElementTensor input = fetch_elements(read_port, job.source, purpose);
        CdpResult result =
            work->values ? compute_cdp(job.normalization, input, work->tables) : CdpResult{};
        work->counters = result.counters;
        return result.values;
    };
    growing_ =
        work->values && read_port.values_arrive() ? std::make_shared<ElementTensor>() : nullptr;
    if (growing_) {
        writer_.emplace(job.destination, growing_);
    } else {
        writer_.emplace(job.destination, compute_all());
    }
    writer_->split_lines(bus_.width);
    normalise(activity, *work, blocks_of(job.source));
    if (growing_) {
        compute_all();  // for the counters
    }
    results_.give(activity, {});
    const Cycles response =
        DmaPort::response_time(activity, written_.take(activity, WaitKind::Blocked));
    activity.wait_until(response + config_.tail, WaitKind::Blocked, "write response");
    account(*work);
    done_(*work);
}

std::optional<Cycles> Cdp::take_block(Activity& activity, const Block& block, AtomStream& stream) {
    read_port.wait_issued(activity, stream.beats_until(block.columns));
    arrivals_.clear();
    for (std::uint32_t i = 0; i < block.columns; ++i) {
        arrivals_.push_back(stream.arrival(i));
    }
    const std::optional<Cycles> ready = pace_->take({block.columns, arrivals_});
    for (std::uint32_t i = 0; i < block.columns; ++i) {
        // the last channel of the last column enters at the end
        stream.taken(pace_->input_end() - Cycles(block.columns - 1 - i));
    }
    read_port.room_made();
    return ready;
}

void Cdp::normalise(Activity& activity, const CdpWork& work, const std::vector<Block>& blocks) {
    pace_.emplace(pace_of(work));
    leaving_ = ResultPace(bus_.lone_result);
    AtomStream stream = open_stream(work, blocks);
    read_port.open(stream, {"input", work.name, work.job.source_in_sram, work.values});
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (const auto ready = take_block(activity, blocks[i], stream)) {
            send(activity, work, blocks[i - 1], *ready);
        }
        activity.wait_until(arrivals_.back(), WaitKind::Starved, "input");
        activity.spend(std::max(pace_->input_end(), now()) - now());
    }
    send(activity, work, blocks.back(), pace_->finish());
}

void Cdp::compute(const CdpWork& work, const Block& block) {
    const FeatureCube& cube = work.job.source;
    const Purpose purpose{"input", work.name, work.job.source_in_sram, work.values};
    const std::uint32_t atom = cube.channels_per_atom();
    const auto y = static_cast<std::uint32_t>(block.first_pixel / cube.shape.width);
    const auto x = static_cast<std::uint32_t>(block.first_pixel % cube.shape.width);
    // a sum reaches no further than the next atom
    const std::uint32_t first = block.surface == 0 ? 0 : block.surface - 1;
    const std::uint32_t end = std::min(block.surface + 2, cube.surfaces());
    FeatureCube near = cube;
    near.base = cube.line_address(first, y) + cube.atom * x;
    near.shape = {std::min(end * atom, cube.shape.channels) - first * atom, 1, block.columns};
    CdpNormalization normalization = work.job.normalization;
    const std::uint32_t before = first * atom;
    normalization.channels = std::min(
        normalization.channels - std::min(before, normalization.channels), near.shape.channels);
    const ElementTensor all =
        compute_cdp(normalization, fetch_elements(read_port, near, purpose), work.tables).values;
    TensorPart part{(block.surface - first) * atom, 0, 0, shape_of(all)};
    part.shape.channels = std::min(atom, part.shape.channels - part.channel);
    const TensorPart place{block.surface * atom, y, x, part.shape};
    paste(cut(all, part), place, cube.shape, *growing_);
}

void Cdp::send(Activity& activity, const CdpWork& work, const Block& block, Cycles ready) {
    if (growing_) {
        compute(work, block);
    }
    const Cycles leaves = in_pairs() ? ready : leaving_.leave(ready, block.columns);
    const Cycles began = now();
    PixelRun run{block.surface, block.first_pixel, block.columns, leaves, ResultPace::interval};
    // each block is its own request; source: NV_NVDLA_CDP_wdma.v, width_size
    run.column = static_cast<std::uint32_t>(block.first_pixel % work.job.destination.shape.width);
    const Bytes atom = work.job.source.atom;
    if (bus_.width > atom) {  // source: NV_NVDLA_CDP_wdma.v of nvdlav1, a beat a cycle
        run.together = static_cast<std::uint32_t>(bus_.width / atom);
        run.interval = Cycles(1);
    } else if (bus_.longest_burst > 1) {  // source: NV_NVDLA_CDP_wdma.v of master, a beat a cycle
        run.interval = Cycles(1);
    }
    results_.give(activity, {run, &work});
    if (now() > began) {
        pace_->hold_until(now());
    }
}

void Cdp::write_results(Activity& activity) {
    const Outgoing result = results_.take(activity, WaitKind::Idle);
    if (result.run.count == 0) {
        written_.give(activity, last_response_);
        return;
    }
    const CdpWork& work = *result.work;
    last_response_ = writer_->write(activity, write_port, result.run,
                                    {"output", work.name, work.job.destination_in_sram});
}

void Cdp::account(CdpWork& work) const {
    CauseCycles& causes = work.record.causes;
    causes[Cause::StartUp] = first_request_ - work.record.start;
    causes[Cause::Memory] = pace_->waited();
    causes[Cause::Work] = pace_->input_end() - pace_->input_begin() - pace_->waited();
}

}  // namespace npuscope
