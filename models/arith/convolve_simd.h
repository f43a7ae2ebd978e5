// SPDX-License-Identifier: Apache-2.0
// How the fast convolution arranges its operands so that vectors load neighbours.
//
// Raster form: the padded input is cut into stride_y * stride_x phases; within a phase every tap is
// a constant offset from the output's position y * pitch + x, so the inner loop runs over positions
// without knowing of rows. Two channels are interleaved: | c0 c1 | c0 c1 | ... of neighbouring
// positions. Column form, for outputs too narrow for that: one contiguous column of C * R * S
// values per output position.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/arith/fp16_mac.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// Kernels that the inner loop processes at a time.
inline constexpr std::size_t kernel_block = 4;
/// Positions after the last that a vector may load: at least the widest vector pair.
inline constexpr std::size_t position_slack = 64;

/// Offsets of the taps in the phases of the padded input; counts are positions.
class RasterPlan {
 public:
    RasterPlan(const KernelShape& kernels, const Convolution& geometry);

    /// Enough positions are outputs, and enough of them to fill vectors.
    bool worthwhile() const;
    std::size_t positions() const { return positions_; }        ///< of the output raster
    std::size_t pitch() const { return pitch_; }                ///< positions from row to row
    std::size_t channel_size() const { return channel_size_; }  ///< positions of one channel pair
    const std::vector<std::size_t>& tap_offsets() const { return tap_offsets_; }

    struct Phase {
        std::uint32_t y;
        std::uint32_t x;
        std::size_t offset;
    };
    const std::vector<Phase>& phases() const { return phases_; }
    std::size_t phase_rows() const { return phase_rows_; }
    const Convolution& geometry() const { return geometry_; }

 private:
    std::size_t offset_of_phase(std::uint32_t y, std::uint32_t x);

    Convolution geometry_;
    std::size_t pitch_;
    std::size_t phase_rows_;
    std::size_t phase_size_;
    std::size_t positions_;
    std::size_t channel_size_;
    std::vector<Phase> phases_;
    std::vector<std::size_t> tap_offsets_;
};

/// [channel pair][position][2], zeros for a missing odd channel. T: std::int8_t or std::int16_t.
template <class T>
std::vector<std::int16_t> arrange_pairs(const RasterPlan& plan, const Tensor<T>& data);

/// One column of widened values per output position, in the kernels' own order c, r, s.
struct Columns {
    std::size_t length;  ///< C * R * S
    std::size_t pitch;   ///< length rounded up to whole vectors; the rest is 0
    std::vector<std::int16_t> values;
};
template <class T>
Columns gather_columns(const Tensor<T>& data, const KernelShape& kernels,
                       const Convolution& geometry);

// The two inner loops of the fast convolution, compiled for several instruction sets; the best one
// for the machine is picked when they are first called (Highway's dynamic dispatch).

/// All outputs from operands in raster form.
void convolve_raster(const RasterPlan& plan, const std::vector<std::int16_t>& pairs,
                     const Kernels<std::int8_t>& kernels, Tensor<std::int32_t>& sums);
void convolve_raster(const RasterPlan& plan, const std::vector<std::int16_t>& pairs,
                     const Kernels<std::int16_t>& kernels, Tensor<std::int32_t>& sums);

/// All outputs from operands in column form.
void convolve_columns(const Columns& columns, const Kernels<std::int8_t>& kernels,
                      Tensor<std::int32_t>& sums);
void convolve_columns(const Columns& columns, const Kernels<std::int16_t>& kernels,
                      Tensor<std::int32_t>& sums);

// The inner loop of the fp16 convolution, compiled for several instruction sets: the products of
// one block and one kernel with fp16_lanes columns at once.

/// A weight that is not zero, ready for the multipliers.
struct Fp16Weight {
    std::uint32_t element = 0;  ///< column element that it is multiplied with
    std::uint32_t slot = 0;     ///< partial sum that it adds to
    std::uint32_t mantissa = 0;
    std::int32_t exponent = 0;
    std::uint32_t sign = 0;  ///< all ones when negative
    /// Booth digits 0, 1, 2, -1, -2 as 0 to 4.
    std::array<std::uint8_t, 8> digits{};
};

/// `slots` partial sums of the products of a block.
void multiply_fp16_block(std::span<const Fp16Weight> weights, const std::uint32_t* columns,
                         std::size_t slots, Fp16LaneSums& sums);

}  // namespace npuscope
