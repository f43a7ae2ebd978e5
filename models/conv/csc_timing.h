// SPDX-License-Identifier: Apache-2.0
// How the sequencer cuts a layer, and when a group enters the MAC cells: kernel group -> stripe ->
// channel block -> kernel row -> kernel column. A stripe is a run of outputs in raster order whose
// partial sums the accumulator holds at once; for each block of weights the stripe passes through
// the MAC cells once. Source: nv_small RTL, measured (774 layers and settings), CSC_sg.v.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/quantity.h"
#include "models/conv/conv_config.h"

namespace npuscope {

/// What the cutting depends on.
struct StripePlan {
    std::uint64_t outputs{0};            ///< output pixels of one kernel: width x height
    std::uint64_t blocks{0};             ///< channel blocks x kernel rows x kernel columns
    std::uint64_t row{0};                ///< outputs of one row, where stripes end at rows; else 0
    std::uint32_t cells{8};              ///< cycles that loading a full group's weights takes
    std::uint32_t shortest{0};           ///< minimum cycles of a block; 0: `cells`
    std::uint32_t full_stripe{16};       ///< outputs of a stripe where nothing cuts it short
    std::uint32_t batches{1};            ///< outputs per position, which no stripe splits
    std::uint32_t most_outputs{~0U};     ///< of a stripe that the accumulator can hold
    std::uint32_t outputs_per_cycle{1};  ///< of one kernel: 4 of a Winograd patch
    std::uint32_t reads{1};  ///< cycles in which the buffer provides the data of an output
    /// Rows processed at once; a stripe's cycles are a multiple of it. source: NV_NVDLA_CSC_sg.v,
    /// dat_stripe_img_length_w
    std::uint32_t rows_together{1};
};

/// Lengths of the stripes of one kernel group, in order; they sum to `outputs`.
std::vector<std::uint32_t> stripe_lengths(const StripePlan& plan);

/// Cycles in which a stripe's outputs pass the MAC cells once, with no loading for a next block.
inline Cycles passing_cycles(const StripePlan& plan, std::uint32_t length) {
    return Cycles(divide_up(length, plan.outputs_per_cycle) * plan.reads);
}

/// Cycles that one block of a stripe takes in the MAC cells: its length, or the loading of the next
/// block's weights where that takes longer.
Cycles block_cycles(const StripePlan& plan, std::uint32_t length);

/// What a kernel group waits for. `data` and `previous` matter for an operation's first group only.
struct GroupInputs {
    Cycles weights;                    ///< last weight entry in the buffer
    Cycles data;                       ///< last data entry
    std::optional<Cycles> previous{};  ///< last atom of the previous operation in the MAC cells
    std::uint32_t load{0};             ///< cycles that loading the group's weights takes
};

/// First atom of a group in the MAC cells, if they are idle.
Cycles group_start(const CscConfig& config, const GroupInputs& inputs);

}  // namespace npuscope
