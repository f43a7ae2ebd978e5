// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_timing.h"

#include <algorithm>
#include <utility>

namespace npuscope {
namespace {

Cycles stage_delay(const SdpConfig& config, const SdpXStage& stage) {
    return config.stage_latency + (stage.alu.bypass ? Cycles(0) : config.alu_latency) +
           (stage.mul.bypass ? Cycles(0) : config.mul_latency);
}

Cycles stage_delay(const SdpConfig& config, const SdpYStage& stage) {
    return config.element_wise_latency +
           (stage.alu.bypass ? Cycles(0) : config.element_wise_operator) +
           (stage.mul.bypass ? Cycles(0) : config.element_wise_operator) +
           (stage.lut_bypass ? Cycles(0) : config.lut_latency);
}

}  // namespace

PerStage<Cycles> sdp_stage_delays(const SdpConfig& config, const SdpStages& stages) {
    PerStage<Cycles> delays;
    for_each_stage(stages, [&](const auto& stage, std::size_t i) {
        delays[i] = stage.bypass ? Cycles(0) : stage_delay(config, stage);
    });
    return delays;
}

Cycles element_wise_operand_delay(bool for_multiplier, bool per_element) {
    if (for_multiplier) {
        return Cycles(3);
    }
    return Cycles(per_element ? 6 : 0);
}

Cycles multiplier_lead(bool with_alu, bool per_element) {
    if (with_alu) {
        return Cycles(per_element ? 0 : 3);
    }
    return Cycles(per_element ? 2 : 1);
}

OperandPairs operand_pairs(std::uint64_t parts) {
    // three slots of each FIFO, and two of the pipes behind them all
    constexpr std::uint64_t fifo = 3;
    constexpr std::uint64_t pipes = 2;
    constexpr Cycles turn{10};  // source: nv_full RTL, simulated
    return {(fifo * parts + pipes) / parts, turn + Cycles(parts - 1)};
}

OperandPairs packed_operand_pairs(std::uint64_t parts, std::uint64_t line) {
    constexpr std::uint64_t atoms = 4;  // of the previous pack, and three on their way to the stage
    const Cycles turn(7 + parts);
    return turn > Cycles(atoms * parts) ? OperandPairs{atoms, turn, 2, line} : OperandPairs{};
}

AtomsAhead atoms_ahead(const SdpConfig& config, std::uint64_t elements, Cycles atom) {
    // beats that wait on the way, and the path's own cycles, in which as many would pass unhindered
    constexpr std::uint64_t in_stages = 8;
    constexpr std::uint64_t from_buffer = 26;
    const std::uint64_t of_beat = atom / Cycles(divide_up(elements, config.output_throughput));
    const auto ahead = [&](std::uint64_t beats) {
        return of_beat > 1 ? Cycles(beats * of_beat - (beats + 1)) : Cycles(0);
    };
    return {ahead(in_stages), ahead(from_buffer)};
}

std::uint64_t bubbles_lost(Cycles before, std::uint64_t beats) {
    constexpr std::uint64_t waiting = 2;  // beats that they hold beyond those of their delay
    return before == Cycles(0) ? 0 : (before.value + waiting) / beats;
}

Cycles sdp_atom_cycles(const SdpConfig& config, const SdpStages& stages, std::uint64_t elements) {
    const PerStage<std::uint32_t> throughputs{config.bs_throughput, config.bn_throughput,
                                              config.element_wise_throughput};
    std::uint32_t narrowest = config.output_throughput;
    for_each_stage(stages, [&](const auto& stage, std::size_t i) {
        narrowest = stage.bypass ? narrowest : std::min(narrowest, throughputs[i]);
    });
    return Cycles(divide_up(elements, narrowest));
}

Cycles sdp_pace(const SdpConfig& config, const SdpStages& stages, std::uint64_t elements,
                bool flying) {
    const Cycles pace = sdp_atom_cycles(config, stages, elements);
    const Cycles enters(divide_up(elements, config.output_throughput));
    return flying ? std::max(pace, enters + config.flying_bubble) : pace;
}

SdpStream::SdpStream(const SdpConfig& config, SdpStreamPlan plan, const std::vector<Cycles>& taken)
    : config_(config), plan_(std::move(plan)), taken_(taken), places_(plan_.beat, plan_.runs) {
    lay_lines();
    arrivals_.reserve(beats_);
}

void SdpStream::lay_lines() {
    std::uint64_t left = 0;  // runs of the current line
    std::uint64_t places = 0;
    for (const ByteRun& run : plan_.runs) {
        if (left == 0) {
            left = lines_.size() < plan_.full_lines ? plan_.runs_per_line : plan_.rest_runs;
            lines_.push_back({.begin = beats_});
        }
        --left;
        lines_.back().last_run = beats_;
        lines_.back().skipped = run.address.value % plan_.beat.value;
        lines_.back().places = places;
        places += places_.of(run);
        beats_ += beats_of(run);
        lines_.back().end = beats_;
    }
}

std::uint64_t SdpStream::beats_of(const ByteRun& run) const {
    return divide_up(run.end().value, plan_.beat.value) - run.address.value / plan_.beat.value;
}

std::optional<Cycles> SdpStream::ready(std::uint64_t beat) const {
    if (beat < plan_.fifo) {
        return plan_.start;
    }
    if (beat - plan_.fifo >= arrivals_.size()) {
        return std::nullopt;
    }
    const Cycles passed = this->passed(beat - plan_.fifo);
    if (plan_.pack_request) {
        const std::uint64_t leaves = beat - plan_.fifo;
        if (leaves < open_.begin || leaves >= open_.end) {
            const Pack pack = pack_of(leaves);
            const std::optional<Cycles> first = opens(pack);
            if (!first) {
                return std::nullopt;
            }
            open_ = {pack.begin, pack.begin + pack.beats, *first};
        }
        return std::max(passed, open_.first + Cycles(leaves - open_.begin));  // one a cycle
    }
    const std::uint64_t ahead = plan_.fifo + plan_.unpacked;
    if (beat < ahead) {
        return passed;
    }
    const std::uint64_t freed = beat - ahead;
    if (freed - group_.first >= group_.beats) {
        const std::uint64_t first = freed / config_.beat_group * config_.beat_group;
        group_ = {first, config_.beat_group, atom_of(first)};
    }
    if (group_.atom >= taken_.size()) {
        // the buffers hold at least what one atom needs: it cannot be taken without this beat
        return beat < needed_from(group_.atom).beats ? std::optional(passed) : std::nullopt;
    }
    return std::max(passed, taken_[group_.atom] + config_.request_taken);
}

std::optional<Cycles> SdpStream::ready_amid(std::uint64_t further) const {
    const ByteRun& run = plan_.runs[next_run()];
    const std::uint64_t next = left_in_run_ == 0 ? 0 : beats_of(run) - left_in_run_;  // of the run
    const std::uint64_t filled = places_.until(run, next + further + 1);
    const std::uint64_t places = places_.asked() + filled - places_.until(run, next);
    const std::optional<std::uint64_t> left = places_.awaited(places, plan_.fifo);
    if (!left || filled == places_.until(run, next + further)) {
        return plan_.start;
    }
    if (!places_.is_filled(*left, arrivals_)) {
        return std::nullopt;
    }
    const Cycles passed = places_.filled(*left, arrivals_) + config_.request_unpacked;
    if (*left < plan_.unpacked) {
        return passed;
    }
    const std::uint64_t atom = atom_of_place(*left - plan_.unpacked);
    if (atom >= taken_.size()) {
        const bool awaited = requested_ + further < needed_from(atom).beats;
        return awaited ? std::optional(passed) : std::nullopt;
    }
    return std::max(passed, taken_[atom] + config_.request_taken);
}

SdpStream::Pack SdpStream::pack_of(std::uint64_t beat) const {
    const std::size_t number = line_of(beat);
    const Line& line = lines_[number];
    const std::uint64_t begin =
        line.begin + (beat - line.begin) / config_.beat_group * config_.beat_group;
    return {begin, std::min<std::uint64_t>(config_.beat_group, line.end - begin), number};
}

// One pack fills while the previous one occupies a queue for each of its beats; it follows when the
// atoms have left the queues that it needs. A queue accepts a second beat in the cycle after the
// first one, which a pack of one beat makes use of.
// source: NV_NVDLA_SDP_RDMA_unpack.v and NV_NVDLA_SDP_RDMA_EG_ro.v of branch master, rod_wr_rdy
std::optional<Cycles> SdpStream::opens(const Pack& pack) const {
    if (pack.begin == 0) {
        return Cycles(0);
    }
    const Pack before = pack_before(pack);
    if (before.begin == 0) {
        return Cycles(0);
    }
    const Pack held = pack_before(before);
    if (before.beats > 1) {
        return left_by(held, std::min(before.beats, held.beats));
    }
    if (held.beats == 1) {
        return held.begin == 0 ? Cycles(0) : left_by(pack_before(held), 1);
    }
    const std::optional<Cycles> begins = opens(before);
    if (begins && passed(before.begin) <= *begins) {
        return *begins + Cycles(1);
    }
    return begins ? left_by(held, 1) : std::nullopt;
}

std::optional<Cycles> SdpStream::left_by(const Pack& pack, std::uint64_t beats) const {
    const Line& line = lines_[pack.line];
    const std::uint64_t bytes = (pack.begin - line.begin + beats) * plan_.beat.value - line.skipped;
    const std::uint64_t step = std::min((bytes - 1) / plan_.step.value, plan_.steps_per_line - 1);
    const std::uint64_t end = (pack.line * plan_.steps_per_line + step + 1) * plan_.atoms_per_step;
    if (end <= plan_.on_way) {
        return Cycles(0);
    }
    const std::uint64_t atom = end - 1 - plan_.on_way;
    return atom < taken_.size() ? std::optional(taken_[atom] + *plan_.pack_request) : std::nullopt;
}

Cycles SdpStream::ready_after(std::uint64_t count) const {
    if (places_.amid()) {
        return requested_ < count ? ready_amid(0).value_or(Cycles(0)) : Cycles(0);
    }
    return ready(count - 1).value_or(Cycles(0));
}

std::optional<ReadBurst> SdpStream::next_burst() {
    const std::optional<Cycles> time = places_.amid() ? ready_amid(0) : ready(requested_);
    if (!time) {
        return std::nullopt;
    }
    ReadBurst burst{*time, 1};
    if (left_in_run_ == 0) {
        burst.run = plan_.runs[run_++];
        left_in_run_ = beats_of(*burst.run);
    }
    if (places_.amid()) {
        while (burst.beats < left_in_run_ && ready_amid(burst.beats) == time) {
            ++burst.beats;
        }
        const std::uint64_t first = beats_of(plan_.runs[run_ - 1]) - left_in_run_;
        places_.ask(plan_.runs[run_ - 1], first, burst.beats, requested_);
    } else if (requested_ < plan_.fifo) {
        burst.beats = std::min(plan_.fifo - requested_, left_in_run_);
    } else if (!plan_.pack_request) {  // beats of a group that one atom delays
        burst.beats = ready_together(*time);
    }
    requested_ += burst.beats;
    left_in_run_ -= burst.beats;
    return burst;
}

std::optional<SdpStream::Shortened> SdpStream::without_last(std::uint64_t atoms) const {
    if (requested_ == beats_) {
        return Shortened{.lines = lines_.size(), .steps = plan_.steps_per_line};
    }
    const std::uint64_t steps = lines_.size() * plan_.steps_per_line;
    const std::uint64_t fewer = atoms / plan_.atoms_per_step;
    const bool runs_alike = plan_.rest_runs == plan_.runs_per_line;
    if (atoms % plan_.atoms_per_step != 0 || fewer >= steps || !runs_alike) {
        return std::nullopt;
    }
    const std::uint64_t left = steps - fewer;
    Shortened end{.lines = divide_up(left, plan_.steps_per_line)};
    end.steps = left - (end.lines - 1) * plan_.steps_per_line;
    const Line& last = lines_[end.lines - 1];
    std::uint64_t beats = last.end;
    if (end.steps < plan_.steps_per_line) {  // in the single line of data stored per channel
        const std::uint64_t bytes = end.steps * plan_.step.value;
        if (lines_.size() > 1 || plan_.runs.size() > 1 || last.skipped > 0 ||
            bytes % plan_.beat.value != 0) {
            return std::nullopt;
        }
        beats = bytes / plan_.beat.value;
        end.of_run = run_ == 1 ? beats_ - beats : 0;
    } else if (run_ > end.lines * plan_.runs_per_line) {
        return std::nullopt;
    }
    end.beats = beats_ - beats;
    const bool keeps_order = end.beats % config_.beat_group == 0;
    return keeps_order && beats > requested_ ? std::optional(end) : std::nullopt;
}

std::uint64_t SdpStream::place_in_packs(std::uint64_t beat) const {
    const std::uint64_t in_line = beat - lines_[line_of(beat)].begin;
    const std::uint64_t first_packs = 3ULL * config_.beat_group;  // they wait for no earlier pack
    if (lines_.size() > 1 || in_line < first_packs) {
        return in_line;
    }
    return first_packs + in_line % config_.beat_group;  // in a single line all others are alike
}

void SdpStream::add_state(Fingerprint& state, std::uint64_t atom, std::uint64_t burst) const {
    const bool whole = requested_ == beats_;
    state.add(whole ? 1U : 0U);
    if (!whole) {
        const std::uint64_t needed = beats_for(atom);
        state.add(requested_ - needed);
        state.add(arrivals_.size() - needed);
        state.add(left_in_run_ < plan_.fifo ? left_in_run_ : plan_.fifo);
        state.add(requested_ % config_.beat_group);
        if (plan_.pack_request && requested_ >= plan_.fifo) {
            state.add(place_in_packs(requested_ - plan_.fifo));
        }
        for (std::uint64_t back = 1; back <= std::min(plan_.unpacked + plan_.fifo, places_.asked());
             ++back) {
            state.add(requested_ - places_.beat_of(places_.asked() - back));
        }
        const Cycles taken_to_request = plan_.pack_request.value_or(config_.request_taken);
        const std::size_t next = std::min(run_, plan_.runs.size() - 1);
        state.add(plan_.runs[next].address.value % (plan_.beat.value * burst));
        for (std::uint64_t back = 1;
             back <= std::min<std::uint64_t>(plan_.unpacked + plan_.fifo, taken_.size()); ++back) {
            state.add_coming(taken_[taken_.size() - back] + taken_to_request);
        }
    }
    for (auto arrival = arrivals_.rbegin(); arrival != arrivals_.rend(); ++arrival) {
        const Cycles passed = *arrival + config_.request_unpacked;
        if (passed <= state.since()) {
            break;
        }
        state.add(passed);
    }
}

std::vector<ByteRun> SdpStream::shorten(const Shortened& end) {
    if (end.beats == 0) {
        return {};
    }
    open_ = {};
    lines_.resize(end.lines);
    const auto first =
        plan_.runs.begin() + static_cast<std::ptrdiff_t>(end.lines * plan_.runs_per_line);
    std::vector<ByteRun> left_out(first, plan_.runs.end());
    plan_.runs.erase(first, plan_.runs.end());
    beats_ -= end.beats;
    if (end.steps < plan_.steps_per_line) {
        plan_.steps_per_line = end.steps;
        const ByteRun before = plan_.runs.front();
        plan_.runs.front().bytes = plan_.step * end.steps;
        const Address stays = plan_.runs.front().end();
        left_out.push_back({stays, before.end() - stays});
        lines_.front().end = beats_;
        left_in_run_ -= end.of_run;
    }
    return left_out;
}

std::uint64_t SdpStream::ready_together(Cycles time) const {
    const std::uint64_t ahead = plan_.fifo + plan_.unpacked;
    std::uint64_t beats = 1;
    for (; beats < left_in_run_; ++beats) {
        const std::uint64_t beat = requested_ + beats;
        const bool same_group = beat >= ahead && beat - ahead - group_.first < group_.beats &&
                                group_.atom < taken_.size() && beat - plan_.fifo < arrivals_.size();
        if (same_group) {
            const Cycles taken = taken_[group_.atom] + config_.request_taken;
            if (std::max(arrivals_[beat - plan_.fifo] + config_.request_unpacked, taken) != time) {
                break;
            }
        } else if (ready(beat) != time) {
            break;
        }
    }
    return beats;
}

std::size_t SdpStream::line_of(std::uint64_t beat) const {
    while (beat < lines_[line_of_beat_].begin) {
        --line_of_beat_;
    }
    while (lines_[line_of_beat_].end <= beat) {
        ++line_of_beat_;
    }
    return line_of_beat_;
}

std::uint64_t SdpStream::atom_of(std::uint64_t beat) const {
    const Line& line = lines_[line_of(beat)];
    const std::uint64_t in_run = beat > line.last_run ? beat - line.last_run : 0;
    const std::uint64_t bytes = in_run * plan_.beat.value;
    const std::uint64_t step = bytes > line.skipped ? (bytes - line.skipped) / plan_.step.value : 0;
    return (line_of_beat_ * plan_.steps_per_line + std::min(step, plan_.steps_per_line - 1)) *
           plan_.atoms_per_step;
}

std::uint64_t SdpStream::atom_of_place(std::uint64_t place) const {
    const Line& line = lines_[line_of(places_.beat_of(place))];
    const std::uint64_t in_run = place > line.places ? place - line.places : 0;
    const std::uint64_t step = in_run * plan_.beat.value / plan_.step.value;
    return (line_of_beat_ * plan_.steps_per_line + std::min(step, plan_.steps_per_line - 1)) *
           plan_.atoms_per_step;
}

std::uint64_t SdpStream::needed(std::uint64_t atom) const {
    if (atom - needed_.first >= needed_.atoms) {
        needed_ = needed_from(atom);
    }
    return needed_.beats;
}

SdpStream::NeededBeats SdpStream::needed_from(std::uint64_t atom) const {
    const std::uint64_t step = plan_.atoms_per_step == 1 ? atom : atom / plan_.atoms_per_step;
    if (step - line_of_step_.begin >= plan_.steps_per_line) {
        const std::uint64_t number = step / plan_.steps_per_line;
        line_of_step_ = {number, number * plan_.steps_per_line};
    }
    const std::uint64_t in_line = step - line_of_step_.begin;
    const Line& line = lines_[line_of_step_.number];
    const std::uint64_t before = line.last_run - line.begin;  // whole runs of the line
    const std::uint64_t opened = line.skipped > 0 ? 1 : 0;    // a beat that begins before it
    // the atoms of a beat arrive together, counted from the beginning of the line
    // source: NV_NVDLA_MCIF_READ_eg.v of nvdlav1, arb_cq_swizzle
    const std::uint64_t held = divide_up((in_line + 1) * plan_.step.value, plan_.beat.value);
    const std::uint64_t beats = round_up(before + opened + held, config_.beat_group);
    std::uint64_t end = plan_.steps_per_line;  // of the steps for which these suffice
    if (line.begin + beats < line.end) {
        end = std::min(end, (beats - before - opened) * plan_.beat.value / plan_.step.value);
    }
    return {atom, ((line_of_step_.begin + end) * plan_.atoms_per_step) - atom,
            std::min(line.begin + beats, line.end)};
}

}  // namespace npuscope
