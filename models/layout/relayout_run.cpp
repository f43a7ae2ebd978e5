// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "models/layout/relayout_kernels.h"
#include "models/layout/relayout_plan.h"

namespace npuscope {

namespace {

bool begins_line(const std::uint8_t* at) {
    return reinterpret_cast<std::uintptr_t>(at) % line_bytes == 0;
}

std::vector<NestLoop> all_loops(const ShuffleWalk& walk) {
    std::vector<NestLoop> loops = walk.outer;
    loops.insert(loops.end(), walk.inner.begin(), walk.inner.end());
    return loops;
}

/// Carries out a planned transpose. Blocks are collected in a small stage and written from it in
/// whole lines, while the next block is built in a second stage and the source of later calls is
/// prefetched: reading, shuffling and writing overlap.
class ShuffleRun {
 public:
    /// `from` and `to` point at the nest's first unit.
    ShuffleRun(const ShuffleWalk& walk, const std::uint8_t* from, std::uint8_t* to);

    void run(MoveProgress& progress);

 private:
    void call(const std::uint8_t* from, std::uint8_t* to);
    void make_block(const std::uint8_t* from, const std::uint8_t* to);
    void flush(std::uint64_t portion);

    const ShuffleWalk& walk_;
    const std::uint8_t* from_;
    std::uint8_t* to_;
    ShuffleShape shape_;
    NestIterator ahead_;  ///< of the call whose source is prefetched now
    RowShape portion_;    ///< rows that leave a stage at once
    std::uint64_t portions_ = 0;
    std::int64_t step_ = 0;
    bool stream_ = false;
    std::vector<std::uint8_t> buffer_;
    std::array<std::uint8_t*, 2> stages_{};  ///< 64-byte aligned, in buffer_; none: in place
    std::uint8_t* waiting_ = nullptr;        ///< where the block in the second stage belongs
};

ShuffleRun::ShuffleRun(const ShuffleWalk& walk, const std::uint8_t* from, std::uint8_t* to)
    : walk_(walk), from_(from), to_(to), shape_(walk.shape), ahead_(all_loops(walk)) {
    for (unsigned i = 0; i < walk.calls_ahead; ++i) {
        ahead_.next();
    }
    stream_ = walk.stream && begins_line(to);
    shape_.stream = stream_ && walk.stage.run == 0;
    if (walk.stage.run == 0 || (walk.interleaves && !stream_)) {
        return;
    }
    if (!walk.interleaves) {
        shape_.row = static_cast<std::ptrdiff_t>(walk.stage.run);
        shape_.group_row = shape_.row * static_cast<std::ptrdiff_t>(shape_.lanes);
    }
    const StageShape& stage = walk.stage;
    portions_ =
        largest_divisor(stage.rows == 1 ? stage.run / line_bytes : stage.rows, walk.calls());
    portion_ = stage.rows == 1 ? RowShape{1, stage.run / portions_, 0}
                               : RowShape{stage.rows / portions_, stage.run, stage.row};
    step_ = stage.rows == 1 ? static_cast<std::int64_t>(portion_.run)
                            : stage.row * static_cast<std::int64_t>(portion_.rows);
    const std::uint64_t bytes = walk.stage.bytes();
    const std::uint64_t room = (bytes + line_bytes - 1) / line_bytes * line_bytes;
    buffer_.resize(2 * room + line_bytes);
    const auto at = reinterpret_cast<std::uintptr_t>(buffer_.data());
    stages_[0] = buffer_.data() + (line_bytes - at % line_bytes) % line_bytes;
    stages_[1] = stages_[0] + room;
}

void ShuffleRun::call(const std::uint8_t* from, std::uint8_t* to) {
    if (walk_.calls_ahead > 0) {
        shape_.ahead = from_ + ahead_.from() - from;
        ahead_.next();
    }
    if (walk_.interleaves) {
        interleave_rows(shape_, from, to);
    } else {
        deinterleave_rows(shape_, from, to);
    }
}

/// Writes a portion of the block waiting in the second stage.
void ShuffleRun::flush(std::uint64_t portion) {
    std::uint8_t* to = waiting_ + static_cast<std::int64_t>(portion) * step_;
    const std::uint8_t* from = stages_[1] + portion * portion_.rows * portion_.run;
    if (stream_) {
        stream_rows(portion_, from, to);
    } else {
        spread_rows(portion_, from, to);
    }
}

/// Builds one block in the first stage, and writes out the second portion by portion.
void ShuffleRun::make_block(const std::uint8_t* from, const std::uint8_t* to) {
    std::uint64_t flushed = 0;
    NestIterator place(walk_.inner);
    do {
        call(from + place.from(), stages_[0] + place.to());
        if (waiting_ != nullptr && flushed < portions_) {
            flush(flushed);
        }
        ++flushed;
        if (!stream_) {
            const bool last = waiting_ == nullptr || flushed >= portions_;
            fetch_rows(portion_, last ? to : waiting_ + static_cast<std::int64_t>(flushed) * step_);
        }
    } while (place.next());
}

void ShuffleRun::run(MoveProgress& progress) {
    const bool in_place = stages_[0] == nullptr;
    NestIterator place(in_place ? all_loops(walk_) : walk_.outer);
    const std::uint64_t bytes = in_place ? walk_.bytes / walk_.calls() : walk_.bytes;
    do {
        if (in_place) {
            call(from_ + place.from(), to_ + place.to());
        } else {
            make_block(from_ + place.from(), to_ + place.to());
            waiting_ = to_ + place.to();
            std::swap(stages_[0], stages_[1]);
        }
        progress.moved(bytes);
    } while (place.next());
    if (waiting_ != nullptr) {
        for (std::uint64_t portion = 0; portion < portions_; ++portion) {
            flush(portion);
        }
    }
    if (stream_) {
        end_streams();
    }
}

constexpr std::uint64_t longest_run = std::uint64_t{1} << 20;  // bytes between progress reports
constexpr std::uint64_t least_streamed_bytes = 512;            // bytes of a unit
constexpr std::uint64_t tile_side = 32;                        // steps of two loops done together

/// The nest after the first `count` steps of a loop.
LoopNest rest_of(const LoopNest& nest, std::size_t loop, std::uint64_t count) {
    LoopNest rest = nest;
    rest.from += nest.loops[loop].from * static_cast<std::int64_t>(count);
    rest.to += nest.loops[loop].to * static_cast<std::int64_t>(count);
    rest.loops[loop].count -= count;
    return rest;
}

/// Past the caches where whole lines are written.
bool can_stream(const LoopNest& nest, const NestMemory& memory) {
    const auto at = reinterpret_cast<std::uintptr_t>(memory.to + nest.to);
    return memory.stream && at % line_bytes == 0 &&
           std::ranges::all_of(nest.loops,
                               [](const NestLoop& loop) { return is_aligned(loop.to); });
}

void copy_runs(const LoopNest& nest, const NestMemory& memory) {
    const std::uint8_t* from = memory.from + nest.from;
    std::uint8_t* to = memory.to + nest.to;
    const bool stream = can_stream(nest, memory);
    for (std::uint64_t done = 0; done < nest.unit; done += longest_run) {
        const std::uint64_t bytes = std::min(longest_run, nest.unit - done);
        const std::uint64_t lines = stream ? bytes / line_bytes * line_bytes : 0;
        stream_rows({1, lines, 0}, from + done, to + done);
        std::memcpy(to + done + lines, from + done + lines, bytes - lines);
        memory.progress->moved(bytes);
    }
    if (stream) {
        end_streams();
    }
}

/// One loop of units whose size the compiler knows.
template <std::size_t Unit>
void copy_loop(const NestLoop& loop, const std::uint8_t* from, std::uint8_t* to) {
    for (std::uint64_t i = 0; i < loop.count; ++i, from += loop.from, to += loop.to) {
        std::memcpy(to, from, Unit);
    }
}

/// Whether the unit is one of `Sizes`, whose loops are copied directly.
template <std::size_t... Sizes>
bool copy_known(std::uint64_t unit, const NestLoop& loop, const std::uint8_t* from,
                std::uint8_t* to) {
    return ((unit == Sizes && (copy_loop<Sizes>(loop, from, to), true)) || ...);
}

void copy_units(std::uint64_t unit, const NestLoop& loop, const std::uint8_t* from,
                std::uint8_t* to) {
    if (copy_known<1, 2, 4, 8, 16, 32, 64>(unit, loop, from, to)) {
        return;
    }
    for (std::uint64_t i = 0; i < loop.count; ++i, from += loop.from, to += loop.to) {
        std::memcpy(to, from, unit);
    }
}

/// Calls visit(from, to) for every step of the loops, the last loop fastest.
template <class Visit>
void walk(std::vector<NestLoop> loops, const std::uint8_t* from, std::uint8_t* to, Visit visit) {
    NestIterator place(std::move(loops));
    do {
        visit(from + place.from(), to + place.to());
    } while (place.next());
}

/// Cuts a loop into blocks of `side` steps; the remainder is its own nest.
void block_loop(LoopNest& nest, std::size_t loop, std::uint64_t side, const NestMemory& memory) {
    const std::uint64_t count = nest.loops[loop].count;
    if (count <= side) {
        return;
    }
    if (count % side != 0) {
        run_nest(rest_of(nest, loop, count / side * side), memory);
    }
    const auto times = static_cast<std::int64_t>(side);
    nest.loops.push_back(
        {count / side, nest.loops[loop].from * times, nest.loops[loop].to * times});
    nest.loops[loop].count = side;
}

/// Units one by one, in blocks of loops that are small steps for either side.
void run_units(LoopNest nest, const NestMemory& memory) {
    const auto smallest = [&nest](std::int64_t NestLoop::*side, std::size_t other) {
        std::size_t best = nest.loops.size();
        for (std::size_t i = 0; i < nest.loops.size(); ++i) {
            if (i != other && (best == nest.loops.size() ||
                               size_of(nest.loops[i].*side) < size_of(nest.loops[best].*side))) {
                best = i;
            }
        }
        return best;
    };
    std::size_t inner = smallest(&NestLoop::to, nest.loops.size());
    std::size_t next = smallest(&NestLoop::from, inner);
    const std::size_t plain_loops = nest.loops.size();
    if (next < plain_loops && nest.unit < 64) {
        block_loop(nest, inner, std::max<std::uint64_t>(tile_side, 64 / nest.unit), memory);
        block_loop(nest, next, tile_side, memory);
    }
    if (next < plain_loops && nest.loops[inner].count < 8 &&
        nest.loops[next].count > nest.loops[inner].count) {
        std::swap(inner, next);  // the two halves of a line are still written close in time
    }
    const NestLoop fastest = nest.loops[inner];
    std::vector<NestLoop> outer;
    for (std::size_t i = 0; i < nest.loops.size(); ++i) {
        if (i != inner && i != next) {
            outer.push_back(nest.loops[i]);
        }
    }
    std::ranges::sort(
        outer, [](const NestLoop& a, const NestLoop& b) { return size_of(a.to) > size_of(b.to); });
    if (next < plain_loops) {
        outer.push_back(nest.loops[next]);
    }
    walk(std::move(outer), memory.from + nest.from, memory.to + nest.to,
         [&](const std::uint8_t* from, std::uint8_t* to) {
             copy_units(nest.unit, fastest, from, to);
             memory.progress->moved(nest.unit * fastest.count);
         });
}

/// Units of many lines, in the order of the source: so it is prefetched, and streamed lines need no
/// order.
void stream_units(const LoopNest& nest, const NestMemory& memory) {
    std::vector<NestLoop> loops = nest.loops;
    std::ranges::sort(loops, [](const NestLoop& a, const NestLoop& b) {
        return size_of(a.from) > size_of(b.from);
    });
    walk(std::move(loops), memory.from + nest.from, memory.to + nest.to,
         [&](const std::uint8_t* from, std::uint8_t* to) {
             stream_rows({1, nest.unit, 0}, from, to);
             memory.progress->moved(nest.unit);
         });
    end_streams();
}

void run_shuffle(const LoopNest& nest, const Shuffle& shuffle, const NestMemory& memory) {
    for (const auto& [loop, whole] : shuffle.whole) {
        if (whole < nest.loops[loop].count) {
            run_nest(rest_of(nest, loop, whole), memory);
            LoopNest covered = nest;
            covered.loops[loop].count = whole;
            run_nest(covered, memory);
            return;
        }
    }
    const ShuffleWalk plan = plan_shuffle(nest, shuffle, memory.stream);
    if (plan.covered < nest.loops[plan.along].count) {
        run_nest(rest_of(nest, plan.along, plan.covered), memory);
    }
    ShuffleRun(plan, memory.from + nest.from, memory.to + nest.to).run(*memory.progress);
}

}  // namespace

void run_nest(const LoopNest& nest, const NestMemory& memory) {
    if (nest.loops.empty()) {
        copy_runs(nest, memory);
        return;
    }
    if (const auto shuffle = find_shuffle(nest)) {
        run_shuffle(nest, *shuffle, memory);
        return;
    }
    if (nest.unit >= least_streamed_bytes && nest.unit % line_bytes == 0 &&
        can_stream(nest, memory)) {
        stream_units(nest, memory);
        return;
    }
    run_units(nest, memory);
}

}  // namespace npuscope
