// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/values_that_plan.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace npuscope {
namespace {

bool can_plan(const Network& network, const PlanTarget& target) {
    return std::holds_alternative<Plan>(try_plan_network(network, target));
}

/// The fewest banks above those of the target with which the network can be planned.
std::optional<std::uint32_t> banks_that_plan(const Network& network, PlanTarget target) {
    constexpr std::uint32_t most = 32;  // source: register specification, D_BANK
    target.images = false;
    std::uint32_t& banks = target.npu.cbuf.banks;
    for (++banks; banks <= most; ++banks) {
        if (can_plan(network, target)) {
            return banks;
        }
    }
    return std::nullopt;
}

/// The least value above one that does not suffice: larger ones suffice as well.
template <class Suffices>
std::optional<std::uint64_t> least_above(std::uint64_t least, std::uint64_t most,
                                         const Suffices& suffices) {
    for (std::uint64_t value = std::bit_ceil(least + 1); value <= most; value *= 2) {
        if (suffices(value)) {
            while (value - least > 1) {
                const std::uint64_t middle = least + (value - least) / 2;
                (suffices(middle) ? value : least) = middle;
            }
            return value;
        }
        least = value;
    }
    return std::nullopt;
}

/// The least change of the field that a problem names that makes the network plannable; of a
/// memory's size, a power of two.
std::optional<std::uint64_t> value_that_plans(const Network& network, PlanTarget target,
                                              const Diagnostic& problem) {
    constexpr std::uint32_t deepest = 65536;
    target.images = false;
    const auto plans = [&] { return can_plan(network, target); };
    if (problem.field == buffer_depth) {
        std::uint32_t& depth = target.npu.cbuf.bank_depth;
        return least_above(depth, deepest, [&](std::uint64_t value) {
            depth = static_cast<std::uint32_t>(value);
            return plans();
        });
    }
    if (problem.field == region_size) {
        Bytes& size = target.memory.regions.front().size;
        for (size = Bytes(std::bit_ceil(size.value + 1)); size <= Bytes(std::uint64_t{1} << 40U);
             size = size * 2) {
            if (plans()) {
                return size.value;
            }
        }
    }
    return std::nullopt;
}

}  // namespace

void name_values_that_plan(const Network& network, const PlanTarget& target, Diagnostic& problem) {
    const auto value = value_that_plans(network, target, problem);
    if (!value) {
        return;
    }
    const bool of_buffer = problem.field == buffer_depth;
    const auto banks = of_buffer ? banks_that_plan(network, target) : std::nullopt;
    problem.nearest = std::to_string(*value);
    problem.remedy =
        fmt::format("{} legal value: {}={}{}", of_buffer ? "nearest" : "a", problem.field,
                    problem.nearest, banks ? fmt::format(" or npu.cbuf.banks={}", *banks) : "");
}

}  // namespace npuscope
