// SPDX-License-Identifier: Apache-2.0
// The weights of a candidate as whole numbers in the order that the hardware's patterns use, with
// zero points taken off; what stands against that becomes a violation.
#pragma once

#include "sim/model/candidate.h"
#include "sim/model/graph.h"

namespace npuscope {

enum class WeightOrder {
    Conv,        ///< [K C/groups R S]
    Transposed,  ///< [C K R S]
    Matrix       ///< [C K]
};

/// The zero point of ConvInteger's and MatMulInteger's weights is subtracted from them; one of the
/// data is a violation.
GraphValue read_weights(const GraphView& view, Candidate& candidate, WeightOrder order);

}  // namespace npuscope
