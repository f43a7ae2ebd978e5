// SPDX-License-Identifier: Apache-2.0
#include "sim/check/byte_states.h"

#include <algorithm>

namespace npuscope {

void ByteStates::split(std::uint64_t at) {
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

void ByteStates::put(const ByteRun& run, const ByteState& state) {
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

void ByteStates::look_at(const ByteRun& run) {
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

void ByteStates::visit(const ByteRun& run, const Visit& visit) const {
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

void ByteStates::visit_all(const Visit& visit) const {
    for (const auto& [begin, piece] : pieces_) {
        visit({Address(begin), Bytes(piece.end - begin)}, &piece.state);
    }
}

}  // namespace npuscope
