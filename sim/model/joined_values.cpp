// SPDX-License-Identifier: Apache-2.0
#include "sim/model/joined_values.h"

namespace npuscope {

void add_along_first(GraphValue& all, const GraphValue& more) {
    if (all.type.sizes.empty()) {
        all.type.sizes = {1};
    }
    all.type.sizes[0] += more.type.sizes.empty() ? 1 : more.type.sizes[0];
    all.numbers.insert(all.numbers.end(), more.numbers.begin(), more.numbers.end());
}

GraphValue part_along_first(const GraphValue& all, std::size_t part, std::size_t parts) {
    const auto numbers = static_cast<std::ptrdiff_t>(all.numbers.size() / parts);
    const auto begin = all.numbers.begin() + static_cast<std::ptrdiff_t>(part) * numbers;
    GraphValue value{all.type, {begin, begin + numbers}};
    if (!value.type.sizes.empty()) {
        value.type.sizes[0] /= static_cast<std::int64_t>(parts);
    }
    return value;
}

}  // namespace npuscope
