// SPDX-License-Identifier: Apache-2.0
#include "models/cdma/cdma.h"

#include <algorithm>

#include "models/base/error.h"
#include "models/cdma/cdma_image_timing.h"
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

Cdma::Cdma(const sc_core::sc_module_name& name, const CdmaConfig& config, Bytes bus_width,
           const Wires& wires)
    : Unit(name), config_(config), bus_width_(bus_width), wires_(wires) {
    repeat_from(launches, "data", [this](Activity& activity) { run_data(activity); });
    repeat_from(weight_launches_, "weights", [this](Activity& activity) { run_weights(activity); });
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
    split_since_ = now();
}

void Cdma::fetch_operands(ConvWork& work) {
    const CdmaJob& job = work.job.parts.cdma;
    if (!work.values) {
        return;
    }
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
    work->fetch_start = std::max(work->record.start, split_since_);
    if (finished_) {
        work->fetch_start = std::max(work->fetch_start, *finished_ - config_.next_operation);
    }
    fetch_operands(*work);
    weight_launches_.give(activity, work);
    if (work->job.parts.cdma.reuse.data_reuse) {
        work->data_first = work->data_complete = work->fetch_start;
    } else {
        read_data(activity, *work);
    }
    data_done_(*work);
    finished_ = std::max(weights_finished_.take(activity), work->data_complete);
}

std::unique_ptr<DataStream> Cdma::data_stream(const ConvWork& work) {
    const CdmaJob& job = work.job.parts.cdma;
    const FetchRoom room{&wires_.data.releases(), wires_.data.capacity(),
                         wires_.data.promise(work.buffer.data)};
    if (job.mode == ConvMode::Image) {
        const std::uint64_t pixels = job.input.width + 2ULL * job.pad_left;
        const std::uint64_t bytes = pixels * job.input.channels;
        return std::make_unique<ImageStream>(
            config_, ImageFetch{.pixels = job.pixels,
                                .pad_left = job.pad_left,
                                .packed_line_entries = divide_up(bytes, work.buffer.entry.value),
                                .entries_per_line = job.entries_per_slice,
                                .beat = bus_width_,
                                .start = work.fetch_start,
                                .room = room});
    }
    const bool single_pixel = job.input.width == 1 && job.input.height == 1;
    return std::make_unique<FeatureStream>(
        config_, FeatureFetch{.cube = job.feature,
                              .lines_per_request = job.lines_per_fetch,
                              .surfaces_in_line = single_pixel && job.surface_packed,
                              .entries_per_line = job.entries_per_slice,
                              .beat = std::min(bus_width_, job.feature.atom),
                              .start = work.fetch_start,
                              .room = room});
}

void Cdma::read_data(Activity& activity, ConvWork& work) {
    const Purpose purpose{"input", work.name, work.job.parts.cdma.data_in_secondary};
    const std::unique_ptr<DataStream> stream = data_stream(work);
    data_port.open(*stream, purpose);
    data_port.wait_issued(activity, stream->beats(), &wires_.data.released());
    work.data_first = stream->first_entry();
    work.data_complete = stream->last_entry();
    wires_.data.fill_at(work.data_complete, work.buffer.data);
    activity.wait_until(work.data_complete, WaitKind::Starved, "last data");
}

void Cdma::run_weights(Activity& activity) {
    const std::shared_ptr<ConvWork> work = weight_launches_.take(activity, WaitKind::Idle);
    work->weights_waited.assign(work->job.weights.groups(), false);
    if (!work->job.parts.cdma.reuse.weight_reuse) {
        read_weights(activity, *work);
    }
    weights_done_(*work);
    weights_finished_.give(activity, std::max(now(), work->fetch_start));
}

WeightFetch Cdma::weight_fetch(const ConvWork& work) {
    const WeightLayout& layout = work.job.weights;
    const Bytes entry = work.buffer.entry;
    const std::uint64_t entries = divide_up(layout.stored_bytes().value, entry.value);
    WeightFetch fetch{.address = work.job.parts.cdma.weight_address,
                      .group_ends = {},
                      .beat = bus_width_,
                      .beats_per_entry = std::max<std::uint64_t>(entry / bus_width_, 1),
                      .start = work.fetch_start,
                      .room = {&wires_.weights.releases(), wires_.weights.capacity(),
                               wires_.weights.promise(entries)}};
    for (std::uint32_t group = 0; group < layout.groups(); ++group) {
        const bool last = group + 1 == layout.groups();
        const Bytes end = last ? layout.stored_bytes() : layout.group_offset(group + 1);
        fetch.group_ends.push_back(divide_up(end.value, bus_width_.value));
    }
    return fetch;
}

void Cdma::read_weights(Activity& activity, ConvWork& work) {
    const Purpose purpose{"weights", work.name, work.job.parts.cdma.weight_in_secondary};
    WeightStream stream(config_, weight_fetch(work));
    weight_port.open(stream, purpose);
    Cycles written;
    for (std::uint32_t group = 0; group < work.job.weights.groups(); ++group) {
        weight_port.wait_issued(activity, stream.group_end(group), &wires_.weights.released());
        written = stream.group_written(group);
        work.weights_waited[group] = stream.waited_for_room(group);
        wires_.weights.fill_at(written, work.buffer.weights(work.job.weights, group));
    }
    activity.wait_until(written, WaitKind::Starved, "last weights");
}

}  // namespace npuscope
