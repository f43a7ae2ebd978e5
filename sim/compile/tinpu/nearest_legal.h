// SPDX-License-Identifier: Apache-2.0
// The legal value nearest to one that breaks a rule of a TINPU, as diagnostics recommend it: one
// that changes the layer's results as little as possible.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/compile/tinpu/restrictions.h"
#include "sim/config/element_type.h"

namespace npuscope {

/// The narrowest of `legal`, which is not empty, that contains the wanted range, so that no value is
/// clipped; if none does, the one whose limits are nearest. Of two equal ones, the one whose lower
/// limit is nearer.
NumberRange nearest_range(const std::vector<NumberRange>& legal, const NumberRange& wanted);

/// `7x3`, rows x columns: the kernel as far as the limits allow it.
std::string nearest_kernel(const PatternLimits& limits, std::int64_t rows, std::int64_t columns);

/// Of the listed strides (`2x1`, rows x columns), which are not empty, those with the smallest
/// difference.
std::string nearest_strides(const std::vector<std::string>& listed, std::int64_t rows,
                            std::int64_t columns);

}  // namespace npuscope
