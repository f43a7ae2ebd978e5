// SPDX-License-Identifier: Apache-2.0
// State of each byte of an address space. Neighbours with the same state form one piece, so that
// gigabytes cost no more than the surfaces in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "models/layout/feature_cube.h"

namespace npuscope {

template <class State>
class BytePieces {
 public:
    BytePieces() = default;
    BytePieces(const BytePieces&) = delete;
    BytePieces& operator=(const BytePieces&) = delete;
    BytePieces(BytePieces&&) noexcept = default;
    BytePieces& operator=(BytePieces&&) noexcept = default;
    ~BytePieces() = default;

    void put(const ByteRun& run, const State& state) {
        if (run.end() <= run.address || extend_last(run, state)) {
            return;  // empty, beyond the end of the address space, or done
        }
        const std::uint64_t begin = run.address.value;
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
                last_ = before;
                return;
            }
        }
        last_ = pieces_.emplace_hint(after, begin, Piece{end, state});
    }
    /// Calls `change(state)` for every piece of the run.
    template <class Change>
    void change(const ByteRun& run, Change change) {
        if (run.end() <= run.address) {
            return;  // empty, or beyond the end of the address space
        }
        split(run.address.value);
        split(run.end().value);
        const auto end = pieces_.lower_bound(run.end().value);
        for (auto piece = pieces_.lower_bound(run.address.value); piece != end; ++piece) {
            change(piece->second.state);
        }
    }
    /// Calls `visit(piece, state)` for every piece of the run, lowest address first; the state is
    /// nullptr where none was set.
    template <class Visit>
    void visit(const ByteRun& run, Visit visit) const {
        std::uint64_t at = run.address.value;
        const std::uint64_t end = run.end().value;
        auto piece = piece_at(at);
        while (at < end) {
            const bool inside = piece != pieces_.end() && piece->first <= at;
            const std::uint64_t next =
                inside ? piece->second.end : (piece == pieces_.end() ? end : piece->first);
            const std::uint64_t stop = std::min(next, end);
            visit(ByteRun{Address(at), Bytes(stop - at)}, inside ? &piece->second.state : nullptr);
            at = stop;
            if (inside) {
                ++piece;
            }
        }
    }
    /// Every piece, lowest address first.
    template <class Visit>
    void visit_all(Visit visit) const {
        for (const auto& [begin, piece] : pieces_) {
            visit(ByteRun{Address(begin), Bytes(piece.end - begin)}, &piece.state);
        }
    }
    /// The first byte of the run that has no state.
    std::optional<Address> first_without(const ByteRun& run) const {
        std::uint64_t at = run.address.value;
        for (auto piece = piece_at(at); at < run.end().value; ++piece) {
            if (piece == pieces_.end() || piece->first > at) {
                return Address(at);
            }
            at = piece->second.end;
        }
        return std::nullopt;
    }

 private:
    struct Piece {
        std::uint64_t end = 0;
        State state;
    };
    using Pieces = std::map<std::uint64_t, Piece>;  // by first byte

    /// The piece that holds `at`, or the first one after it.
    typename Pieces::const_iterator piece_at(std::uint64_t at) const {
        const auto after = pieces_.upper_bound(at);
        const bool inside = after != pieces_.begin() && std::prev(after)->second.end > at;
        return inside ? std::prev(after) : after;
    }
    /// Bytes mostly arrive in order: whether the run continues the last piece or is inside it.
    bool extend_last(const ByteRun& run, const State& state) {
        if (!last_ || !((*last_)->second.state == state)) {
            return false;
        }
        Piece& piece = (*last_)->second;
        if (run.address.value < (*last_)->first || run.address.value > piece.end) {
            return false;
        }
        const auto after = std::next(*last_);
        if (after != pieces_.end() && after->first <= run.end().value) {
            return false;
        }
        piece.end = std::max(piece.end, run.end().value);
        return true;
    }
    /// Makes `at` a piece boundary.
    void split(std::uint64_t at) {
        const auto after = pieces_.upper_bound(at);
        if (after == pieces_.begin()) {
            return;
        }
        const auto piece = std::prev(after);
        if (piece->first < at && at < piece->second.end) {
            pieces_.emplace_hint(after, at, piece->second);
            piece->second.end = at;
        }
    }

    Pieces pieces_;
    std::optional<typename Pieces::iterator> last_;  ///< most recently set
};

}  // namespace npuscope
