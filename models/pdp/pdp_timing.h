// SPDX-License-Identifier: Apache-2.0
// When pooling takes atoms and when its results leave. The unit works on one element at a time (or
// as many as its throughput), so an atom takes one slot of fixed length. Where a window's last
// column is reached, the line's partial result leaves the column stage in that slot; several
// windows that end together, because padding follows, leave in consecutive slots, and the next
// result waits for them. The same holds one stage further for the windows' last rows: lines that
// end together leave one after the other; after a part's last surface before anything else, after
// another surface while the next one's first lines are processed, as long as those do not need
// their room. Two consecutive results of one column, as with a single output column, need a gap
// between their slots. Not modelled: a write channel so slow that results wait for it. Source:
// nv_small RTL, measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

/// Cycles of one atom: its elements over the elements per cycle.
Cycles pooling_slot(std::uint64_t elements, std::uint32_t throughput);

/// The windows along one axis: rows of the cube, or columns of one part.
struct PoolingSteps {
    std::uint32_t in_size{1};
    std::uint32_t out_size{1};
    std::uint32_t kernel{1};
    std::uint32_t stride{1};
    std::uint32_t pad_before{0};
};

/// How many windows have their last real position at each position.
std::vector<std::uint32_t> windows_ending(const PoolingSteps& axis);

/// Output lines that the line buffer holds at once.
std::uint32_t buffered_lines(std::uint32_t kernel, std::uint32_t stride);

/// Of the lines that end together with a surface's last input line, except the first: those that
/// must leave before the next surface begins, because it needs their room.
std::uint32_t lines_in_the_way(const PoolingSteps& rows);

/// Results that left in sequence, and the slots of the first and the last.
struct PooledAtoms {
    Cycles first;
    Cycles last;
    std::uint32_t count = 0;
};

/// The slots of one pooling, atom by atom; times are the ends of slots.
class PoolingPace {
 public:
    PoolingPace(Cycles slot, Cycles column_gap) : slot_(slot), column_gap_(column_gap) {}

    /// Cycles that the next operation's atoms take.
    void set_slot(Cycles slot) { slot_ = slot; }
    /// An operation begins with the arrival of its first atom. Any later atom that is waited for is
    /// taken `earlier` cycles sooner after its arrival than the first.
    void begin(Cycles first_arrival, Cycles earlier = Cycles(0)) {
        input_ = first_arrival;
        earlier_ = earlier;
        waited_ = Cycles(0);
    }
    /// A part with `out_width` output columns begins.
    void begin_part(std::uint32_t out_width) {
        out_width_ = out_width;
        gap_ = Cycles(0);
    }
    /// A piece of a line begins; `lines_ending` lines of windows end with the line.
    void begin_piece(std::uint32_t lines_ending) {
        lines_ending_ = lines_ending;
        results_ = {};
    }
    /// The next atom arrives at `arrival`; `windows` windows end in its column.
    void take_atom(Cycles arrival, std::uint32_t windows) {
        if (arrival > input_ + earlier_) {
            waited_ += arrival - earlier_ - input_;
            input_ = arrival - earlier_;
        }
        input_ += slot_;
        if (windows != 0) {
            finish_windows(windows);
        }
    }
    /// What has left since the piece began, of the first of the ending lines.
    const PooledAtoms& results() const { return results_; }
    /// After a line of input: one more of the lines that ended with it leaves; with `hold`, before
    /// any result of the next line.
    PooledAtoms flush_line(bool hold);
    /// Nothing more happens before `time`: results found no room.
    void hold_until(Cycles time) { input_ = std::max(input_, time); }

    Cycles slot() const { return slot_; }
    /// End of the last slot in which an atom was taken.
    Cycles input_end() const { return input_; }
    /// End of the last slot in which a result left.
    Cycles output_end() const { return std::max(output_, flushed_); }
    /// Cycles in which no atom was there, since the first one.
    Cycles waited() const { return waited_; }

 private:
    void finish_windows(std::uint32_t windows) {
        input_ = std::max(input_, column_ + slot_ + gap_);
        if (lines_ending_ != 0) {
            input_ = std::max(input_, output_ + slot_ + gap_);
        }
        column_ = input_ + slot_ * (windows - 1);
        gap_ = out_width_ == 1 ? column_gap_ : Cycles(0);
        if (lines_ending_ != 0) {
            results_.first = results_.count == 0 ? input_ : results_.first;
            results_.last = output_ = flushed_ = column_;
            results_.count += windows;
        }
    }

    Cycles slot_;
    Cycles column_gap_;
    std::uint32_t out_width_ = 1;
    Cycles gap_;  // before the next result
    Cycles input_;
    Cycles earlier_;
    Cycles column_;  // last slot in which the column stage produced a result
    Cycles output_;
    Cycles flushed_;  // last slot of a line that left together with the next surface
    Cycles waited_;
    std::uint32_t lines_ending_ = 0;
    PooledAtoms results_;
};

}  // namespace npuscope
