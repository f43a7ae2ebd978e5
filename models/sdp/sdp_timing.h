// SPDX-License-Identifier: Apache-2.0
// How fast the SDP takes atoms and how long they stay. Its narrowest active stage sets the pace;
// from the accumulator an atom costs one more cycle, because the hand-over has a bubble. Each
// active stage adds its latency. Not modelled: stalls between the stages. Source: nv_small RTL,
// measured; not so the element-wise stage, which nv_small lacks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/fingerprint.h"
#include "models/base/quantity.h"
#include "models/link/fifo_places.h"
#include "models/link/read_stream.h"
#include "models/sdp/sdp_config.h"
#include "models/sdp/sdp_stages.h"

namespace npuscope {

/// Cycles that each stage adds, 0 where it is bypassed.
PerStage<Cycles> sdp_stage_delays(const SdpConfig& config, const SdpStages& stages);

/// Additional cycles that an operand of the element-wise stage needs compared with other stages,
/// where a beat holds several atoms: it passes converters, and the ALU comes after the multiplier.
/// source: NV_NVDLA_SDP_CORE_y.v of nvdlav1; nv_full RTL, simulated
Cycles element_wise_operand_delay(bool for_multiplier, bool per_element);

/// Cycles by which the multiplier's operand may come later than the ALU's would, where a beat holds
/// several atoms: it is used later. In addition to the ALU's only where both are per channel.
/// source: nv_full RTL, simulated
Cycles multiplier_lead(bool with_alu, bool per_element);

/// Where a stage reads the ALU's and the multiplier's operands of each element from one stream, a
/// beat brings both, and waits until both have room. The multiplier uses its part later than the
/// ALU does, so its slots limit how far the ALU gets ahead.
struct OperandPairs {
    std::uint64_t atoms = 0;  ///< that fit into the multiplier's slots; 0: no such stream
    Cycles turn;              ///< from taking an atom to taking the one that gets its slot
    std::uint64_t pack = 1;   ///< atoms that get their slots together
    std::uint64_t line = 1;   ///< atoms of a line, at whose end a pack ends
    bool halves = false;      ///< an atom gets them in two halves, see HalfPairs

    /// When the operation's atom gets its slot. In a pack, only the first one waits; a pack of one
    /// atom after another pack does not, but is waited for longer.
    Cycles place(std::uint64_t atom, const std::vector<Cycles>& taken) const {
        const std::uint64_t in_line = atom % line;
        const bool singles = pack > 1 && line % pack == 1;
        const bool single = singles && in_line == line - 1 && in_line > 0;
        if (atoms == 0 || atom < atoms || in_line % pack != 0 || single) {
            return {};
        }
        const bool after_single = singles && in_line == 0;
        return after_single ? taken[atom + 1 - atoms] + turn - Cycles(1)
                            : taken[atom - atoms] + turn;
    }
};

/// `parts`: cycles in which an atom passes the stage, each with its own slot.
/// source: NV_NVDLA_SDP_BRDMA_eg.v, both_rod_rdy, and NV_NVDLA_SDP_BRDMA_EG_ro.v of nvdlav1
OperandPairs operand_pairs(std::uint64_t parts);
/// Where an atom needs two beats of such a stream, each brings half of it to its own slots.
/// source: nv_full RTL, simulated; NV_NVDLA_SDP_BRDMA_EG_ro.v of nvdlav1
class HalfPairs {
 public:
    /// When the next atom, which could be taken at `ready`, gets the slots of both halves: as if
    /// the second one followed the first immediately.
    Cycles place(Cycles ready) {
        first_ = std::max(ready, room(0));
        second_ = std::max(first_ + Cycles(1), room(1));
        return second_ - Cycles(1);
    }
    void taken(Cycles time) {
        const bool placed = time + Cycles(1) == second_;
        halves_[half_++ % halves_.size()] = placed ? first_ : time;
        halves_[half_++ % halves_.size()] = time + Cycles(1);
    }
    void add_state(Fingerprint& state) const {
        for (std::size_t i = 0; i < halves_.size(); ++i) {
            state.add_coming(halves_[(half_ + i) % halves_.size()] + turn);
        }
    }

