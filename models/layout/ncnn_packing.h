// SPDX-License-Identifier: Apache-2.0
// How ncnn's convert_packing chooses: an axis that the wanted elempack does not divide leaves the
// blob as it was, unless padding is asked for. source: ncnn's packing layer, run on 168 cases
#pragma once

#include <cstdint>

#include "models/layout/layout.h"

namespace npuscope {

/// The axis whose neighbours share a packed element: channels of 3-D and 4-D blobs, rows of 2-D,
/// columns of 1-D. The shape's axes say which it is.
char ncnn_packed_axis(const LogicalShape& shape);

struct NcnnPacking {
    std::uint64_t present = 1;  ///< elempack of the source
    std::uint64_t wanted = 1;
    bool padding = false;
};

/// The elempack of the result: `wanted`, or `present` where it does not divide the axis.
std::uint64_t ncnn_elempack(const LogicalShape& shape, const NcnnPacking& packing);

}  // namespace npuscope
