// SPDX-License-Identifier: Apache-2.0
// Local response normalisation of one cube, int8, bit-exact to the RTL:
//
//     x -> input convertor (9 bits) -+-> squares, summed over 3..9 channels -> tables (16 bits) -+
//                                    +---------------------------------------------------------- x
//                                                        -> output convertor (25 bits in) -> int8
//
// Tensors hold whole atoms of channels. Lanes beyond the last channel and channels beyond the cube
// count as 0 behind the input convertor; pad lanes come out as what that gives. Convertors see the
// low bits of their offsets: 8 at the input, 25 at the output.
// Not modelled: int16 and fp16.
// source: nv_small RTL, NV_NVDLA_CDP_DP_{cvtin,sum,mul,cvtout}.v, HLS_cdp_{icvt,ocvt}.v
#pragma once

#include <cstdint>

#include "models/arith/fixed_point.h"
#include "models/arith/lookup_table.h"
#include "models/data/tensor.h"

namespace npuscope {

struct CdpNormalization {
    std::uint32_t channels = 1;      ///< real ones; the tensor may hold pad lanes behind them
    std::uint32_t local_size = 3;    ///< channels of a sum: 3, 5, 7 or 9
    bool square_sum_bypass = false;  ///< the tables see the converted value itself
    bool multiply_bypass = false;    ///< the output convertor sees the tables' answer itself
    Conversion input;
    Conversion output;
    LookupConfig lut;

    bool operator==(const CdpNormalization&) const = default;
};

/// Per element, pad lanes included.
struct CdpCounters {
    std::uint64_t saturated = 0;  ///< by the output convertor
    LookupCounters lut;

    bool operator==(const CdpCounters&) const = default;
};

struct CdpResult {
    Tensor<std::int8_t> values;
    CdpCounters counters;
};

CdpResult compute_cdp(const CdpNormalization& normalization, const Tensor<std::int8_t>& input,
                      const LookupTables& tables);

/// The input convertor on one value: 9 bits.
std::int16_t cdp_convert_input(std::int8_t value, const Conversion& conversion);

}  // namespace npuscope
