// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp.h"

#include <algorithm>
#include <numeric>

namespace npuscope {
namespace {

/// Atoms from memory that are handed on together; this affects transactions, not timing.
constexpr std::uint64_t longest_run = 64;

/// Slots for beats in front of the first stage's operands.
/// source: NV_NVDLA_SDP_core.v, u_NV_NVDLA_SDP_cmux and u_bs_dppack
constexpr std::uint64_t operand_place = 2;

}  // namespace

Sdp::Sdp(const sc_core::sc_module_name& name, const SdpConfig& config,
         const DatapathConfig& datapath, const Wires& wires)
    : Unit(name), config_(config), datapath_(datapath), wires_(wires) {
    repeat_from(launches, "process", [this](Activity& activity) { run_operation(activity); });
    repeat_from(results_, "write", [this](Activity& activity) { write_results(activity); });
    wires_.accumulated.offer_to([this](const SourceRun& run) { return take_at_once(run); });
    repeat_from(endings_, "end", [this](Activity& activity) { end_operation(activity); });
}

void Sdp::start_reading(SdpWork& work) {
    const SdpJob& job = work.job;
    const PerStage<const char*> names{"BS operands", "BN operands", "EW operands"};
    const Cycles start = std::max(work.rdma_enabled + config_.request, rdma_free_);
    reads_ = false;
    reads_each_atom_ = false;
    to_atom_ = operands_to_atom(job);
    pairs_ = {};
    fetched_ = std::make_shared<SdpOperands>();
    half_pairs_ = {};
    for (std::size_t i = 0; i < operands.size(); ++i) {
        operands[i].close();
        if (const std::optional<SdpOperandFetch>& fetch = job.operands[i]) {
            const Purpose purpose{names[i], work.name, fetch->in_sram, work.values};
            fetch_operands(i, purpose);
            SdpStreamPlan plan = operand_plan(fetch->surface, lanes(job), wires_.bus_width, start);
            if (fetch->surface.spread == OperandSpread::PerElement) {
                // of neighbouring pixels, which alternate: at most one atom off
                plan.atoms_per_step *= job.batches;
            }
            plan.fifo = config_.operand_fifo;
            plan.unpacked = config_.operand_unpacked;
            if (config_.operand_packs) {
                plan.pack_request = pack_request(job, i);
            }
            if (const OperandPairs pairs = pairs_of(job, i, plan); pairs.atoms != 0) {
                pairs_ = pairs;
            }
            const std::uint64_t beats = divide_up(plan.step.value, wires_.bus_width.value);
            operands[i].open(config_, std::move(plan), taken_, purpose);
            if (i == ew_stage && beats > 1 && wires_.bus_width > datapath_.memory_atom) {
                // its first elements need only the first beat
                operands[i].use_beats_apart(
                    beats, Cycles(lanes(job) / (beats * config_.element_wise_throughput)));
            }
            operand_pace_[i] = operand_cycles(job, i);
            operands_free_[i] = Cycles(0);
            reads_ = true;
            reads_each_atom_ |= fetch->surface.spread == OperandSpread::PerElement;
        }
    }
    source.close();
    if (job.source) {
        read_source(work, start);
    }
}

void Sdp::read_source(SdpWork& work, Cycles start) {
    const FeatureCube& cube = *work.job.source;
    const Purpose purpose{"input", work.name, work.job.source_in_sram, work.values};
    if (work.values && write_port.values_arrive()) {
        begin_result(work);
    } else {
        wires_.values.begin_operation();
        compute(fetch_elements_late(wires_.values, source.port, cube, purpose));
    }
    const std::uint32_t surfaces = lanes(work.job) / cube.channels_per_atom();
    source_parts_ = std::max(surfaces, 1U);
    SdpStreamPlan plan = source_plan(cube, surfaces, wires_.bus_width, start);
    plan.fifo = config_.source_fifo;
    plan.unpacked = config_.source_unpacked;
    if (config_.operand_packs) {
        pack_source(work.job, plan);
    }
    source.open(config_, std::move(plan), taken_, purpose);
    reads_ = true;
}

void Sdp::run_operation(Activity& activity) {
    const std::shared_ptr<SdpWork> work = launches.take(activity, WaitKind::Idle);
    const SdpJob& job = work->job;
    output_ = std::make_shared<Output>(
        Output{work, {"output", work->name, job.destination_in_sram, work->values}});
    requests_.begin(job, lanes(job));
    result_.reset();
    growing_.reset();
    taken_.clear();
    atom_ = 0;
    begun_ = now();
    drain_.hold_until(opens_);
    delays_ = sdp_stage_delays(config_, job.stages);
    const Cycles atom_cycles = sdp_atom_cycles(config_, job.stages, lanes(job));
    // difference between an atom's beats and those of the same number of bytes in int8
    const std::uint64_t bytes = std::uint64_t{lanes(job)} * bytes_of(job.stages.processing);
    leaving_ = config_.pipeline + atom_cycles - Cycles(divide_up(bytes, config_.output_throughput));
    const Cycles pace = sdp_pace(config_, job.stages, lanes(job), job.flying());
    drain_.begin(pace, pooling_limit(job));
    if (job.flying() && config_.operand_packs) {
        drain_.close_up(pace - atom_cycles,
                        bubbles_lost(before_last_operands(job), atom_cycles.value));
    }
    ahead_ = job.flying() && config_.operand_packs ? atoms_ahead(config_, lanes(job), atom_cycles)
                                                   : AtomsAhead{};
    ahead_of_last_ = Cycles(0);
    start_reading(*work);
    if (job.flying()) {
        run_flying(activity, *work);
    } else {
        run_from_memory(activity, *work);
    }
    finish(activity, *work);
}

void Sdp::finish(Activity& activity, const SdpWork& work) {
    // a later stage gets its last operands later by the delay of the stages before it
    Cycles before;
    Cycles last_stage;
    Cycles ahead;  // how long its operands are taken before their atoms
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].active()) {
            operands[i].finish(activity);
            last_stage = before;
            ahead = Cycles(0);
            // source: nv_small's RTL, chains of convolutions with each operand choice of BS and BN
            if (i + 1 < operands.size() && work.job.operands[i]->alu && work.job.operands[i]->mul) {
                last_stage += config_.alu_latency;  // the multiplier's are taken after the ALU's
                ahead = drain_.pace() * config_.operands_ahead;
            }
        }
        before += delays_[i];
    }
    if (reads_) {
        rdma_free_ = taken_.back() + drain_.delay_at(operand_place) + last_stage +
                     config_.next_request -
                     (operands[ew_stage].active() ? Cycles(0) : ahead_of_last_);
        if (ahead > Cycles(0)) {
            const Cycles last = rdma_free_ + config_.operands_ahead_lead;
            rdma_free_ = std::max(last - std::min(last, ahead), now() + Cycles(1));
        }
    }
    opens_ = last_left_ - config_.pipeline + config_.next_atom - ahead_of_last_;
    std::optional<Cycles> padding;
    const std::optional<FeatureCube>& written = work.job.destination;
    // atoms of a group that hold no channel pass too, after the last one that is written
    if (written && written->surfaces() * written->channels_per_atom() % lanes(work.job) != 0) {
        padding = requests_.padding();
    }
    endings_.give(activity, {output_, last_left_, padding});
}

