// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/layout/packed_surface.h"
#include "models/link/clock.h"
#include "models/tinpu/tinpu_job.h"
#include "models/tinpu/tinpu_timing.h"

namespace npuscope {
namespace {

std::vector<std::uint8_t> fetch_bytes(DmaPort& port, const ByteRun& run, const Purpose& purpose) {
    std::vector<std::uint8_t> bytes(run.bytes.value);
    port.fetch(run.address, bytes, purpose);
    return bytes;
}

Tensor<std::int32_t> fetch_map(DmaPort& port, const MapSurface& surface, const Purpose& purpose) {
    return load_map(fetch_bytes(port, {surface.base, surface.bytes()}, purpose), surface.shape,
                    surface.is_signed);
}

Kernels<std::int8_t> fetch_weights(DmaPort& port, const WeightSurface& surface,
                                   const Purpose& purpose) {
    return load_weights(fetch_bytes(port, {surface.base, surface.bytes()}, purpose), surface.shape,
                        surface.bits);
}

std::vector<BnormChannel> fetch_constants(DmaPort& port, const TinpuJob& job,
                                          const Purpose& purpose) {
    return load_constants(fetch_bytes(port, {*job.constants, job.constant_bytes()}, purpose));
}

Purpose purpose_of(const char* surface, const TinpuLaunch& launch) {
    return {.surface = surface, .operation = launch.job.name, .values = launch.values};
}

}  // namespace

Tinpu::Tinpu(const sc_core::sc_module_name& name, const TinpuConfig& config, Bytes bus_width,
             DiagnosticLog& log)
    : Unit(name),
      config_(config),
      bus_width_(bus_width),
      log_(log),
      weight_buffers_("a free weight buffer", config.weight_buffers) {
    check_engine(config, bus_width);
    repeat_from(launches, "set_up", [this](Activity& activity) { set_up(activity); });
    repeat_from(ready_, "weights", [this](Activity& activity) { load(activity); });
    repeat_from(loaded_, "compute", [this](Activity& activity) { compute(activity); });
    repeat_from(results_, "write", [this](Activity& activity) { write(activity); });
}

void Tinpu::launch(const TinpuJob& job, bool values,
                   std::function<void(const OperationRecord&)> ended) {
    const auto launch = std::make_shared<TinpuLaunch>();
    launch->job = job;
    launch->values = values;
    launch->ended = std::move(ended);
    launch->launched = now();
    launches.push(launch);
}

ByteStreamSetup Tinpu::stream_setup() const {
    return {.first = {},
            .beat = bus_width_,
            .buffer = std::max<std::uint64_t>(config_.read_buffer / bus_width_, 2)};
}

void Tinpu::set_up(Activity& activity) {
    const std::shared_ptr<TinpuLaunch> launch = launches.take(activity, WaitKind::Idle);
    for (Diagnostic& finding : misaligned_surfaces(launch->job, config_.alignment)) {
        log_.add(std::move(finding));
    }
    activity.spend(config_.layer_overhead);
    launch->set_up = now();
    ready_.give(activity, launch);
}

void Tinpu::load(Activity& activity) {
    const std::shared_ptr<TinpuLaunch> launch = ready_.take(activity, WaitKind::Idle);
    weight_buffers_.take(activity, 1, WaitKind::Blocked);
    const TinpuJob& job = launch->job;
    if (job.constants) {
        const Purpose purpose = purpose_of("constants", *launch);
        if (launch->values) {
            launch->operands.constants = fetch_constants(constants.port, job, purpose);
        }
        constants.open(stream_setup(), {*job.constants, job.constant_bytes()}, purpose);
    }
    if (job.weights) {
        load_weights(activity, *launch);
    }
    if (job.constants) {
        const Cycles arrived = constants.take(activity, job.constant_bytes());
        activity.wait_until(arrived, WaitKind::Starved, "constants");
    }
    loaded_.give(activity, launch);
}

void Tinpu::load_weights(Activity& activity, TinpuLaunch& launch) {
    const WeightSurface& surface = *launch.job.weights;
    const Bytes bytes = surface.bytes();
    const Purpose purpose = purpose_of("weights", launch);
    if (launch.values) {
        launch.operands.weights = fetch_weights(weights.port, surface, purpose);
    }
    weights.open(stream_setup(), {surface.base, bytes}, purpose);
    // beats are unpacked one by one; the kernel is notified of a few at a time
    const Bytes few = bus_width_ * std::min<std::uint64_t>(stream_setup().buffer / 2, 8);
    Bytes unpacked;  // up to the current beat
    for (Bytes end = few;; end += few) {
        const Bytes until = std::min(end, bytes);
        Cycles free = now();
        Cycles worked;
        const auto unpack = [&](Cycles arrival) {
            const Bytes next = std::min(unpacked + bus_width_, bytes);
            const Cycles work =
                tinpu_weight_cycles(next, config_) - tinpu_weight_cycles(unpacked, config_);
            unpacked = next;
            worked += work;
            free = std::max(free, arrival) + work;
            return free;
        };
        weights.take(activity, until, unpack);
        activity.wait_until(free - worked, WaitKind::Starved, "weights");
        activity.spend(std::max(free, now()) - now());
        if (until == bytes) {
            return;
        }
    }
}

void Tinpu::fetch_maps(TinpuLaunch& launch) {
    const TinpuJob& job = launch.job;
    result_.assign(job.output.bytes().value, 0);
    sent_ = Bytes(0);
    if (launch.values) {
        TinpuOperands& operands = launch.operands;
        operands.input = fetch_map(input.port, job.input, purpose_of("input", launch));
        if (job.residual) {
            operands.residual =
                fetch_map(residual.port, *job.residual, purpose_of("residual", launch));
        }
        result_ = store_map(tinpu_result(job, operands, launch.clipped));
        operands = {};
    }
}

Cycles Tinpu::work_through(Activity& activity, const TinpuLaunch& launch) {
    const TinpuJob& job = launch.job;
    input.open(stream_setup(), {job.input.base, job.input.bytes()}, purpose_of("input", launch));
    if (job.residual) {
        residual.open(stream_setup(), {job.residual->base, job.residual->bytes()},
                      purpose_of("residual", launch));
    }
    Cycles worked;
    Bytes complete;
    for (const TinpuPiece& piece : tinpu_pieces(job, config_)) {
        Cycles arrived = input.take(activity, piece.input);
        if (job.residual) {
            arrived = std::max(arrived, residual.take(activity, piece.output));
        }
        activity.wait_until(arrived, WaitKind::Starved, "feature maps");
        activity.spend(piece.work);
        worked += piece.work;
        if (piece.output > complete) {
            complete = piece.output;
            results_.give(activity, {&launch, complete});
        }
    }
    return worked;
}

void Tinpu::compute(Activity& activity) {
    const std::shared_ptr<TinpuLaunch> launch = loaded_.take(activity, WaitKind::Idle);
    const Cycles begin = now();
    OperationRecord& record = launch->record;
    record.unit = "tinpu";
    record.name = launch->job.name;
    record.kind = launch->job.kind;
    record.macs = launch->job.macs();
    record.mac_cells = record.macs == 0 ? 0 : products_per_cycle(config_);
    const TinpuTraffic traffic = tinpu_traffic(launch->job);
    record.read = traffic.read;
    record.written = traffic.written;
    record.start = std::max(launch->launched, last_end_);
    const Cycles ready = std::max(launch->set_up, record.start);
    record.causes[Cause::StartUp] = ready - record.start;
    record.causes[Cause::WeightFetch] = begin - ready;
    fetch_maps(*launch);
    record.causes[Cause::Mac] = work_through(activity, *launch);
    results_.give(activity, {});
    const Cycles response =
        DmaPort::response_time(activity, written_.take(activity, WaitKind::Blocked));
    activity.wait_until(response, WaitKind::Blocked, "write response");
    record.end = now();
    record.causes[Cause::Memory] = now() - begin - record.causes[Cause::Mac];
    last_end_ = now();
    weight_buffers_.add(1);
    if (launch->ended) {
        launch->ended(record);
    }
    if (done_) {
        done_(*launch);
    }
}

void Tinpu::write(Activity& activity) {
    const Complete complete = results_.take(activity, WaitKind::Idle);
    if (complete.launch == nullptr) {
        written_.give(activity, response_);
        return;
    }
    // whole beats, until the last
    const MapSurface& surface = complete.launch->job.output;
    const Address end = surface.base + complete.end;
    const bool last = complete.end == surface.bytes();
    const Address border(last ? end.value : end.value / bus_width_.value * bus_width_.value);
    const Address begin = surface.base + sent_;
    if (border <= begin) {
        return;
    }
    const Bytes bytes = border - begin;
    response_ = output.write(
        activity, {begin, std::span(result_).subspan(sent_.value, bytes.value), now(), Cycles(1)},
        purpose_of("output", *complete.launch));
    sent_ += bytes;
}

}  // namespace npuscope
