// SPDX-License-Identifier: Apache-2.0
// Local response normalisation in fp16: squares and their sums in fp32, tables and products in
// fp17, convertors without effect. Squares are added in pairs from the centre outwards:
// ((c-1) + (c+1)) + c, then + ((c-2) + (c+2)), and so on. An infinity counts as the largest fp17.
// Tables: the distance from the start is fp32, the place in an entry is cut to 16 bits;
// y0 + R(R(y1 - y0) * R(f)), outside y + R(R(x - edge) * slope).
// source: nv_full C model, compared by running
#pragma once

#include "models/cdp/cdp_math.h"

namespace npuscope {

CdpResult normalise_floats(const CdpNormalization& normalization, const Tensor<std::int16_t>& input,
                           const LookupTables& tables);

}  // namespace npuscope