void Sdp::end_operation(Activity& activity) {
    const Ending ending = endings_.take(activity, WaitKind::Idle);
    Cycles end = ending.left;
    if (!ending.output->writers.empty()) {
        const Cycles response =
            DmaPort::response_time(activity, written_.take(activity, WaitKind::Blocked));
        end = ending.padding ? std::max(end, response + *ending.padding) : response;
    }
    activity.wait_until(end + config_.done, WaitKind::Blocked, "write response");
    done_(ending.output->work);
}

Cycles Sdp::take_flying(Activity& activity, SdpWork& work, const SourceRun& from) {
    Run run{.surface = from.surface,
            .first_pixel = from.first_pixel,
            .count = from.count,
            .first_ready = from.first_ready,
            .interval = from.interval,
            .credits = from.credits,
            .credit_delay = from.credit_delay,
            .last = from.last};
    if (from.marks == nullptr) {
        return take_run(activity, work, run);
    }
    if (const auto taken = from.marks->wrong_end(run.count, run.last)) {
        run.count = *taken;
        run.last = false;
        take_run(activity, work, run);
        closed_early_(work, atom_);
        never_.take(activity);  // nothing opens the input again
    }
    const Cycles last = take_run(activity, work, run);
    const EndMarks::Meeting meeting = from.marks->leave(run.count, last, run.last);
    if (meeting != EndMarks::Meeting::Apart) {
        ends_met_(work, meeting);
    }
    return last;
}

Sdp::Offer Sdp::take_at_once(const SourceRun& run) {
    const bool values_arrive = output_ && output_->work->values && write_port.values_arrive();
    // the first run provides the values, the last one ends the operation
    if (flying_ == nullptr || !result_ || run.last || values_arrive ||
        write_port.awaits_answers() || output_->work->job.to_pdp || requests_.reorders() ||
        (run.marks != nullptr && run.marks->wrong_end(run.count, false))) {
        return Offer::Declined;
    }
    for (const OperandReader& reader : operands) {
        if (reader.active() && !reader.has_issued(atom_ + run.count - 1)) {
            return Offer::Declined;
        }
    }
    const std::optional<FeatureCube>& written = output_->work->job.destination;
    if (written &&
        results_.room() < divide_up(lanes(output_->work->job), written->channels_per_atom())) {
        return Offer::Declined;
    }
    take_flying(*flying_, *output_->work, run);
    return reads_each_atom_ ? Offer::Taken : Offer::Ahead;
}

