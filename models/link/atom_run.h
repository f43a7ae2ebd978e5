// SPDX-License-Identifier: Apache-2.0
// What passes on the fly between CACC, SDP and PDP: a run of feature atoms of one surface, in
// raster order, with the time at which the first is available. The values of the whole operation
// are passed by reference.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "models/base/quantity.h"
#include "models/layout/tensor.h"
#include "models/link/timed_counter.h"

namespace npuscope {

// Where operations end in the accumulator's delivery buffer. Two marks hold the slots of the last
// atom of the operation that is leaving and of the next one; the SDP closes its operation when an
// atom in a marked slot leaves. When a last atom enters in the same cycle in which the last one of
// the previous operation leaves, the hardware keeps one mark too many: the previous slot of its
// second mark. The next atom that leaves from there closes its operation early. Times only, no
// SystemC. Not modelled: three ends in the buffer at one time.
// source: nv_small RTL, NV_NVDLA_CACC_delivery_ctrl.v dlv_end_tag1_vld_w, replayed

class EndMarks {
 public:
    /// How the end of an operation entered the buffer relative to the previous operation's end.
    enum class Meeting {
        Apart,     ///< the previous one had left
        Together,  ///< the previous one was still in the buffer
        AtOnce,    ///< in the cycle in which the previous one left: a mark too many stays
    };
    /// `depth`: atoms that the buffer holds; `latency`: minimum cycles of an atom in it.
    EndMarks(std::uint64_t depth, Cycles latency) : depth_(depth), latency_(latency) {}

    std::uint64_t depth() const { return depth_; }
    /// Atoms enter, the last of them at `last`; `end`: it is the last one of its operation.
    void enter(Cycles last, bool end);
    /// Of the next `atoms` to leave, the number up to the one that closes their operation too
    /// early; `end`: the last of them should close it.
    std::optional<std::uint64_t> wrong_end(std::uint64_t atoms, bool end) const;
    /// They leave, the last one at `last`; the result is for the end among them.
    Meeting leave(std::uint64_t atoms, Cycles last, bool end);
    /// A surplus mark waits for its atom.
    bool stale() const { return stale_.has_value(); }
    /// Counts this many more atoms as if they had passed, none of them an end.
    void leave_out(std::uint64_t atoms) { left_ += atoms; }
    /// How far it has come; `second`: the slot of the second mark.
    struct Position {
        std::uint64_t left = 0;
        std::uint64_t second = 0;
    };
    Position position() const { return {left_, second_}; }
    /// Where a surplus mark appears does not depend on which of the two it was.
    bool alike(const Position& a, const Position& b) const {
        return a.second == b.second || moves_along(a, b);
    }
    /// Repeats what happened in between this many times.
    void repeat(const Position& from, const Position& to, std::uint64_t times) {
        const std::uint64_t atoms = (to.left - from.left) * times;
        second_ = moves_along(from, to) ? (second_ + atoms) % depth_ : second_;
        left_ += atoms;
    }
    /// Everything but the position.
    void add_state(Fingerprint& state) const {
        for (const Cycles end : ends_) {
            state.add(end);
        }
        state.add(stale_.has_value() ? 1U : 0U);
        if (last_end_) {
            state.add_coming(*last_end_ + latency_);
        }
    }

 private:
    Meeting meeting(Cycles entered) const;
    bool moves_along(const Position& a, const Position& b) const {
        return (b.second + depth_ - a.second) % depth_ == (b.left - a.left) % depth_;
    }

    std::uint64_t depth_;
    Cycles latency_;
    std::uint64_t left_ = 0;              // atoms so far
    std::deque<Cycles> ends_;             // times at which ends that have not left entered
    std::optional<Cycles> last_end_;      // when the previous end left
    std::uint64_t second_ = 0;            // slot of the second mark, valid or not
    std::optional<std::uint64_t> stale_;  // atom that has a surplus mark
};

template <class T, class Values = Tensor<T>>
struct AtomRun {
    std::shared_ptr<const Values>
        values{};            ///< of the whole operation; null when only time is simulated
    std::uint32_t part = 0;  ///< column range of a cube that is read in parts
    std::uint32_t surface = 0;
    std::uint64_t first_pixel = 0;  ///< y * width + x
    std::uint64_t count = 0;
    Cycles first_ready{};             ///< the first atom of the run leaves its producer
    Cycles interval{1};               ///< from one atom of the run to the next
    bool last = false;                ///< last run of the operation
    TimedCounter* credits = nullptr;  ///< gets `count` back, `credit_delay` after the run is taken
    Cycles credit_delay{};
    EndMarks* marks = nullptr;  ///< notified when the run leaves, if the producer marks its ends
};

}  // namespace npuscope