 private:
    static constexpr std::uint64_t places = 7;
    static constexpr Cycles turn{10};  // from taking a half to taking the one that gets its slot
    Cycles room(std::uint64_t further) const {
        const std::uint64_t half = half_ + further;
        return half < places ? Cycles(0) : halves_[(half - places) % halves_.size()] + turn;
    }
    std::array<Cycles, places + 1> halves_{};  // the latest ones
    std::uint64_t half_ = 0;                   // the next one
    Cycles first_;
    Cycles second_;
};
/// The same where beats come in packs, for an atom of two beats; nothing if atoms are slower.
/// source: nv_large RTL, simulated; NV_NVDLA_SDP_RDMA_eg.v and NV_NVDLA_SDP_RDMA_EG_ro.v of branch
/// master: with one-byte operands a pack fills two slots of each queue
OperandPairs packed_operand_pairs(std::uint64_t parts, std::uint64_t line);

/// Cycles of an atom of `elements` elements in the narrowest active stage.
Cycles sdp_atom_cycles(const SdpConfig& config, const SdpStages& stages, std::uint64_t elements);

/// Cycles from an atom to the next one. One from the accumulator costs an extra cycle where it
/// enters, which a narrower stage hides. source: NV_NVDLA_CACC_delivery_buffer.v; RTL of
/// nv_small_256_full with a table after a convolution
Cycles sdp_pace(const SdpConfig& config, const SdpStages& stages, std::uint64_t elements,
                bool flying);

/// Cycles by which an atom from the accumulator may enter before a narrower later stage takes it.
struct AtomsAhead {
    Cycles of_stage;    ///< the stages before it, and the next operation's atoms
    Cycles of_credits;  ///< the accumulator gets its credit back
};
/// `atom`: cycles of an atom in the narrowest stage.
/// source: RTL of nv_small_256_full, nv_medium_1024_full, networks with tables after convolutions
AtomsAhead atoms_ahead(const SdpConfig& config, std::uint64_t elements, Cycles atom);

/// Bubbles between atoms of `beats` beats that close up while an atom waits for its operands in a
/// stage, where the stages before it take `before` cycles: those fill up with consecutive beats.
/// source: RTL of nv_small_256 and nv_small_256_full, sums with and without a bias before them
std::uint64_t bubbles_lost(Cycles before, std::uint64_t beats);

/// What limits the SDP while it feeds the pooling: an atom passes the stages beat by beat, each
/// stage holds one, and the pooling takes its time for each. source: NV_NVDLA_SDP_core.v and what
/// it instantiates, nv_large and nv_medium_512
struct PoolingLimit {
    std::uint64_t beats = 1;   ///< of an atom
    Cycles interval;           ///< that the pooling needs per beat
    Cycles latency{};          ///< of a beat when nothing waits
    std::uint64_t places = 1;  ///< beats in transit when everything waits
};

/// When the SDP takes atoms: one after the other at its pace, none before it has arrived, and none
/// before there is room behind it.
class AtomDrain {
 public:
    /// An operation begins; without a `limit` everything taken can leave.
    void begin(Cycles pace, const std::optional<PoolingLimit>& limit) {
        pace_ = pace;
        gap_ = {};
        enters_ = free_;
        limit_ = limit && limit->interval > Cycles(1) ? limit : std::nullopt;
        if (limit_ && left_.size() != limit_->places) {
            left_.assign(limit_->places, Cycles(0));
            place_ = 0;
        }
    }
    Cycles pace() const { return pace_; }
    /// Atoms enter with a bubble of `bubble` cycles between them, part of the pace; while they wait
    /// for operands further in, `lost` of these bubbles are closed up by following atoms.
    void close_up(Cycles bubble, std::uint64_t lost) { gap_ = {bubble, lost}; }
    /// Bubbles that can close up.
    std::uint64_t lost() const { return gap_.lost; }
    /// Whether the last atom waited further in than at the entry.
    bool closing_up() const { return gap_.lost > 0 && enters_ < free_; }
    /// Atoms may be taken at a different pace.
    bool limited() const { return limit_.has_value(); }
    /// Takes one atom that is available from `ready` on; where its beats wait for each other, as if
    /// they had followed the last one without gaps.
    Cycles take(Cycles ready) {
        Cycles time = std::max(ready, free_);
        if (limit_) {
            time = pass_beats(time);
        }
        free_ = time + pace_;
        return time;
    }
    /// The same for an atom with operands available from `operands` on; `taken`: all atoms so far.
    Cycles take(Cycles ready, Cycles operands, const std::vector<Cycles>& taken) {
        if (gap_.lost == 0 || limit_) {
            return take(std::max(ready, operands));
        }
        Cycles enters = std::max(ready, enters_);
        if (taken.size() > gap_.lost) {
            const Cycles close = (pace_ - gap_.bubble) * (gap_.lost + 1);
            enters = std::max(enters, taken[taken.size() - gap_.lost - 1] + close + gap_.bubble);
        }
        Cycles time = std::max(enters, operands);
        if (!taken.empty()) {
            time = std::max(time, taken.back() + pace_ - gap_.bubble);
        }
        enters_ = enters + pace_;
        free_ = time + pace_;
        return time;
    }
    /// Takes `count` atoms that arrive no slower than the pace, without a limit; returns the time
    /// of the first.
    Cycles take_run(Cycles first_ready, std::uint64_t count) {
        const Cycles first = std::max(first_ready, free_);
        free_ = first + pace_ * count;
        enters_ = free_;
        return first;
    }
    /// Nothing is taken before `time`.
    void hold_until(Cycles time) { free_ = std::max(free_, time); }
    /// Cycles by which the last beat reaches stage number `stage` later than if nothing waited.
    Cycles delay_at(std::uint64_t stage) const {
        if (!limit_) {
            return Cycles(0);
        }
        const Cycles room = left_[(place_ + stage - 1) % left_.size()];
        const Cycles unhindered = last_in_ + Cycles(stage);
        return room > unhindered ? room - unhindered : Cycles(0);
    }
    void add_state(Fingerprint& state) const {
        state.add(free_);
        state.add(pace_.value);
        if (gap_.lost > 0) {
            state.add(enters_);
        }
    }
    /// First cycle in which another atom could be taken.
    Cycles free() const { return free_; }