void Sdp::run_flying(Activity& activity, SdpWork& work) {
    bool more = true;
    while (more) {
        flying_ = &activity;
        const SourceRun run = wires_.accumulated.take(activity, WaitKind::Ahead);
        flying_ = nullptr;
        if (!result_ && work.values && write_port.values_arrive()) {
            flying_input_ = run.values;
            begin_result(work);
        } else if (!result_) {
            compute(run.values);
        }
        const Cycles last_ready = run.first_ready + run.interval * (run.count - 1);
        const Cycles last = take_flying(activity, work, run);
        if (run.last) {
            work.record.causes[Cause::SdpDrain] += last - last_ready;
            ++ended_;
            sums_taken_(work, last);
        }
        more = !run.last;
    }
}

void Sdp::run_from_memory(Activity& activity, SdpWork& work) {
    const FeatureCube& cube = *work.job.source;
    const std::uint64_t pixels = std::uint64_t{cube.shape.width} * cube.shape.height;
    const std::uint64_t piece = std::min<std::uint64_t>(cube.shape.width, longest_run);
    const std::uint32_t surfaces = cube.shape.channels / lanes(work.job);
    for (std::uint32_t surface = 0; surface < surfaces; ++surface) {
        for (std::uint64_t first = 0; first < pixels; first += piece) {
            const std::uint64_t count = std::min(piece, pixels - first);
            take_run(activity, work,
                     {.surface = surface,
                      .first_pixel = first,
                      .count = count,
                      .last = surface + 1 == surfaces && first + count == pixels});
        }
    }
}

Sdp::InputsReady Sdp::inputs_ready(Activity& activity) {
    InputsReady ready;
    if (source.active()) {
        // the parts of an atom that spans several surfaces each pass in their own cycle
        const Cycles parts(source_parts_ - 1);
        ready.before = source.arrival(activity, atom_) + config_.source_to_atom - parts;
    }
    // a later stage sees the atom later by the delay of the stages before it
    Cycles before;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].active()) {
            const Cycles meets =
                std::max(operands[i].arrival(activity, atom_) + to_atom_[i], operands_free_[i]);
            operands_free_[i] = meets + operand_pace_[i];
            ready.before = std::max(ready.before, ready.last);
            ready.last = meets - std::min(meets, before);
        }
        before += delays_[i];
    }
    ready.before = pairs_.halves ? half_pairs_.place(std::max(ready.before, drain_.free()))
                                 : std::max(ready.before, pairs_.place(atom_, taken_));
    return ready;
}

Cycles Sdp::take_atom(Activity& activity, SdpWork& work, Cycles ready) {
    const Cycles free = drain_.free();
    const InputsReady inputs = inputs_ready(activity);
    const Cycles time = drain_.take(std::max(ready, inputs.before), inputs.last, taken_);
    taken_.push_back(time);
    half_pairs_.taken(time);
    if (reads_ && write_port.awaits_answers()) {
        make_room();
    }
    if (!work.job.flying()) {
        CauseCycles& causes = work.record.causes;
        if (atom_ == 0) {
            // the process may end the previous operation later than its stages are free
            work.record.pass(std::min(begun_, time), Cause::WaitsForPrevious);
            causes[Cause::StartUp] += time - std::min(time, work.record.accounted());
        } else {
            causes[Cause::Memory] += time - free;
            causes[Cause::Work] += drain_.pace();
        }
    }
    ++atom_;
    return time;
}

void Sdp::make_room() {
    if (source.active()) {
        source.port.room_made();
    }
    for (OperandReader& operand : operands) {
        if (operand.active()) {
            operand.port.room_made();
        }
    }
}

std::uint64_t Sdp::even_atoms(const Run& run, std::uint64_t done) const {
    const Cycles pace = drain_.pace();
    if (drain_.limited() || drain_.closing_up() || pairs_.atoms != 0 || run.interval > pace ||
        write_port.awaits_answers()) {
        return 0;
    }
    std::uint64_t atoms = run.count - done;
    if (source.active()) {
        atoms = std::min(atoms, source.alike(atom_));
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].active()) {
            atoms = operand_pace_[i] > pace ? 0 : std::min(atoms, operands[i].alike(atom_));
        }
    }
    return atoms;
}

