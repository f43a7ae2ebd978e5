// SPDX-License-Identifier: Apache-2.0
#include "models/data/relayout_shuffle.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace npuscope {

namespace {

constexpr std::uint64_t piece_bytes = 16;
constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t kept_block = 16384;   // half of a first-level cache
constexpr std::uint64_t longest_fetch = 512;  // bytes of each of many rows in one go
constexpr std::uint64_t least_streamed = 8192;
constexpr std::uint64_t most_streamed = 32768;
constexpr std::uint64_t lone_block = 4096;   // where one turn covers whole pieces
constexpr std::int64_t fetched_ahead = 512;  // bytes along a row

bool is_power_of_two(std::uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }
std::uint64_t size_of(std::int64_t step) { return static_cast<std::uint64_t>(std::abs(step)); }

/// The nest as interleaving sees it: `row` is the side of rows, `piece` the other.
struct Sides {
    std::int64_t NestLoop::*row;
    std::int64_t NestLoop::*piece;
};
constexpr Sides interleaving{&NestLoop::from, &NestLoop::to};
constexpr Sides deinterleaving{&NestLoop::to, &NestLoop::from};

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
            const std::uint64_t turns = full / length;
            found.continued = i;
            found.whole = {std::pair{found.columns, length},
                           std::pair{i, nest.loops[i].count / turns * turns}};
            return found;
        }
    }
    return std::nullopt;
}

/// Rows that share their places in a first-level cache push each other out.
bool collides(std::int64_t row) { return size_of(row) % 2048 == 0; }

