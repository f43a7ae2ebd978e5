// SPDX-License-Identifier: Apache-2.0
// Plain PDP and CDP on int8 cubes.
// PDP: maximum, minimum or average; a window's missing columns add the table's value for their
// number to each line's sum, its missing lines the table's value for their number once per column.
// CDP: converter to 9 bits, squares of 3 to 9 neighbours, table, product with the centre,
// converter. Splitting a layer by width changes no value and is not modelled. source: NVDLA
// precision page; nv_small RTL, PDP_CORE_cal1d, cal2d, CDP_DP_*
#pragma once

#include <array>
#include <cstdint>

#include "tests/support/oracle_lut.h"
#include "tests/support/oracle_memory.h"

namespace npuscope::oracle {

enum class PoolMethod : std::uint8_t { Average = 0, Max = 1, Min = 2 };

struct PoolJob {
    PoolMethod method = PoolMethod::Max;
    std::uint32_t kernel_width = 1;
    std::uint32_t kernel_height = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t stride_y = 1;
    std::uint32_t pad_left = 0;
    std::uint32_t pad_top = 0;
    std::uint32_t out_width = 1;
    std::uint32_t out_height = 1;
    std::array<std::int32_t, 8> pad_values{};  ///< [n] for n missing columns or lines
    std::uint32_t recip_width = 0;             ///< 17 bits, about 65536 / kernel
    std::uint32_t recip_height = 0;
};

Cube pool(const PoolJob& job, const Cube& input);

struct NormaliseJob {
    std::uint32_t neighbours = 3;  ///< 3, 5, 7 or 9
    bool square_bypass = false;
    bool product_bypass = false;
    std::int32_t in_offset = 0;  ///< 8 bits
    std::int32_t in_scale = 1;
    std::uint32_t in_shift = 0;
    std::int32_t out_offset = 0;  ///< 25 bits
    std::int32_t out_scale = 1;
    std::uint32_t out_shift = 0;
    Lut lut;
};

/// Lanes from `channels` on count as zero after the input converter.
Cube normalise(const NormaliseJob& job, const Cube& input, std::uint32_t channels);
/// What the output converter sees.
Cube products(const NormaliseJob& job, const Cube& input, std::uint32_t channels);
/// What the table sees.
Cube table_inputs(const NormaliseJob& job, const Cube& input, std::uint32_t channels);

}  // namespace npuscope::oracle
