// SPDX-License-Identifier: Apache-2.0
// What each byte of memory holds while a program is followed without running it: its origin,
// and whether it was read since. Neighbours of one state are one piece.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>

#include "models/layout/feature_cube.h"

namespace npuscope {

enum class ByteOrigin { Filled, Loaded, Written };

struct ByteState {
    ByteOrigin origin = ByteOrigin::Filled;
    std::size_t by = 0;      ///< number of the load, or of the surface that was written
    bool looked_at = false;  ///< read by an operation or compared by the program

    bool operator==(const ByteState&) const = default;
};

class ByteStates {
 public:
    /// A piece of what was asked for; nullptr where it is uninitialised.
    using Visit = std::function<void(const ByteRun& piece, const ByteState* state)>;

    void put(const ByteRun& run, const ByteState& state) {
        if (run.end() <= run.address) {
            return;  // empty, or beyond the end of the address space
        }
        std::uint64_t begin = run.address.value;
        std::uint64_t end = run.end().value;
        split(begin);
        split(end);
        auto after = pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
        if (after != pieces_.end() && after->first == end && after->second.state == state) {
            end = after->second.end;
            after = pieces_.erase(after);
        }
        if (after != pieces_.begin()) {
            const auto before = std::prev(after);
            if (before->second.end == begin && before->second.state == state) {
                before->second.end = end;
                return;
            }
        }
        pieces_.emplace_hint(after, begin, Piece{end, state});
    }
    void look_at(const ByteRun& run) {
        if (run.end() <= run.address) {
            return;  // empty, or beyond the end of the address space
        }
        split(run.address.value);
        split(run.end().value);
        const auto last = pieces_.lower_bound(run.end().value);
        for (auto piece = pieces_.lower_bound(run.address.value); piece != last; ++piece) {
            piece->second.state.looked_at = true;
        }
    }
    void visit(const ByteRun& run, const Visit& visit) const {
        std::uint64_t at = run.address.value;
        const std::uint64_t end = run.end().value;
        auto piece = pieces_.upper_bound(at);
        if (piece != pieces_.begin() && std::prev(piece)->second.end > at) {
            --piece;
        }
        while (at < end) {
            const bool inside = piece != pieces_.end() && piece->first <= at;
            const std::uint64_t next =
                inside ? piece->second.end : (piece == pieces_.end() ? end : piece->first);
            const std::uint64_t stop = std::min(next, end);
            visit({Address(at), Bytes(stop - at)}, inside ? &piece->second.state : nullptr);
            at = stop;
            if (inside) {
                ++piece;
            }
        }
    }
    /// Every piece, lowest address first.
    void visit_all(const Visit& visit) const {
        for (const auto& [begin, piece] : pieces_) {
            visit({Address(begin), Bytes(piece.end - begin)}, &piece.state);
        }
    }

 private:
    struct Piece {
        std::uint64_t end = 0;
        ByteState state;
    };

    /// Makes `at` a border of pieces.
    void split(std::uint64_t at) {
        auto after = pieces_.upper_bound(at);
        if (after == pieces_.begin()) {
            return;
        }
        const auto piece = std::prev(after);
        if (piece->first < at && at < piece->second.end) {
            pieces_.emplace_hint(after, at, Piece{piece->second.end, piece->second.state});
            piece->second.end = at;
        }
    }

    std::map<std::uint64_t, Piece> pieces_;
};

}  // namespace npuscope
