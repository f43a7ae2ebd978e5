// SPDX-License-Identifier: Apache-2.0
// How long the MAC cells wait for compressed weights between kernel groups. Masks and values come in
// one order of turns: where the buffer has no room for the next piece of one, the other waits as
// well, until the cells release a group. Not considered: what else is read meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/conv/compressed_stream.h"
#include "sim/compile/nvdla/conv_tiling.h"

namespace npuscope {

class CompressedWait {
 public:
    /// `form` of `problem` is compressed; `weight_banks` hold values.
    CompressedWait(const ConvProblem& problem, const ConvOperands& operands,
                   const TilingCosts& costs, std::uint32_t weight_banks);

    /// Of all groups but the first, if a group takes `compute` cycles in the cells.
    std::uint64_t cycles(std::uint64_t compute);

 private:
    /// When the request for a piece can be made; `done`: when groups have been computed.
    std::uint64_t asked_for(const CompressedPiece& piece,
                            const std::vector<std::uint64_t>& done) const;

    std::uint64_t replayed(std::uint64_t compute) const;

    MemoryPace memory_;
    CompressedFetch fetch_;
    CompressedOrder order_;
    std::optional<std::uint64_t> compute_{};  ///< of the last question, and its answer
    std::uint64_t waited_ = 0;
};

}  // namespace npuscope