 private:
    Cycles pass_beats(Cycles first) {
        Cycles last;
        for (std::uint64_t beat = 0; beat < limit_->beats; ++beat) {
            last = std::max(beat == 0 ? first : last + Cycles(1), left_[place_]);
            last_left_ = std::max(last + limit_->latency, last_left_ + limit_->interval);
            left_[place_] = last_left_;
            place_ = place_ + 1 == left_.size() ? 0 : place_ + 1;
        }
        last_in_ = last;
        return last - Cycles(limit_->beats - 1);
    }

    /// Bubbles between atoms, and how many of them are lost while atoms wait.
    struct Gap {
        Cycles bubble;
        std::uint64_t lost = 0;
    };

    Cycles pace_{1};
    Gap gap_;
    Cycles enters_;  // earliest entry of the next atom
    std::optional<PoolingLimit> limit_;
    Cycles free_;
    std::vector<Cycles> left_;  // when the latest beats left the stages, as a ring
    std::size_t place_ = 0;     // of the next beat in the ring
    Cycles last_in_;
    Cycles last_left_;
};

// When a read DMA of the SDP requests its beats, and when an atom has those it needs. The DMA reads
// ahead as far as its FIFO goes, then one beat for each that leaves the FIFO: immediately while
// there is room after it, later when the atom that used a group of them has been taken. Atoms get
// beats in groups that end with a line. One class for the source cube and for operands, per element
// or per channel. Source: nv_small RTL, measured.

/// What a stream brings, and for whom.
struct SdpStreamPlan {
    std::vector<ByteRun> runs;
    Bytes beat{8};
    Bytes step{8};                     ///< per atom, or per surface's channels
    std::uint64_t atoms_per_step = 1;  ///< atoms that use the same bytes: those of a surface
    std::uint64_t steps_per_line = 1;  ///< groups of beats end with a line
    /// In a line of several runs all but the last are complete before its first atom.
    std::uint64_t runs_per_line = 1;
    /// This many lines have `runs_per_line` runs, the following ones `rest_runs`.
    std::uint64_t full_lines = ~std::uint64_t{0};
    std::uint64_t rest_runs = 1;
    Cycles start;                ///< first request
    std::uint64_t fifo = 160;    ///< beats in flight or in the latency FIFO
    std::uint64_t unpacked = 8;  ///< beats after the FIFO that wait for their atom
    /// Where those wait in packs that end with a line: cycles from taking an atom to the first
    /// request for slots in the FIFO that a pack can then leave. No `unpacked` beats in that case.
    std::optional<Cycles> pack_request{};
    /// Atoms between the slots of those packs and the stage: for operands, two in a pipe and one in
    /// the stage's packing. source: NV_NVDLA_SDP_RDMA_EG_ro.v, pipe_p1, and
    /// NV_NVDLA_SDP_RDMA_pack.v of branch master
    std::uint64_t on_way = 3;
};

class SdpStream : public ReadStream {
 public:
    /// `taken`: when each atom of the operation so far was taken; it grows.
    SdpStream(const SdpConfig& config, SdpStreamPlan plan, const std::vector<Cycles>& taken);

    std::uint64_t beats() const override { return beats_; }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override {
        arrivals_.insert(arrivals_.end(), times.begin(), times.end());
    }
    Cycles ready_after(std::uint64_t count) const override;
    bool hold_more() override { return plan_.fifo++ <= beats_; }