/// Turns of a block: at most `most`, a multiple of `multiple`.
std::uint64_t block_of(std::uint64_t count, std::uint64_t multiple, std::uint64_t most) {
    return std::min(count, std::max(multiple, most / multiple * multiple));
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

ShuffleWalk plan_shuffle(const LoopNest& nest, const Shuffle& shuffle, bool stream) {
    const Sides sides = shuffle.interleaves ? interleaving : deinterleaving;
    const std::uint64_t full = piece_bytes / nest.unit;
    const bool goes_on = shuffle.continued != nest.loops.size();
    const std::size_t along = goes_on ? shuffle.continued : shuffle.columns;
    const std::uint64_t start = goes_on ? nest.loops[shuffle.columns].count : 1;  // columns a turn
    const NestLoop& lanes = nest.loops[shuffle.lanes];
    const NestLoop& row = nest.loops[along];

    ShuffleWalk walk;
    walk.interleaves = shuffle.interleaves;
    walk.shape.unit = static_cast<std::uint32_t>(nest.unit);
    walk.shape.lanes = shuffle.width;
    walk.shape.row = lanes.*sides.row;
    const bool column_pieces = goes_on || shuffle.width == full;
    walk.shape.piece = column_pieces ? row.*sides.piece : static_cast<std::int64_t>(piece_bytes);

    std::vector<NestLoop> others;
    for (std::size_t i = 0; i < nest.loops.size(); ++i) {
        if (i != along && i != shuffle.lanes && !(goes_on && i == shuffle.columns)) {
            others.push_back(nest.loops[i]);
        }
    }
    if (lanes.count > shuffle.width) {
        const auto turns = static_cast<std::int64_t>(shuffle.width);
        others.push_back({lanes.count / shuffle.width, lanes.from * turns, lanes.to * turns});
    }
    // A block's pieces and whatever lies between them stay in the first-level cache.
    const std::uint64_t spread = size_of(row.*sides.piece);
    const std::uint64_t block =
        stream ? std::clamp(lanes.count * longest_fetch, least_streamed, most_streamed)
               : kept_block;
    const bool shared = std::ranges::any_of(others, [&](const NestLoop& loop) {
        return size_of(loop.*sides.piece) < std::max(block, spread);
    });
    const bool gathers = !shuffle.interleaves && (stream || collides(lanes.*sides.row));
    const std::uint64_t room = shared ? block : lone_block;
    const std::uint64_t limit = std::max(room / spread, line_bytes / nest.unit / start);
    const std::uint64_t turns =
        block_of(row.count, std::max<std::uint64_t>(full / start, 1), limit);
    walk.shape.columns = turns * start;
    walk.along = along;
    walk.covered = row.count / turns * turns;
    if (turns < row.count) {
        const auto step = static_cast<std::int64_t>(turns);
        others.push_back({row.count / turns, row.from * step, row.to * step});
    }
    std::ranges::sort(others, [&](const NestLoop& a, const NestLoop& b) {
        return size_of(a.*sides.piece) > size_of(b.*sides.piece);
    });
    walk.bytes = walk.shape.columns * shuffle.width * nest.unit;

    const std::uint64_t region = shuffle.interleaves ? spread * turns : walk.bytes;
    std::uint64_t covered = walk.bytes;
    std::size_t first_inner = others.size();
    while (shuffle.interleaves && first_inner > 0 && size_of(others[first_inner - 1].to) < region) {
        covered *= others[--first_inner].count;
    }
    const std::uint64_t run = shuffle.interleaves ? region : walk.shape.columns * nest.unit;
    const auto aligned = [&](std::int64_t step) { return size_of(step) % line_bytes == 0; };
    const bool streams =
        stream && covered == region && run % line_bytes == 0 && aligned(nest.to) &&
        std::ranges::all_of(others.begin(),
                            others.begin() + static_cast<std::ptrdiff_t>(first_inner),
                            [&](const NestLoop& loop) { return aligned(loop.to); }) &&
        (shuffle.interleaves || aligned(walk.shape.row));
    walk.stream = streams;
    if (streams || (gathers && run >= line_bytes)) {
        walk.stage = region;
        walk.inner.assign(others.begin() + static_cast<std::ptrdiff_t>(first_inner), others.end());
        others.resize(first_inner);
        walk.bytes = covered;
    }
    walk.outer = std::move(others);
    walk.shape.ahead = fetched_ahead;
    return walk;
}

ShuffleStage::ShuffleStage(const ShuffleWalk& walk) : walk_(walk) {
    if (walk.stage > 0) {
        buffer_.resize(walk.stage + line_bytes);
        const auto at = reinterpret_cast<std::uintptr_t>(buffer_.data());
        stage_ = buffer_.data() + (line_bytes - at % line_bytes) % line_bytes;
    }
}

ShuffleStage::~ShuffleStage() {
    if (stage_ != nullptr) {
        end_streams();
    }
}

void ShuffleStage::run(const std::uint8_t* from, std::uint8_t* to) {
    const bool lines = reinterpret_cast<std::uintptr_t>(to) % line_bytes == 0;
    if (stage_ == nullptr || (walk_.interleaves && !lines)) {
        run_in_place(from, to);
    } else if (walk_.interleaves) {
        run_pieces(from, to);
    } else {
        run_rows(from, to, walk_.stream && lines);
    }
}

void ShuffleStage::run_in_place(const std::uint8_t* from, std::uint8_t* to) const {
    std::vector<std::uint64_t> turn(walk_.inner.size(), 0);
    while (true) {
        if (walk_.interleaves) {
            interleave_rows(walk_.shape, from, to);
        } else {
            deinterleave_rows(walk_.shape, from, to);
        }
        std::size_t level = turn.size();
        while (level > 0 && ++turn[level - 1] == walk_.inner[level - 1].count) {
            --level;
            turn[level] = 0;
            const auto back = static_cast<std::int64_t>(walk_.inner[level].count - 1);
            from -= walk_.inner[level].from * back;
            to -= walk_.inner[level].to * back;
        }
        if (level == 0) {
            return;
        }
        from += walk_.inner[level - 1].from;
        to += walk_.inner[level - 1].to;
    }
}

void ShuffleStage::run_pieces(const std::uint8_t* from, std::uint8_t* to) {
    run_in_place(from, stage_);
    stream_bytes(stage_, to, walk_.stage);
}

void ShuffleStage::run_rows(const std::uint8_t* from, std::uint8_t* to, bool stream) {
    ShuffleShape shape = walk_.shape;
    const std::uint64_t run = shape.columns * shape.unit;
    shape.row = static_cast<std::ptrdiff_t>(run);
    deinterleave_rows(shape, from, stage_);
    for (std::uint32_t lane = 0; lane < shape.lanes; ++lane) {
        std::uint8_t* row = to + static_cast<std::ptrdiff_t>(lane) * walk_.shape.row;
        if (stream) {
            stream_bytes(stage_ + lane * run, row, run);
        } else {
            std::memcpy(row, stage_ + lane * run, run);
        }
    }
}

}  // namespace npuscope
