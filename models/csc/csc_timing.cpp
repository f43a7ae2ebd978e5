// SPDX-License-Identifier: Apache-2.0
#include "models/csc/csc_timing.h"

#include <algorithm>

namespace npuscope {
namespace {

std::uint32_t next_length(const StripePlan& plan, std::uint64_t remaining) {
    const std::uint32_t full = plan.full_stripe;
    if (plan.image) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(remaining, full));
    }
    if (remaining >= 2ULL * full) {
        return full;
    }
    if (remaining <= full) {
        return static_cast<std::uint32_t>(remaining);
    }
    return full / 2;
}

}  // namespace

std::vector<std::uint32_t> stripe_lengths(const StripePlan& plan) {
    std::vector<std::uint32_t> lengths;
    std::uint64_t remaining = plan.outputs;
    while (remaining > 0) {
        lengths.push_back(next_length(plan, remaining));
        remaining -= lengths.back();
    }
    return lengths;
}

Cycles block_cycles(const StripePlan& plan, std::uint32_t length) {
    return Cycles(std::max(length, plan.cells));
}

}  // namespace npuscope
