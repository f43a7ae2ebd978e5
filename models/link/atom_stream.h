// SPDX-License-Identifier: Apache-2.0
// Runs of atoms that a read DMA requests, one run of memory after the other. Requested data has
// slots in a latency FIFO of beats and in a queue of runs. A beat leaves the FIFO when it has
// arrived and the consumer's own buffer has room for it; a run leaves the queue when the previous
// run has been completely taken, or, if it was not in the queue by then, when its first atom is
// taken. Then the slot is freed and can be requested again. The consumer walks the same runs atom
// by atom. Times only, no SystemC.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/link/fifo_places.h"
#include "models/link/read_stream.h"

namespace npuscope {

/// What limits a stream of atoms, in addition to the memory. Each holds at least two atoms,
/// whatever the value: hardware that could not hold one atom would not be built.
struct AtomStreamLimits {
    std::uint64_t beats = 1;   ///< capacity of the latency FIFO
    std::uint64_t buffer = 1;  ///< atoms between that FIFO and the consumer
    std::uint64_t runs = 1;    ///< capacity of the queue
    Cycles give_back{1};       ///< from a slot being free to the request that uses it
    /// Cycles per atom, where a completely taken run lets the next one leave the queue.
    std::optional<Cycles> slot{};
};

struct AtomStreamSetup {
    Cycles first;  ///< no beat is at the arbiter before
    AtomStreamLimits limits;
    Bytes atom{8};
    Bytes beat{8};  ///< of the bus
};

class AtomStream : public ReadStream {
 public:
    AtomStream(const AtomStreamSetup& setup, std::vector<ByteRun> runs);

    std::uint64_t beats() const override { return total_beats_; }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override {
        arrivals_.insert(arrivals_.end(), times.begin(), times.end());
    }
    bool hold_more() override { return setup_.limits.beats++ <= total_beats_; }

    /// Atoms that one look-ahead may cover: no more than the latency FIFO holds in addition to the
    /// rest of a burst of `burst` beats.
    std::uint64_t atoms_ahead(std::uint64_t burst) const;
    /// Beats of the stream up to and including the `atoms`-th atom of the consumer's run.
    std::uint64_t beats_until(std::uint64_t atoms) const {
        return first_beat_ + beat_of(atoms - 1) + 1;
    }
    /// When an atom of the consumer's run has arrived; its beats have been issued.
    Cycles arrival(std::uint64_t atom) const {
        const std::uint64_t beat = beat_of(atom);
        return arrivals_[first_beat_ + beat] + Cycles(begins_amid(atom, beat) ? 1 : 0);
    }
    /// The consumer has taken the next atom of its run, at `time` at the latest.
    void taken(Cycles time);

 private:
    std::uint64_t beats_of(const ByteRun& run) const;
    std::uint64_t atoms_together() const {
        return std::max<std::uint64_t>(setup_.beat.value / setup_.atom.value, 1);
    }
    /// Beat of the consumer's run that an atom waits for. Atoms within one beat arrive together,
    /// counted from the run's start. source: NV_NVDLA_MCIF_READ_eg.v of nvdlav1, arb_cq_swizzle
    std::uint64_t beat_of(std::uint64_t atom) const {
        if (!places_.amid()) {
            return ((atom + 1) * setup_.atom.value - 1) / setup_.beat.value;
        }
        const ByteRun& run = runs_[run_];
        const std::uint64_t skip = run.address.value % setup_.beat.value;
        const std::uint64_t end = round_up((atom + 1) * setup_.atom.value, setup_.beat.value);
        return (skip + std::min(end, run.bytes.value) - 1) / setup_.beat.value;
    }
    /// The atoms that arrive with an atom begin in the beat in which the previous ones end.
    bool begins_amid(std::uint64_t atom, std::uint64_t beat) const {
        if (!places_.amid()) {
            return false;
        }
        const std::uint64_t before = atom - atom % atoms_together();
        return before > 0 && beat_of(before - 1) == beat;
    }
    /// When there is room for the next beat and `further` more; nothing while not known yet.
    std::optional<Cycles> room_for(std::uint64_t further) const;
    std::optional<Cycles> left_fifo(std::uint64_t place) const;
    /// When a requested run leaves the queue, as if its first atom were taken then.
    std::optional<Cycles> left_queue(std::size_t run) const;

    AtomStreamSetup setup_;
    std::vector<ByteRun> runs_;
    std::uint64_t buffer_;  // slots between the FIFO and the consumer
    std::uint64_t total_beats_ = 0;
    // the issuing side
    std::size_t asked_run_ = 0;
    std::uint64_t asked_in_run_ = 0;  // beats
    std::uint64_t asked_ = 0;         // beats of the whole stream
    FifoPlaces places_;
    // the consuming side
    std::size_t run_ = 0;
    std::uint64_t atom_ = 0;         // next one of the run
    std::uint64_t first_beat_ = 0;   // of the run, in the stream
    std::uint64_t first_place_ = 0;  // of the run, in the stream
    std::vector<Cycles> arrivals_;
    std::vector<Cycles> taken_;    // per slot of the FIFO
    std::vector<Cycles> started_;  // per run, first atom taken
    std::vector<Cycles> ended_;    // per run, last atom taken
    std::vector<Cycles> queued_;   // per requested run
};

}  // namespace npuscope
