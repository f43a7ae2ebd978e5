// SPDX-License-Identifier: Apache-2.0
#include "models/cdma/cdma.h"

#include <algorithm>

#include "models/base/error.h"
#include "models/cdma/cdma_math.h"
#include "models/link/surface_port.h"

namespace npuscope {
namespace {

Tensor<std::uint16_t> fetch_pixels(DmaPort& port, const PixelSurface& surface,
                                   const Purpose& purpose) {
    Tensor<std::uint16_t> codes(surface.shape());
    std::vector<std::uint8_t> bytes;
    for (std::uint32_t plane = 0; plane < surface.format->planes; ++plane) {
        for (std::uint32_t y = 0; y < surface.height; ++y) {
            const ByteRun run = surface.line({plane, y});
            bytes.resize(run.bytes.value);
            port.fetch(run.address, bytes, purpose);
            unpack_pixels(surface, {plane, y}, bytes, codes);
        }
    }
    return codes;
}

Tensor<std::int8_t> fetch_data(DmaPort& port, const CdmaJob& job, const Purpose& purpose) {
    if (job.mode == ConvMode::Image) {
        return convert_pixels(fetch_pixels(port, job.pixels, purpose), job.conversion);
    }
    auto data = fetch_cube<std::int8_t>(port, job.feature, purpose);
    convert_feature(data, job.conversion);
    return data;
}

}  // namespace

Cdma::Cdma(const sc_core::sc_module_name& name, const CdmaConfig& config, const Wires& wires)
    : Unit(name), config_(config), wires_(wires) {
    repeat("data", [this](Activity& activity) { run_data(activity); });
    repeat("weights", [this](Activity& activity) { run_weights(activity); });
}

void Cdma::prepare_buffer(Activity& activity, BankSplit banks) {
    if (banks == split_) {
        return;
    }
    if (split_) {
        wires_.data.wait_empty(activity);
        wires_.weights.wait_empty(activity);
    }
    wires_.split(banks);
    split_ = banks;
}

void Cdma::fetch_operands(ConvWork& work) {
    const CdmaJob& job = work.job.parts.cdma;
    if (!job.reuse.data_reuse) {
        const Purpose input{"input", work.name, job.data_in_secondary};
        kept_data_ = std::make_shared<const Tensor<std::int8_t>>(fetch_data(data_port, job, input));
    }
    if (!job.reuse.weight_reuse) {
        const Purpose purpose{"weights", work.name, job.weight_in_secondary};
        std::vector<std::uint8_t> bytes(work.job.weights.used_bytes().value);
        weight_port.fetch(job.weight_address, bytes, purpose);
        kept_weights_ = std::make_shared<const Kernels<std::int8_t>>(
            decode_weights<std::int8_t>(work.job.weights, bytes));
    }
    work.data = kept_data_;
    work.weights = kept_weights_;
}

void Cdma::run_data(Activity& activity) {
    const std::shared_ptr<ConvWork> work = launches.take(activity, WaitKind::Idle);
    prepare_buffer(activity, work->job.parts.cdma.banks);
    fetch_operands(*work);
    weight_launches_.give(activity, work);
    activity.spend(config_.start_up);
    if (!work->job.parts.cdma.reuse.data_reuse) {
        read_data(activity, *work);
    }
    data_done_(*work);
}

DataFetchShape Cdma::fetch_shape(const CdmaJob& job) const {
    DataFetchShape shape{.lines = job.input.height,
                         .group = config_.surface_group,
                         .row_overhead = config_.row_overhead};
    if (job.mode == ConvMode::Image) {
        shape.surfaces = job.pixels.format->planes;
        shape.line_beats = divide_up(job.pixels.line({0, 0}).bytes.value, job.pixels.atom.value);
    } else {
        shape.surfaces = job.feature.surfaces();
        shape.line_beats = job.input.width;
    }
    return shape;
}

void Cdma::read_data(Activity& activity, ConvWork& work) {
    const std::vector<FetchStep> steps = data_fetch_steps(fetch_shape(work.job.parts.cdma));
    std::uint64_t filled = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        // lines do not end at entries: each step gets its share of the cube's
        const std::uint64_t target = work.buffer.data * (i + 1) / steps.size();
        wires_.data.reserve(activity, target - filled);
        const Cycles started = now();
        work.data_complete = read_step(activity, work, steps[i]);
        wires_.data.fill_at(work.data_complete, target - filled);
        filled = target;
        activity.wait_until(started + steps[i].pace, WaitKind::Blocked, "fetch pace");
    }
    activity.wait_until(work.data_complete, WaitKind::Starved, "last data");
}

Cycles Cdma::read_step(Activity& activity, const ConvWork& work, const FetchStep& step) {
    const CdmaJob& job = work.job.parts.cdma;
    const Purpose purpose{"input", work.name, job.data_in_secondary};
    Cycles arrival = now();
    for (std::uint32_t i = 0; i < step.surfaces; ++i) {
        const std::uint32_t surface = step.first_surface + i;
        const ByteRun run =
            job.mode == ConvMode::Image
                ? job.pixels.line({surface, step.line})
                : ByteRun{job.feature.line_address(surface, step.line), job.feature.line_bytes()};
        arrival = std::max(arrival, data_port.read(activity, run.address, run.bytes, purpose));
    }
    return arrival;
}

void Cdma::run_weights(Activity& activity) {
    const std::shared_ptr<ConvWork> work = weight_launches_.take(activity, WaitKind::Idle);
    activity.spend(config_.start_up);
    if (!work->job.parts.cdma.reuse.weight_reuse) {
        Cycles arrival = now();
        for (std::uint32_t group = 0; group < work->job.weights.groups(); ++group) {
            arrival = read_weight_group(activity, *work, group);
        }
        activity.wait_until(arrival, WaitKind::Starved, "last weights");
    }
    weights_done_(*work);
}

Cycles Cdma::read_weight_group(Activity& activity, const ConvWork& work, std::uint32_t group) {
    const ConvJob& job = work.job;
    const Purpose purpose{"weights", work.name, job.parts.cdma.weight_in_secondary};
    const Bytes entry = work.buffer.entry;
    const bool last = group + 1 == job.weights.groups();
    // in whole entries; the last group also reads the zeros behind the weights
    Bytes at(round_up(job.weights.group_offset(group).value, entry.value));
    const Bytes end = last
                          ? job.weights.stored_bytes()
                          : Bytes(round_up(job.weights.group_offset(group + 1).value, entry.value));
    std::uint64_t entries = work.buffer.weights(job.weights, group);
    Cycles arrival = now();
    while (at < end) {
        const std::uint64_t granted =
            entries == 0 ? 0 : wires_.weights.reserve_some(activity, entries);
        entries -= granted;
        const Bytes bytes = entries == 0 ? end - at : entry * granted;
        arrival = weight_port.read(activity, job.parts.cdma.weight_address + at, bytes, purpose);
        wires_.weights.fill_at(arrival, granted);
        at += bytes;
    }
    return arrival;
}

}  // namespace npuscope
