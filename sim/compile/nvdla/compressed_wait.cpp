// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/compressed_wait.h"

#include <algorithm>
#include <vector>

namespace npuscope {
namespace {

/// When the buffer has room for a surface's bytes up to `end`; `ends`: of its groups, `done`: when
/// those that are complete before them are computed.
std::uint64_t room_for(std::uint64_t end, std::uint64_t capacity, std::uint64_t entry,
                       const std::vector<std::uint64_t>& ends,
                       const std::vector<std::uint64_t>& done) {
    const std::uint64_t needed = divide_up(end, entry);
    if (needed <= capacity) {
        return 0;
    }
    const auto group = std::ranges::lower_bound(
        ends, needed - capacity, {}, [&](std::uint64_t bytes) { return divide_up(bytes, entry); });
    return done[std::min(static_cast<std::size_t>(group - ends.begin()), done.size() - 1)];
}

}  // namespace

CompressedWait::CompressedWait(const ConvProblem& problem, const ConvOperands& operands,
                               const TilingCosts& costs, std::uint32_t weight_banks)
    : memory_(costs.memory) {
    const CbufConfig& cbuf = costs.npu.cbuf;
    GroupEnds ends = even_group_ends(operands.weights, problem.compressed->values);
    fetch_.weight_ends = std::move(ends.weights);
    fetch_.mask_ends = std::move(ends.mask);
    fetch_.beat = costs.npu.mcif.bus_width;
    fetch_.entry = cbuf.bank_width;
    fetch_.weight_room.capacity = std::uint64_t{weight_banks} * cbuf.bank_depth;
    fetch_.mask_room.capacity = cbuf.bank_depth;
    order_ = compressed_order(fetch_);
}

std::uint64_t CompressedWait::asked_for(const CompressedPiece& piece,
                                        const std::vector<std::uint64_t>& done) const {
    if (piece.store == CompressedPiece::Store::Sizes) {
        return 0;
    }
    const bool mask = piece.store == CompressedPiece::Store::Mask;
    return room_for(piece.end, (mask ? fetch_.mask_room : fetch_.weight_room).capacity,
                    fetch_.entry.value, mask ? fetch_.mask_ends : fetch_.weight_ends, done);
}

std::uint64_t CompressedWait::cycles(std::uint64_t compute) {
    if (compute_ != compute) {
        compute_ = compute;
        waited_ = replayed(compute);
    }
    return waited_;
}

std::uint64_t CompressedWait::replayed(std::uint64_t compute) const {
    std::vector<std::uint64_t> done;  // groups that the cells have computed
    std::uint64_t arrived = 0;
    std::uint64_t asked = 0;
    std::uint64_t beats = 0;
    std::uint64_t first = 0;
    for (const CompressedPiece& piece : order_.pieces) {
        asked = std::max(asked, asked_for(piece, done));
        const std::uint64_t delay = asked == 0 ? 0 : memory_.latency.value;
        arrived = std::max(arrived, asked + delay) + memory_.time_of(piece.beats);
        beats += piece.beats;
        while (done.size() < order_.group_ends.size() && order_.group_ends[done.size()] <= beats) {
            first = done.empty() ? arrived : first;
            done.push_back(std::max(done.empty() ? 0 : done.back(), arrived) + compute);
        }
    }
    return done.back() - first - compute * done.size();
}

}  // namespace npuscope
