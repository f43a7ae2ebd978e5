// SPDX-License-Identifier: Apache-2.0
// Tensors made of another tensor's elements.
#pragma once

#include <vector>

#include "sim/model/operand_reading.h"

namespace npuscope::host {

/// Result whose element at every place is the input's element at `source(place)`; a negative index
/// gives `outside`.
template <class Source>
GraphValue pick(const GraphValue& input, const Sizes& sizes, double outside, Source source) {
    GraphValue result = zeros({input.type.element, sizes});
    Odometer odometer(sizes);
    for (double& number : result.numbers) {
        const std::int64_t index = source(odometer.at());
        number = index < 0 ? outside : input.numbers[static_cast<std::size_t>(index)];
        odometer.next();
    }
    return result;
}

inline std::int64_t index_of(const std::vector<std::int64_t>& at,
                             const std::vector<std::size_t>& steps) {
    std::int64_t index = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
        index += at[i] * static_cast<std::int64_t>(steps[i]);
    }
    return index;
}

}  // namespace npuscope::host
