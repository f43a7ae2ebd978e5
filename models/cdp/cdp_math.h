// SPDX-License-Identifier: Apache-2.0
// Local response normalisation of one cube: int8 bit-exact to nv_small's RTL, int16 and fp16 to
// nv_full's C model:
//
//     x -> input convertor (9 bits) -+-> squares, summed over 3..9 channels -> tables (16 bits) -+
//                                    +---------------------------------------------------------- x
//                                                        -> output convertor (25 bits in) -> int8
//
// int16 has 17 bits after the input convertor and 33 before the output convertor. fp16:
// normalise_floats.
// Tensors hold whole atoms of channels. Lanes beyond the last channel and channels beyond the cube
// count as 0 after the input convertor; pad lanes hold what results from that. Convertors use the
// low bits of their offsets: 8 at the input, 25 at the output (int16: 16 and 32).
// source: nv_small RTL, NV_NVDLA_CDP_DP_{cvtin,sum,mul,cvtout}.v, HLS_cdp_{icvt,ocvt}.v
#pragma once

#include <cstdint>

#include "models/arith/fixed_point.h"
#include "models/arith/lookup_table.h"
#include "models/layout/precision.h"
#include "models/layout/tensor.h"

namespace npuscope {

struct CdpNormalization {
    Precision precision = Precision::Int8;
    bool coarse_saturation = false;  ///< as DatapathConfig::coarse_saturation_count
    bool nan_to_zero = false;        ///< fp16: for elements
    std::uint32_t channels = 1;      ///< real ones; the tensor may hold pad lanes after them
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
    /// fp16. D_NAN_INPUT_NUM and D_INF_INPUT_NUM stay 0, as in nv_full's C model.
    std::uint64_t nan_outputs = 0;

    bool operator==(const CdpCounters&) const = default;
};

struct CdpResult {
    ElementTensor values;
    CdpCounters counters;
};

/// Two bytes: int16, or fp16 where the normalisation says so.
CdpResult compute_cdp(const CdpNormalization& normalization, const ElementTensor& input,
                      const LookupTables& tables);

/// The input convertor on one value: 9 bits.
std::int16_t cdp_convert_input(std::int8_t value, const Conversion& conversion);

// Local response normalisation in fp16: squares and their sums in fp32, tables and products in
// fp17, convertors without effect. Squares are added in pairs from the centre outwards: ((c-1) +
// (c+1)) + c, then + ((c-2) + (c+2)), and so on. An infinity counts as the largest fp17. Tables:
// the distance from the start is fp32, the position within an entry is cut to 16 bits; y0 + R(R(y1
// - y0) * R(f)), outside y + R(R(x - edge) * slope).
// source: nv_full C model, compared by running

CdpResult normalise_floats(const CdpNormalization& normalization, const Tensor<std::int16_t>& input,
                           const LookupTables& tables);

}  // namespace npuscope
