// SPDX-License-Identifier: Apache-2.0
// A shape table computed layer by layer in simple loops on plain arrays, from the definition of its
// synthetic values: what any way of cutting, laying out or compressing the layers must leave in
// memory. Shares no arithmetic and no layout with models/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/compile/nvdla/plan.h"
#include "sim/model/network.h"

namespace npuscope::plain {

/// channels x height x width.
struct Values {
    std::uint32_t channels = 0;
    std::uint32_t height = 0;
    std::uint32_t width = 0;
    std::vector<std::int8_t> values;

    std::int8_t& at(std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        return values[(std::size_t{c} * height + y) * width + x];
    }
    std::int8_t at(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
        return values[(std::size_t{c} * height + y) * width + x];
    }
};

using Results = std::map<std::string, Values>;

/// Results by layer, inputs included. A convolution that the plan joins to an add or a pool has
/// none. `given`: inputs that are not synthetic, by the name of their layer, `input` first.
Results run_network(const Network& network, const Plan& plan, const Results& given = {});

}  // namespace npuscope::plain