    /// Beats that must have arrived for an atom; `alike` then refers to it.
    std::uint64_t needed(std::uint64_t atom) const;
    /// The same for a later atom.
    std::uint64_t beats_for(std::uint64_t atom) const { return needed_from(atom).beats; }
    /// Atoms from this one on that need only the beats requested last.
    std::uint64_t alike(std::uint64_t atom) const {
        return atom - needed_.first < needed_.atoms ? needed_.first + needed_.atoms - atom : 0;
    }
    /// Arrival of the last of the first `beats` beats; they have been issued.
    Cycles arrival(std::uint64_t beats) const { return arrivals_[beats - 1]; }
    bool issued(std::uint64_t beats) const { return arrivals_.size() >= beats; }

    /// The end of the stream if it serves `atoms` atoms fewer; nothing if its order of requests
    /// would change, or if some of these beats have been requested.
    struct Shortened {
        std::uint64_t beats = 0;   ///< fewer
        std::uint64_t of_run = 0;  ///< those of them in the run that is being read
        std::size_t lines = 0;     ///< that remain
        std::uint64_t steps = 0;   ///< of the last one
    };
    std::optional<Shortened> without_last(std::uint64_t atoms) const;
    /// State relative to what `atom`, the next one, needs; memory is read in bursts of `burst`.
    void add_state(Fingerprint& state, std::uint64_t atom, std::uint64_t burst) const;
    /// Returns the bytes that are no longer read.
    std::vector<ByteRun> shorten(const Shortened& end);

 private:
    /// Where one line's beats are in the stream.
    struct Line {
        std::uint64_t begin = 0;     ///< of its first run
        std::uint64_t last_run = 0;  ///< first beat of its last run
        std::uint64_t end = 0;
        std::uint64_t skipped = 0;  ///< bytes of that beat before the run
        std::uint64_t places = 0;   ///< FIFO slots before its last run
    };
    /// Neighbouring atoms that need the same beats, as far as determined.
    struct NeededBeats {
        std::uint64_t first = 0;
        std::uint64_t atoms = 0;
        std::uint64_t beats = 0;
    };
    /// A group of beats, and the first atom that uses it.
    struct BeatGroup {
        std::uint64_t first = 0;
        std::uint64_t beats = 0;
        std::uint64_t atom = 0;
    };
    /// Beats of one line that wait together.
    struct Pack {
        std::uint64_t begin = 0;
        std::uint64_t beats = 0;
        std::size_t line = 0;
    };
    std::optional<Cycles> ready(std::uint64_t beat) const;
    /// The same for a beat of the run that is requested next, where runs begin within a beat: its
    /// FIFO slots differ from its beats. A beat that fills none needs no room.
    std::optional<Cycles> ready_amid(std::uint64_t further) const;
    std::uint64_t next_run() const { return left_in_run_ == 0 ? run_ : run_ - 1; }
    Cycles passed(std::uint64_t beat) const { return arrivals_[beat] + config_.request_unpacked; }
    Pack pack_of(std::uint64_t beat) const;
    /// The part of the beat's position on which its way through the packs depends.
    std::uint64_t place_in_packs(std::uint64_t beat) const;
    Pack pack_before(const Pack& pack) const { return pack_of(pack.begin - 1); }
    /// When the first beat of a pack can make room in the FIFO; nothing while that is unknown.
    std::optional<Cycles> opens(const Pack& pack) const;
    /// The same where it waits for the last atom that uses the first `beats` beats of a pack.
    std::optional<Cycles> left_by(const Pack& pack, std::uint64_t beats) const;
    std::uint64_t beats_of(const ByteRun& run) const;
    void lay_lines();
    /// The line that a beat is in.
    std::size_t line_of(std::uint64_t beat) const;
    /// The first atom that uses a beat.
    std::uint64_t atom_of(std::uint64_t beat) const;
    /// The first atom that uses the contents of a FIFO slot.
    std::uint64_t atom_of_place(std::uint64_t place) const;
    NeededBeats needed_from(std::uint64_t atom) const;
    /// Beats of the run from the next one on that are ready at `time` as it is.
    std::uint64_t ready_together(Cycles time) const;

    const SdpConfig config_;
    SdpStreamPlan plan_;
    const std::vector<Cycles>& taken_;
    std::vector<Line> lines_;
    std::uint64_t beats_ = 0;
    FifoPlaces places_;
    std::uint64_t requested_ = 0;
    std::size_t run_ = 0;
    std::uint64_t left_in_run_ = 0;
    std::vector<Cycles> arrivals_;
    // the last answer: the next question is about the same beats, or those after them
    mutable NeededBeats needed_;
    mutable BeatGroup group_;
    /// Beats that wait together, and when the first of them can make room.
    struct OpenPack {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        Cycles first;
    };
    mutable OpenPack open_;
    mutable std::size_t line_of_beat_ = 0;
    /// The line that a step is in.
    struct StepLine {
        std::uint64_t number = 0;
        std::uint64_t begin = 0;  ///< its first step
    };
    mutable StepLine line_of_step_;
};

}  // namespace npuscope
