// SPDX-License-Identifier: Apache-2.0
#include "models/layout/relayout_stage.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "models/layout/relayout_steps.h"
#include "models/layout/relayout_streams.h"

namespace npuscope {

namespace {

bool is_aligned(const std::uint8_t* at) {
    return reinterpret_cast<std::uintptr_t>(at) % line_bytes == 0;
}

std::vector<NestLoop> all_loops(const ShuffleWalk& walk) {
    std::vector<NestLoop> loops = walk.outer;
    loops.insert(loops.end(), walk.inner.begin(), walk.inner.end());
    return loops;
}

}  // namespace

ShuffleRun::ShuffleRun(const ShuffleWalk& walk, const std::uint8_t* from, std::uint8_t* to)
    : walk_(walk), from_(from), to_(to), shape_(walk.shape), ahead_(all_loops(walk)) {
    for (unsigned i = 0; i < walk.calls_ahead; ++i) {
        ahead_.next();
    }
    stream_ = walk.stream && is_aligned(to);
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

/// Writes a portion of the block that waits in the second stage.
void ShuffleRun::flush(std::uint64_t portion) {
    std::uint8_t* to = waiting_ + static_cast<std::int64_t>(portion) * step_;
    const std::uint8_t* from = stages_[1] + portion * portion_.rows * portion_.run;
    if (stream_) {
        stream_rows(portion_, from, to);
    } else {
        spread_rows(portion_, from, to);
    }
}

/// Makes one block in the first stage, and portion by portion gives away the second.
void ShuffleRun::make_block(const std::uint8_t* from, const std::uint8_t* to) {
    std::uint64_t flushed = 0;
    NestTurns turns(walk_.inner);
    do {
        call(from + turns.from(), stages_[0] + turns.to());
        if (waiting_ != nullptr && flushed < portions_) {
            flush(flushed);
        }
        ++flushed;
        if (!stream_) {
            const bool last = waiting_ == nullptr || flushed >= portions_;
            fetch_rows(portion_, last ? to : waiting_ + static_cast<std::int64_t>(flushed) * step_);
        }
    } while (turns.next());
}

void ShuffleRun::run(MoveProgress& progress) {
    const bool in_place = stages_[0] == nullptr;
    NestTurns turns(in_place ? all_loops(walk_) : walk_.outer);
    const std::uint64_t bytes = in_place ? walk_.bytes / walk_.calls() : walk_.bytes;
    do {
        if (in_place) {
            call(from_ + turns.from(), to_ + turns.to());
        } else {
            make_block(from_ + turns.from(), to_ + turns.to());
            waiting_ = to_ + turns.to();
            std::swap(stages_[0], stages_[1]);
        }
        progress.moved(bytes);
    } while (turns.next());
    if (waiting_ != nullptr) {
        for (std::uint64_t portion = 0; portion < portions_; ++portion) {
            flush(portion);
        }
    }
    if (stream_) {
        end_streams();
    }
}

void run_shuffle_walk(const ShuffleWalk& walk, const std::uint8_t* from, std::uint8_t* to,
                      MoveProgress& progress) {
    ShuffleRun(walk, from, to).run(progress);
}

}  // namespace npuscope
