// SPDX-License-Identifier: Apache-2.0
#include "models/conv/csc_timing.h"

#include <algorithm>
#include <bit>

namespace npuscope {
namespace {

/// The same plan in positions, each with one output per batch. For twice as many batches a stripe
/// has half as many positions, but at least one, and exactly one from sixteen batches on.
/// source: NV_NVDLA_CSC_sg.v of nvdlav1, lower_limit_w and upper_limit_w
StripePlan in_places(const StripePlan& plan) {
    StripePlan places = plan;
    places.outputs = plan.outputs / plan.batches;
    places.cells = std::max(plan.cells >> (std::bit_width(plan.batches) - 1), 1U);
    const std::uint32_t full = std::max(plan.full_stripe / plan.cells, 1U) * places.cells;
    const std::uint32_t held = std::max(plan.most_outputs / plan.batches, 1U);
    places.full_stripe = plan.batches >= plan.cells ? 1 : std::min(full, held);
    return places;
}

std::uint32_t next_length(const StripePlan& plan, std::uint64_t remaining) {
    const std::uint32_t full = plan.full_stripe;
    if (remaining >= 2ULL * full || (plan.row > 0 && remaining >= full)) {
        return full;
    }
    if (remaining <= full) {
        return static_cast<std::uint32_t>(remaining);
    }
    return std::min(plan.cells * plan.outputs_per_cycle, full);
}

}  // namespace

std::vector<std::uint32_t> stripe_lengths(const StripePlan& plan) {
    std::vector<std::uint32_t> lengths;
    if (plan.batches > 1) {
        StripePlan places = in_places(plan);
        places.batches = 1;
        lengths = stripe_lengths(places);
        std::ranges::for_each(lengths, [&](std::uint32_t& length) { length *= plan.batches; });
        return lengths;
    }
    const std::uint64_t part = plan.row > 0 ? plan.row : plan.outputs;
    for (std::uint64_t done = 0; done < plan.outputs; done += part) {
        for (std::uint64_t remaining = part; remaining > 0; remaining -= lengths.back()) {
            lengths.push_back(next_length(plan, remaining));
        }
    }
    return lengths;
}

Cycles block_cycles(const StripePlan& plan, std::uint32_t length) {
    const auto passes = static_cast<std::uint32_t>(
        round_up(divide_up(length, plan.outputs_per_cycle), plan.rows_together) * plan.reads);
    return Cycles(std::max(passes, plan.shortest == 0 ? plan.cells : plan.shortest));
}

Cycles group_start(const CscConfig& config, const GroupInputs& inputs) {
    const Cycles load(std::max(inputs.load, config.shortest_load));
    Cycles start = inputs.weights + config.weight_to_mac + load;
    if (inputs.data > Cycles(0)) {
        start = std::max(start, inputs.data + config.data_to_mac + load);
    }
    if (inputs.previous) {
        start = std::max(start, *inputs.previous + config.next_operation + load);
    }
    return start;
}

}  // namespace npuscope