void Sdp::take_evenly(SdpWork& work, std::uint64_t count) {
    const Cycles pace = drain_.pace();
    const Cycles first = drain_.take_run(drain_.free(), count);
    for (std::uint64_t i = 0; i < count; ++i) {
        taken_.push_back(first + pace * i);
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].active()) {
            operands_free_[i] += operand_pace_[i] * count;
        }
    }
    if (!work.job.flying()) {
        work.record.causes[Cause::Work] += pace * count;
    }
    atom_ += count;
}

void Sdp::enter(const Run& run, std::uint64_t done, const TimedCounter::Series& taken) {
    if (ahead_.of_stage == Cycles(0)) {
        if (run.credits != nullptr) {
            run.credits->add_series({taken.first + run.credit_delay, taken.interval, taken.count});
        }
        return;
    }
    for (std::uint64_t i = 0; i < taken.count; ++i) {
        const Cycles time = taken.first + taken.interval * i;
        const Cycles ready = run.first_ready + run.interval * (done + i);
        const auto entered = [&](Cycles most) {
            return std::max(ready, time - std::min(time, most));
        };
        ahead_of_last_ = time - std::min(time, entered(ahead_.of_stage));
        if (run.credits != nullptr) {
            run.credits->add_at(entered(ahead_.of_credits) + run.credit_delay, 1);
        }
    }
}

Cycles Sdp::take_run(Activity& activity, SdpWork& work, const Run& run) {
    const Cycles pace = drain_.pace();
    const Cycles free = std::max(drain_.free(), begun_);
    Cycles first;
    Cycles last;
    const bool uneven = drain_.limited() || run.interval > pace;
    if (reads_ || uneven) {
        for (std::uint64_t done = 0; done < run.count;) {
            last = take_atom(activity, work, run.first_ready + run.interval * done);
            first = done == 0 ? last : first;
            ++done;
            // those that need not wait for anything further follow it at the pace
            const std::uint64_t more = done < run.count ? even_atoms(run, done) : 0;
            if (more > 0) {
                take_evenly(work, more);
            }
            enter(run, done - 1, {last, pace, 1 + more});
            last += pace * more;
            done += more;
        }
    } else {
        first = drain_.take_run(run.first_ready, run.count);
        last = first + pace * (run.count - 1);
        atom_ += run.count;
        enter(run, 0, {first, pace, run.count});
    }
    const Cycles begin = last + pace - pace * run.count;
    activity.count_starved({std::min(free, begin), begin}, "input");
    activity.count_busy({begin, last + pace});
    Cycles interval = pace;
    if (uneven && run.count > 1) {
        interval = Cycles((last - first) / Cycles(run.count - 1));
    }
    hand_on(activity, work, run, {first, last, interval});
    return last;
}

void Sdp::hand_on(Activity& activity, SdpWork& work, const Run& run, const Taken& taken) {
    if (growing_) {
        compute_run(work, run);
    }
    const Cycles pace = taken.interval;
    const Cycles last_taken = taken.last;
    last_left_ = last_taken + std::accumulate(delays_.begin(), delays_.end(), leaving_);
    // none leaves later than this: back from the last one's time at the pace
    Cycles first_left = last_left_ - pace * (run.count - 1);
    if (drain_.limited()) {  // nor any earlier than the pooling accepts it
        first_left = last_left_ - (taken.last - taken.first);
    }
    if (work.job.to_pdp) {
        ResultRun result{.values = result_, .surface = run.surface};
        result.first_pixel = run.first_pixel;
        result.count = run.count;
        // the pooling begins with an atom's first beat, and some 16-bit atoms have no other
        // source: NV_NVDLA_PDP_CORE_preproc.v, int8_en
        result.first_ready = first_left + (config_.pipeline - std::min(leaving_, config_.pipeline));
        result.interval = pace;
        result.last = run.last;
        wires_.to_pdp.give(activity, result, WaitKind::Ahead);
    }
    if (!output_->writers.empty()) {
        send(activity, run, first_left, drain_.limited() ? drain_.pace() : pace);
    }
}

void Sdp::send(Activity& activity, const Run& run, Cycles first_left, Cycles interval) {
    requested_.clear();
    requests_.add({run.surface, run.first_pixel, run.count, first_left, interval}, requested_);
    for (const ResultRequests::Request& request : requested_) {
        const bool last = run.last && &request == &requested_.back();
        results_.give(activity, {request.run, request.batch, output_, last}, WaitKind::Ahead);
    }
}

void Sdp::write_results(Activity& activity) {
    const Outgoing outgoing = results_.take(activity, WaitKind::Idle);
    CubeWriter& writer = outgoing.output->writers[outgoing.batch];
    const WriteResponse response =
        writer.write(activity, write_port, outgoing.run, outgoing.output->purpose);
    if (outgoing.last) {
        written_.give(activity, response);
    }
}

}  // namespace npuscope
