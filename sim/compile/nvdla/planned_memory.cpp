// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/planned_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"

namespace npuscope {

const MemoryRegionConfig& first_region(const MemoryConfig& memory) {
    if (memory.regions.empty()) {
        throw ConfigError("the memory has no region to plan for", "give it one");
    }
    return memory.regions.front();
}

const MemoryRegionConfig* sram_region(const PlanTarget& target) {
    const auto& regions = target.memory.regions;
    if (!target.npu.mcif.secondary_port || regions.empty()) {
        return nullptr;
    }
    const auto found =
        std::find_if(regions.begin() + 1, regions.end(), [](const MemoryRegionConfig& region) {
            return region.surfaces.value_or(Bytes(0)) > Bytes(0);
        });
    return found == regions.end() ? nullptr : &*found;
}

Bytes sram_room(const MemoryRegionConfig& region) {
    return std::min(region.surfaces.value_or(Bytes(0)), region.size);
}

TilingCosts costs_of(const PlanTarget& target) {
    TilingCosts costs{.npu = target.npu,
                      .beat_interval = target.memory.beat_interval.value,
                      .read_latency = target.memory.read_latency,
                      .forced = target.forced};
    if (const MemoryRegionConfig* sram = sram_region(target)) {
        costs.sram_interval = sram->beat_interval.value_or(target.memory.beat_interval).value;
    }
    return costs;
}

std::optional<SramPlan> sram_of(const PlanTarget& target, const std::set<std::string>& results) {
    const MemoryRegionConfig* region = sram_region(target);
    if (region == nullptr || results.empty()) {
        return std::nullopt;
    }
    return SramPlan{MemoryMap(region->base, Bytes(0)), sram_room(*region), results};
}

void check_memory(const PlanTarget& target, Bytes bytes) {
    const MemoryRegionConfig& region = first_region(target.memory);
    const std::uint32_t bits = target.npu.mcif.address_bits;
    const std::uint64_t end = region.base.value + bytes.value;
    const Bytes limit = std::min(region.size, region.surfaces.value_or(region.size));
    if (bytes > limit || (bits < 64 && end > std::uint64_t{1} << bits)) {
        throw ConfigError(fmt::format("the network needs {} bytes of memory from {} on, more "
                                      "than region '{}' or an address of {} bits gives",
                                      bytes.value, to_hex(region.base), region.name, bits),
                          "enlarge the region, or move its base down");
    }
}

}  // namespace npuscope
