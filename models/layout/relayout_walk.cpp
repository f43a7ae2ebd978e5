// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "models/layout/relayout_kernels.h"
#include "models/layout/relayout_plan.h"

namespace npuscope {

namespace {

bool is_power_of_two(std::uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

std::optional<Shuffle> match(const LoopNest& nest, const Sides& sides) {
    const auto unit = static_cast<std::int64_t>(nest.unit);
    const std::uint64_t full = piece_bytes / nest.unit;
    const std::size_t none = nest.loops.size();
    Shuffle found{sides.row == &NestLoop::from, none, none, none, 0, {}};
    for (std::size_t i = 0; i < nest.loops.size(); ++i) {
        found.columns = nest.loops[i].*sides.row == unit ? i : found.columns;
        found.lanes = nest.loops[i].*sides.piece == unit ? i : found.lanes;
    }
    if (found.columns == none || found.lanes == none || found.columns == found.lanes) {
        return std::nullopt;
    }
    const NestLoop& columns = nest.loops[found.columns];
    const NestLoop& lanes = nest.loops[found.lanes];
    std::uint64_t length = columns.count;
    if (lanes.count >= full) {
        found.width = static_cast<std::uint32_t>(full);
        found.whole = {std::pair{found.lanes, lanes.count / full * full},
                       std::pair{found.columns, length / full * full}};
        return length >= full ? std::optional(found) : std::nullopt;
    }
    const std::uint64_t together = lanes.count * nest.unit;
    if (!is_power_of_two(lanes.count) || lanes.count == 1 ||
        columns.*sides.piece != static_cast<std::int64_t>(together)) {
        return std::nullopt;
    }
    found.width = static_cast<std::uint32_t>(lanes.count);
    found.whole = {std::pair{found.lanes, lanes.count},
                   std::pair{found.columns, length / full * full}};
    if (length >= full) {
        return found;
    }
    for (std::size_t i = 0; i < nest.loops.size() && length * together == piece_bytes; ++i) {
        const bool follows = nest.loops[i].*sides.row == unit * static_cast<std::int64_t>(length);
        if (follows && i != found.lanes && nest.loops[i].count * length >= full) {
            const std::uint64_t steps = full / length;
            found.continued = i;
            found.whole = {std::pair{found.columns, length},
                           std::pair{i, nest.loops[i].count / steps * steps}};
            return found;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<Shuffle> find_shuffle(const LoopNest& nest) {
    if (nest.unit > 8 || !is_power_of_two(nest.unit)) {
        return std::nullopt;
    }
    const auto weave = match(nest, interleaving);
    const auto unweave = match(nest, deinterleaving);
    if (!weave || !unweave) {
        return weave ? weave : unweave;
    }
    return nest.loops[weave->lanes].count <= nest.loops[unweave->lanes].count ? weave : unweave;
}

namespace {

constexpr std::uint64_t line_pieces = line_bytes / piece_bytes;
// Bytes, measured on machines with first-level caches of 32 KiB and second-level ones of 1 MiB.
constexpr std::uint64_t kept_block = 16384;     // half of a first-level cache
constexpr std::uint64_t longest_fetch = 256;    // of each of many rows at once
constexpr std::uint64_t least_pieces = 8192;    // pieces collected in a stage,
constexpr std::uint64_t most_pieces = 16384;    // of which there are two
constexpr std::uint64_t lone_block = 4096;      // if one step covers whole pieces
constexpr std::uint64_t rows_block = 8192;      // pieces of many rows
constexpr std::uint64_t streamed_rows = 4096;   // the same, collected in a stage and streamed
constexpr std::uint64_t line_run = 1024;        // of rows that are read in whole lines
constexpr std::uint64_t line_region = 131072;   // of the lines that they are written to
constexpr std::uint64_t fetched_ahead = 32768;  // in a second-level cache
constexpr std::uint64_t rows_calls = 4;         // portions in which rows leave a stage
constexpr std::uint64_t followed_rows = 16;     // that a machine prefetches by itself

/// Rows that map to the same sets of a first-level cache evict each other.
bool collides(std::int64_t row) { return size_of(row) % 2048 == 0; }

/// Steps of a block: at most `most`, a multiple of `multiple`.
std::uint64_t block_of(std::uint64_t count, std::uint64_t multiple, std::uint64_t most) {
    return std::min(count, std::max(multiple, most / multiple * multiple));
}

/// `count` steps of `stride` steps of a loop each.
NestLoop times(const NestLoop& loop, std::uint64_t count, std::uint64_t stride) {
    const auto steps = static_cast<std::int64_t>(stride);
    return {count, loop.from * steps, loop.to * steps};
}

bool all_aligned(const std::vector<NestLoop>& loops) {
    return std::ranges::all_of(loops, [](const NestLoop& loop) { return is_aligned(loop.to); });
}

/// Plans the walk of one nest, step by step.
class WalkPlanner {
 public:
    WalkPlanner(const LoopNest& nest, const Shuffle& shuffle, bool stream)
        : nest_(nest),
          shuffle_(shuffle),
          stream_(stream),
          sides_(shuffle.interleaves ? interleaving : deinterleaving),
          goes_on_(shuffle.continued != nest.loops.size()),
          along_(goes_on_ ? shuffle.continued : shuffle.columns),
          start_(goes_on_ ? nest.loops[shuffle.columns].count : 1),
          step_(std::max<std::uint64_t>(piece_bytes / nest.unit / start_, 1)),
          lanes_(nest.loops[shuffle.lanes]),
          row_(nest.loops[along_]),
          spread_(size_of(row_.*sides_.piece)) {}

    ShuffleWalk plan() {
        describe_kernel();
        const auto beside = neighbours();
        many_ = shuffle_.width * (beside ? others_[*beside].count : 1) > followed_rows;
        const bool lines = vector_bytes() >= line_bytes;
        const bool collects = stream_ || collides(lanes_.*sides_.row);
        if (shuffle_.interleaves) {
            if (!lines || !plan_lines()) {
                plan_pieces();
            }
        } else if (lines || !collects || !collect_rows()) {
            plan_rows();
        }
        walk_.outer = std::move(others_);
        if (many_ || !lines) {
            look_ahead();
        }
        return std::move(walk_);
    }

 private:
    void look_ahead() {
        const std::uint64_t call = walk_.bytes / walk_.calls();
        const auto together = static_cast<std::int64_t>(walk_.shape.groups * piece_bytes);
        if (shuffle_.interleaves) {
            walk_.calls_ahead =
                static_cast<unsigned>(std::max<std::uint64_t>(fetched_ahead / call, 1));
        } else {
            walk_.calls_ahead = walk_.shape.piece == together ? 1 : 0;
        }
    }

    void describe_kernel() {
        walk_.interleaves = shuffle_.interleaves;
        walk_.along = along_;
        walk_.shape.unit = static_cast<std::uint32_t>(nest_.unit);
        walk_.shape.lanes = shuffle_.width;
        walk_.shape.row = lanes_.*sides_.row;
        const bool column_pieces = goes_on_ || shuffle_.width * nest_.unit == piece_bytes;
        walk_.shape.piece =
            column_pieces ? row_.*sides_.piece : static_cast<std::int64_t>(piece_bytes);
        for (std::size_t i = 0; i < nest_.loops.size(); ++i) {
            if (i != along_ && i != shuffle_.lanes && !(goes_on_ && i == shuffle_.columns)) {
                others_.push_back(nest_.loops[i]);
            }
        }
        if (lanes_.count > shuffle_.width) {
            others_.push_back(times(lanes_, lanes_.count / shuffle_.width, shuffle_.width));
        }
    }

    /// Blocks of `steps` along the rows, the rest is left; then the slowest loop first.
    void cut(std::uint64_t steps) {
        walk_.shape.columns = steps * start_;
        walk_.covered = row_.count / steps * steps;
        walk_.bytes = walk_.shape.columns * walk_.shape.lanes * walk_.shape.groups * nest_.unit;
        if (steps < row_.count) {
            others_.push_back(times(row_, row_.count / steps, steps));
        }
        std::ranges::sort(others_, [this](const NestLoop& a, const NestLoop& b) {
            return size_of(a.*sides_.piece) > size_of(b.*sides_.piece);
        });
    }

    /// The loop whose steps are neighbouring pieces of the same column.
    std::optional<std::size_t> neighbours() const {
        for (std::size_t i = 0; i < others_.size(); ++i) {
            if (others_[i].*sides_.piece == static_cast<std::int64_t>(piece_bytes)) {
                return i;
            }
        }
        return std::nullopt;
    }

    /// Moves `groups` steps of a loop into the kernel.
    void take_groups(std::size_t loop, std::uint64_t groups) {
        walk_.shape.groups = groups;
        walk_.shape.group_row = others_[loop].*sides_.row;
        others_[loop] = times(others_[loop], others_[loop].count / groups, groups);
        if (others_[loop].count == 1) {
            others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(loop));
        }
    }

    /// Rows to pieces that fill whole lines: four of a column, or two of two columns.
    bool plan_lines() {
        const auto loop = neighbours();
        if (!loop) {
            return false;
        }
        const std::uint64_t count = others_[*loop].count;
        const bool pairs = count == 2 && walk_.shape.piece == 2 * piece_bytes;
        const std::uint64_t groups = pairs ? 2 : line_pieces;
        if (count % groups != 0 || groups * shuffle_.width > most_line_rows) {
            return false;
        }
        take_groups(*loop, groups);
        const std::uint64_t most = std::min(line_run / nest_.unit / start_, line_region / spread_);
        cut(block_of(row_.count, step_, std::max(most, line_bytes / nest_.unit / start_)));
        walk_.stream = stream_ && is_aligned(nest_.to) && all_aligned(others_) &&
                       (pairs || is_aligned(row_.to)) && fills_vectors();
        return true;
    }

    /// Calls of the kernel consist of the widest vectors only.
    bool fills_vectors() const { return walk_.shape.columns * nest_.unit % line_bytes == 0; }

    /// Pieces to rows in place, all lanes of a few columns at a time, so that the source is read
    /// from end to end.
    void plan_rows() {
        if (const auto loop = neighbours()) {
            const std::uint64_t most = kept_block / line_bytes / shuffle_.width;
            take_groups(*loop, largest_divisor(others_[*loop].count, most));
        }
        const std::uint64_t most = (many_ ? rows_block : kept_block) / spread_;
        cut(block_of(row_.count, step_, std::max(most, line_bytes / nest_.unit / start_)));
        walk_.stream = stream_ && vector_bytes() >= line_bytes && fills_vectors() &&
                       is_aligned(walk_.shape.row) && is_aligned(walk_.shape.group_row) &&
                       is_aligned(nest_.to) && all_aligned(others_);
    }

    /// Pieces to rows collected in a stage.
    bool collect_rows() {
        const std::uint64_t block = stream_ ? streamed_rows : rows_block;
        const std::uint64_t groups_of_lanes = lanes_.count / shuffle_.width;
        const std::uint64_t groups =
            largest_divisor(groups_of_lanes, block / line_bytes / shuffle_.width);
        const std::uint64_t rows = groups * shuffle_.width;
        const std::uint64_t steps = block_of(row_.count, step_, block / rows / nest_.unit / start_);
        const std::uint64_t run = steps * start_ * nest_.unit;
        if (run < line_bytes) {
            return false;
        }
        if (groups > 1) {
            take_groups(*neighbours(), groups);
        }
        cut(steps);
        walk_.stage = {rows, run, lanes_.to};
        walk_.stream = stream_ && run % line_bytes == 0 && is_aligned(lanes_.to) &&
                       is_aligned(nest_.to) && all_aligned(others_);
        const std::uint64_t calls = steps % (rows_calls * step_) == 0 ? rows_calls : 1;
        walk_.shape.columns /= calls;
        walk_.inner = {times(row_, calls, steps / calls)};
        return true;
    }

    /// Rows to pieces of any size; streamed where blocks fill whole lines of the target.
    void plan_pieces() {
        // A block's pieces and whatever is between them stay in the first-level cache.
        const std::uint64_t block =
            stream_ ? std::clamp(lanes_.count * longest_fetch, least_pieces, most_pieces)
                    : kept_block;
        const bool shared = std::ranges::any_of(others_, [&](const NestLoop& loop) {
            return size_of(loop.to) < std::max(block, spread_);
        });
        const std::uint64_t room = shared ? block : lone_block;
        const std::uint64_t limit = std::max(room / spread_, line_bytes / nest_.unit / start_);
        const std::uint64_t steps = block_of(row_.count, step_, limit);
        cut(steps);
        if (stream_ && row_.to > 0) {
            collect_pieces(spread_ * steps);
        }
    }

    /// A block of pieces is written at once where its loops fill every byte of its region.
    void collect_pieces(std::uint64_t region) {
        std::uint64_t covered = walk_.bytes;
        std::size_t first_inner = others_.size();
        while (first_inner > 0 && size_of(others_[first_inner - 1].to) < region &&
               others_[first_inner - 1].to > 0) {
            covered *= others_[--first_inner].count;
        }
        const auto inner = others_.begin() + static_cast<std::ptrdiff_t>(first_inner);
        walk_.stream = covered == region && region % line_bytes == 0 && is_aligned(nest_.to) &&
                       all_aligned({others_.begin(), inner});
        if (walk_.stream) {
            walk_.stage = {1, region, static_cast<std::int64_t>(region)};
            walk_.inner.assign(inner, others_.end());
            others_.erase(inner, others_.end());
            walk_.bytes = covered;
        }
    }

    const LoopNest& nest_;
    const Shuffle& shuffle_;
    bool stream_;
    Sides sides_;
    bool goes_on_;         ///< a row continues in another piece after this one
    std::size_t along_;    ///< loop along the rows that is cut into blocks
    std::uint64_t start_;  ///< columns of one step of it
    std::uint64_t step_;   ///< steps that 16 bytes of a row cover
    const NestLoop& lanes_;
    const NestLoop& row_;
    std::uint64_t spread_;  ///< bytes from one step's pieces to the next
    bool many_ = false;     ///< rows: more than a machine prefetches by itself
    ShuffleWalk walk_;
    std::vector<NestLoop> others_;  ///< loops outside the kernel
};

}  // namespace

std::uint64_t ShuffleWalk::calls() const {
    std::uint64_t product = 1;
    for (const NestLoop& loop : inner) {
        product *= loop.count;
    }
    return product;
}

ShuffleWalk plan_shuffle(const LoopNest& nest, const Shuffle& shuffle, bool stream) {
    return WalkPlanner(nest, shuffle, stream).plan();
}

}  // namespace npuscope
