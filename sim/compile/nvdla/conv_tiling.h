// SPDX-License-Identifier: Apache-2.0
// How one convolution is cut so that each piece fits the convolution buffer: rows of output into
// tiles, each with the input rows that it reaches over, the banks between data and weights, and
// whether weights stay from one tile to the next or stream through once a tile. The sequencer
// starts only when a tile's whole cube is in, so the cube must fit its banks; with room for two of
// them the next one comes while one is computed. All ways that can differ in time are listed with
// their predicted cycles. Not considered: tiles of columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/compile/nvdla/conv_problem.h"

namespace npuscope {

struct ConvTile {
    std::uint32_t out_begin = 0;
    std::uint32_t out_rows = 0;
    std::uint32_t in_begin = 0;
    std::uint32_t in_rows = 0;
    std::uint32_t pad_top = 0;

    bool operator==(const ConvTile&) const = default;
};

/// What tells one way of cutting from another.
struct TilingKey {
    ConvForm form;
    std::uint32_t tiles = 1;
    std::uint32_t data_banks = 1;
    bool resident = false;  ///< weights stay in the buffer for all tiles

    auto operator<=>(const TilingKey&) const = default;
};

struct ConvTiling {
    ConvForm form;
    BankSplit banks;
    std::vector<ConvTile> tiles;
    bool resident = false;
    bool overlapped = false;  ///< room for the next tile's data while one is computed
    Cycles estimate;
    std::uint64_t beats = 0;  ///< read for all slices
    std::string bound_by;     ///< what the estimate is made of: `mac`, `sdp`, `memory`, `start`

    TilingKey key() const {
        return {form, static_cast<std::uint32_t>(tiles.size()), banks.data, resident};
    }
};

/// What the estimate of a tiling is made of.
struct TilingCosts {
    NpuConfig npu;
    std::uint64_t beat_interval = 1;
    Cycles read_latency{50};
    std::uint64_t sram_interval = 1;  ///< cycles per beat behind the second port
    std::optional<TilingKey> forced;  ///< taken instead of the best where a layer has it
};

/// Rows of output [0, out_height) in `count` tiles of nearly one size.
std::vector<ConvTile> cut_rows(const ConvProblem& problem, std::uint32_t count);

/// Kernels that one group may have so that its weights fit beside the smallest tile: a whole group,
/// or fewer by powers of two; 0 where not even one fits.
std::uint32_t largest_group(const ConvProblem& problem, const NpuConfig& npu);

/// Every way that fits and may be the best, the least estimate first; of equal ones the one with
/// fewer tiles.
std::vector<ConvTiling> tiling_candidates(const ConvProblem& problem, const TilingCosts& costs);

/// The way that the key names; nothing where it does not fit.
std::optional<ConvTiling> tiling_with(const ConvProblem& problem, const TilingCosts& costs,
                                      const TilingKey& key);

/// The least estimate; of nearly equal ones that with the fewest tiles, then the fewest beats.
/// Or why nothing fits.
std::variant<ConvTiling, Diagnostic> choose_tiling(const ConvProblem& problem,
                                                   const TilingCosts& costs);

/// `3 tiles, banks 2 + 30, weights stay, bound by mac`.
std::string words_of(const ConvTiling& tiling, const ConvProblem& problem);

}  // namespace npuscope
