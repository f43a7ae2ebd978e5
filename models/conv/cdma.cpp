// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cdma.h"

#include <algorithm>
#include <utility>

#include "models/conv/cdma_timing.h"
#include "models/conv/compressed_stream.h"
#include "models/conv/image_stream.h"
#include "models/conv/winograd_stream.h"
#include "models/link/read_stream.h"

namespace npuscope {
namespace {

/// The stream to open: measured if the performance counters are on.
ReadStream& counted(const ConvWork& work, ReadStream& stream, MeasuredStream& measured) {
    return work.job.parts.cdma.count_performance ? measured : stream;
}

}  // namespace

Cdma::Cdma(const sc_core::sc_module_name& name, const CdmaConfig& config, const Widths& widths,
           const Wires& wires)
    : Unit(name),
      config_(config),
      bus_width_(widths.bus),
      memory_atom_(widths.datapath.memory_atom),
      fetch_(widths.datapath, wires.log, wires.values),
      wires_(wires) {
    repeat_from(launches, "data", [this](Activity& activity) { run_data(activity); });
    repeat_from(weight_launches_, "weights", [this](Activity& activity) { run_weights(activity); });
}

void Cdma::wait_for_weights_taken(Activity& activity, const ConvWork& work) {
    wires_.weights.wait_empty(activity, work.start.lost_weights);
    wires_.masks.wait_empty(activity);
}

// the sequencer asks for it when its next operation begins
// source: NV_NVDLA_CSC_sg.v, sc2cdma_wt_pending_req
void Cdma::wait_for_sequencer(Activity& activity) {
    while (before_ && !before_->passed) {
        activity.wait_for(wires_.data.released(), WaitKind::Blocked, "csc");
    }
    if (before_) {
        activity.wait_until(*before_->passed, WaitKind::Blocked, "csc");
    }
}

// data waits only if its own banks change, weights if any do
// source: NV_NVDLA_CDMA_dc.v and NV_NVDLA_CDMA_wt.v, need_pending; NV_NVDLA_CSC_sg.v,
// dat_pending_req
void Cdma::prepare_buffer(Activity& activity, ConvWork& work) {
    const BankSplit banks = work.job.parts.cdma.banks;
    const Cycles started = work.record.start;
    const Cycles at_once = started - std::min(started, config_.split_change);
    const bool moves = banks != split_;
    const bool data_moves = !split_ || banks.data != split_->data;
    if (moves) {
        wires_.values.post([this] { buffered_.clear(); });
        kept_weight_bytes_ = 0;
    }
    if (split_ && data_moves) {
        wires_.data.wait_empty(activity);
        wait_for_weights_taken(activity, work);
    }
    if (data_moves) {
        wires_.split(banks);
    }
    split_ = banks;
    work.fetch_start = data_moves ? std::max(started, now()) : at_once;
    work.weights_start = moves ? std::max(started, now()) : at_once;
    work.weights_move = moves && !data_moves;
    if (finished_) {
        work.fetch_start = std::max(work.fetch_start, *finished_);
        work.weights_start = std::max(work.weights_start, *finished_);
    }
}

void Cdma::fetch_operands(const std::shared_ptr<ConvWork>& of) {
    ConvWork& work = *of;
    if (work.start.weights_reused) {
        work.buffer.weight_ends = kept_use_.weight_ends;
        work.buffer.mask_ends = kept_use_.mask_ends;
    }
    if (work.values && data_port.values_arrive()) {
        expect_operands(of);
    } else if (work.values) {
        wires_.values.begin_operation();
        keep_data(of);
        fetch_weights(of);
        work.weights = kept_weights_;
    }
    kept_use_ = work.buffer;
}

void Cdma::keep_data(const std::shared_ptr<ConvWork>& work) {
    if (!work->start.data_reused) {
        std::shared_ptr<const ElementTensor> fetched = fetch_.data(data_port, work);
        if (const std::uint32_t kept = work->start.kept_lines; kept > 0) {
            auto joined = std::make_shared<ElementTensor>();
            wires_.values.post([joined, kept, before = kept_data_, fetched] {
                *joined = joined_lines(*before, kept, *fetched);
            });
            fetched = joined;
        }
        kept_data_ = std::move(fetched);
    }
    work->data = kept_data_;
}

void Cdma::expect_operands(const std::shared_ptr<ConvWork>& of) {
    ConvWork& work = *of;
    if (work.start.data_reused) {
        keep_data(of);
    }
    if (work.start.weights_reused) {
        work.arrived_groups = kept_groups_;
        keep_weights(work);
        return;
    }
    if (work.job.parts.cdma.compression) {
        // a group's size in bytes is known from its mask, before it is read in simulated time
        fetch_weights(of);
        kept_groups_.clear();
        const WeightLayout& layout = work.job.weights;
        for (std::uint32_t group = 0; group < layout.groups(); ++group) {
            kept_groups_.push_back(std::make_shared<const WeightKernels>(
                cut(*kept_weights_->kernels, group * layout.group_kernels,
                    layout.kernels_of_group(group))));
        }
        work.arrived_groups = kept_groups_;
        return;
    }
    kept_groups_.clear();
    buffered_.drop(std::exchange(kept_weight_bytes_, 0));
    announced_ = buffered_.size();
    fetch_.announce_weights(work, buffered_);
}

void Cdma::take_group(ConvWork& work, std::uint32_t group) {
    kept_groups_.push_back(std::make_shared<const WeightKernels>(
        fetch_.group_weights(weight_port, work, buffered_, announced_, group)));
    work.arrived_groups.push_back(kept_groups_.back());
    if (group + 1 == work.job.weights.groups()) {
        keep_weights(work);
    }
}

void Cdma::fetch_weights(const std::shared_ptr<ConvWork>& work) {
    if (!work->start.weights_reused) {
        wires_.values.post(
            [this, bytes = std::exchange(kept_weight_bytes_, 0)] { buffered_.drop(bytes); });
        kept_weights_ = fetch_.weights(weight_port, work, buffered_);
    }
    keep_weights(*work);
}

void Cdma::keep_weights(const ConvWork& work) {
    if (work.job.parts.cdma.compression) {
        return;
    }
    const std::uint64_t entry = work.buffer.entry.value;
    if (work.job.parts.csc.reuse.skip_weight_release) {
        kept_weight_bytes_ = fetched_weights(work.job, work.buffer.entry) * entry;
    } else {
        kept_weight_bytes_ = 0;
        wires_.values.post([this, bytes = round_up(work.job.weights.used_bytes().value, entry)] {
            buffered_.drop(bytes);
        });
    }
}

void Cdma::run_data(Activity& activity) {
    const std::shared_ptr<ConvWork> work = launches.take(activity, WaitKind::Idle);
    prepare_buffer(activity, *work);
    fetch_operands(work);
    weight_launches_.give(activity, work);
    if (work->start.data_reused) {
        work->data_first = work->data_complete = work->fetch_start;
    } else {
        read_data(activity, work);
    }
    data_done_(*work);
    const Cycles weights = weights_finished_.take(activity, WaitKind::Idle);
    finished_ =
        std::max(weights - std::min(weights, config_.next_operation),
                 work->data_complete - std::min(work->data_complete, config_.next_after_data));
}

void Cdma::count_fetch(Activity& activity, Recorder::Span span, std::uint64_t beats,
                       const char* without_room) {
    span.begin = std::min(span.begin, span.end);
    const Cycles arriving = std::max(span.begin, span.end - std::min(Cycles(beats), span.end));
    const Recorder::Span waits{span.begin, arriving};
    without_room != nullptr ? activity.count_blocked(waits, without_room)
                            : activity.count_starved(waits, "memory");
    activity.count_busy({arriving, span.end});
}

std::unique_ptr<DataStream> Cdma::data_stream(const ConvWork& work) {
    const CdmaJob& job = work.job.parts.cdma;
    const FetchRoom room{&wires_.data.releases(), wires_.data.capacity(),
                         wires_.data.promise(work.buffer.data)};
    if (job.mode == ConvMode::Image) {
        return std::make_unique<ImageStream>(config_,
                                             ImageFetch{.pixels = job.pixels,
                                                        .pad_left = job.pad_left,
                                                        .pad_right = job.pad_right,
                                                        .entries_per_line = job.entries_per_slice,
                                                        .beat = bus_width_,
                                                        .start = work.fetch_start,
                                                        .room = room});
    }
    if (job.mode == ConvMode::Winograd) {
        return std::make_unique<WinogradStream>(
            config_, WinogradFetch{.cube = job.feature,
                                   .input = job.winograd,
                                   .pad_left = job.pad_left,
                                   .pad_right = job.pad_right,
                                   .entries_per_strip = 4ULL * job.entries_per_slice,
                                   .beat = bus_width_,
                                   .start = work.fetch_start,
                                   .room = room});
    }
    const bool single_pixel = job.input.width == 1 && job.input.height == 1;
    const std::uint64_t lines = job.feature.shape.height;
    return std::make_unique<FeatureStream>(
        config_, FeatureFetch{.cube = job.feature,
                              .lines_per_request = job.lines_per_fetch,
                              .surfaces_in_line = single_pixel && job.surface_packed,
                              .entries_per_line = work.buffer.data / lines,
                              .beat = bus_width_,
                              .start = work.fetch_start,
                              .room = room});
}

void Cdma::read_data(Activity& activity, const std::shared_ptr<ConvWork>& of) {
    ConvWork& work = *of;
    const Purpose purpose{"input", work.name, work.job.parts.cdma.data_in_secondary};
    const std::unique_ptr<DataStream> stream = data_stream(work);
    MeasuredStream measured(*stream);
    data_port.open(counted(work, *stream, measured), purpose);
    data_port.wait_issued(activity, stream->beats(), &wires_.data.released(), WaitKind::Ahead);
    if (work.values && data_port.values_arrive()) {
        keep_data(of);
    }
    work.counters.data_stall = measured.stall();
    work.counters.data_latency = measured.latency();
    work.data_first = stream->first_entry();
    work.data_complete = stream->last_entry();
    wires_.data.fill_at(work.data_complete, work.buffer.data);
    count_fetch(activity, {work.fetch_start, work.data_complete}, stream->beats(),
                stream->waited_for_room() ? "cbuf.data" : nullptr);
    activity.wait_until(work.data_complete, WaitKind::Ahead, "last data");
}

void Cdma::run_weights(Activity& activity) {
    const std::shared_ptr<ConvWork> work = weight_launches_.take(activity, WaitKind::Idle);
    work->weights_waited.assign(work->job.weights.groups(), false);
    if (work->weights_move) {
        wait_for_weights_taken(activity, *work);
        wait_for_sequencer(activity);
        wires_.split(work->job.parts.cdma.banks);
        work->weights_start = std::max(work->weights_start, now());
    }
    if (!work->start.weights_reused) {
        read_weights(activity, *work);
    }
    weights_done_(*work);
    before_ = work;
    weights_finished_.give(activity, std::max(now(), work->fetch_start));
}

std::unique_ptr<GroupStream> Cdma::weight_stream(const ConvWork& work) {
    if (work.job.parts.cdma.compression) {
        return compressed_stream(work);
    }
    const Bytes entry = work.buffer.entry;
    const std::vector<std::uint64_t>& ends = work.buffer.weight_ends;
    WeightFetch fetch{.address = work.job.parts.cdma.weight_address,
                      .group_ends = {},
                      .beat = bus_width_,
                      .beats_per_entry = std::max<std::uint64_t>(entry / bus_width_, 1),
                      .start = work.weights_start,
                      .room = {&wires_.weights.releases(), wires_.weights.capacity(),
                               wires_.weights.promise(divide_up(ends.back(), entry.value))}};
    const std::uint64_t skipped = fetch.address.value % bus_width_.value;  // of the first beat
    // a group is complete with the entry that holds its last byte
    // source: NV_NVDLA_CDMA_wt.v, wt_satisfied
    for (const std::uint64_t end : ends) {
        const std::uint64_t whole = std::min(round_up(end, entry.value), ends.back());
        fetch.group_ends.push_back(divide_up(skipped + whole, bus_width_.value));
    }
    return std::make_unique<WeightStream>(config_, std::move(fetch));
}

std::unique_ptr<GroupStream> Cdma::compressed_stream(const ConvWork& work) {
    const CdmaJob& job = work.job.parts.cdma;
    const BufferUse& use = work.buffer;
    const auto room = [&use](EntryStore& store, std::uint64_t bytes) {
        return FetchRoom{&store.releases(), store.capacity(),
                         store.promise(divide_up(bytes, use.entry.value))};
    };
    return std::make_unique<CompressedWeightStream>(
        config_, CompressedFetch{.weights = job.weight_address,
                                 .mask = job.compression->mask,
                                 .sizes = job.compression->sizes,
                                 .weight_ends = use.weight_ends,
                                 .mask_ends = use.mask_ends,
                                 .beat = bus_width_,
                                 .entry = use.entry,
                                 .start = work.weights_start,
                                 .weight_room = room(wires_.weights, use.weight_ends.back()),
                                 .mask_room = room(wires_.masks, use.mask_ends.back())});
}

void Cdma::read_weights(Activity& activity, ConvWork& work) {
    const CdmaJob& job = work.job.parts.cdma;
    const Purpose purpose{"weights", work.name, job.weight_in_secondary, work.values};
    const std::unique_ptr<GroupStream> stream = weight_stream(work);
    MeasuredStream measured(*stream);
    weight_port.open(counted(work, *stream, measured), purpose);
    reading_ = {&work, stream.get()};
    Cycles written = work.weights_start;
    std::uint64_t beats = 0;
    for (std::uint32_t place = 0; place + reading_.left_out < work.job.weights.groups(); ++place) {
        reading_.place = place;
        weight_port.wait_issued(activity, stream->group_end(place), &wires_.weights.released(),
                                WaitKind::Ahead);
        const std::uint32_t group = place + reading_.left_out;
        if (work.values && weight_port.values_arrive() && !job.compression) {
            take_group(work, group);
        }
        const Cycles since = std::exchange(written, stream->group_written(place));
        work.weights_waited[group] = stream->waited_for_room(place);
        count_fetch(activity, {since, written},
                    stream->group_end(place) - std::exchange(beats, stream->group_end(place)),
                    stream->waited_for_room(place) ? "cbuf.weights" : nullptr);
        if (job.compression) {
            wires_.masks.fill_at(written, work.buffer.masks(group));
        }
        wires_.weights.fill_at(written, work.buffer.weights(group));
    }
    if (reading_.left_out > 0) {
        const std::uint64_t read = stream->beats() * bus_width_.value;
        const Address first(job.weight_address.value / bus_width_.value * bus_width_.value);
        const Address stays = first + Bytes(read);
        weight_port.release({stays, job.weight_address + job.weight_bytes - stays});
    }
    reading_ = {};
    work.counters.weight_stall = measured.stall();
    work.counters.weight_latency = measured.latency();
    activity.wait_until(written, WaitKind::Ahead, "last weights");
}

GroupStream::Removable Cdma::removable_groups(const ConvWork& work) const {
    const bool fetched = !work.start.weights_reused && !work.job.parts.cdma.compression &&
                         !work.job.parts.cdma.count_performance;
    const std::vector<std::uint64_t>& ends = work.buffer.weight_ends;
    const bool alike = ends.size() > 2 && (ends[1] - ends[0]) % work.buffer.entry.value == 0;
    if (!fetched || !alike || (reading_.work != nullptr && reading_.work != &work)) {
        return {};
    }
    return reading_.work == nullptr ? GroupStream::Removable{work.job.weights.groups()}
                                    : reading_.stream->removable();
}

void Cdma::add_state(Fingerprint& state, const ConvWork& work, std::uint32_t begun) const {
    wires_.data.add_state(state);
    state.add(reading_.work == &work ? 1U : 0U);
    if (reading_.work == &work) {  // otherwise all the remaining ones have arrived
        wires_.weights.add_state(state);
        reading_.stream->add_state(state, begun - reading_.left_out);
        for (std::uint32_t i = begun; i < reading_.place + reading_.left_out; ++i) {
            state.add(work.weights_waited[i] ? 1U : 0U);
        }
    }
}

void Cdma::add_next_state(Fingerprint& state, const ConvWork& work) const {
    if (reading_.work != nullptr && reading_.work != &work) {
        reading_.stream->add_state(state, 0);
        state.add(reading_.place);
    }
    for (const EntryStore* store : {&wires_.data, &wires_.weights, &wires_.masks}) {
        store->add_state(state);
        state.add(store->capacity());
        state.add(store->promised() - store->releases().total());
    }
    state.add(finished_.value_or(Cycles(0)));
    if (split_) {
        state.add(std::uint64_t{split_->data});
        state.add(std::uint64_t{split_->weight});
    }
    state.add(kept_weight_bytes_);
    for (const std::vector<std::uint64_t>* ends : {&kept_use_.weight_ends, &kept_use_.mask_ends}) {
        state.add(ends->size());
        state.add(ends->empty() ? 0 : ends->back());
    }
}

std::uint64_t Cdma::beats_under_way(const ConvWork& work, std::uint32_t groups) const {
    if (reading_.work != &work) {
        return 0;
    }
    return (reading_.stream->group_end(1) - reading_.stream->group_end(0)) * groups;
}

void Cdma::leave_out(ConvWork& work, std::uint32_t groups) {
    const bool reads = reading_.work == &work;
    const std::uint64_t entries = work.buffer.weights(1) * groups;
    wires_.weights.leave_out(entries, !reads);
    if (reads) {
        weight_port.leave_out(reading_.stream->leave_out(groups, entries), 0);
        reading_.left_out += groups;
    }
    for (std::size_t i = work.weights_waited.size(); i-- > groups;) {
        work.weights_waited[i] = work.weights_waited[i - groups];
    }
}

}  // namespace npuscope
