// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/layer_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"

namespace npuscope {

LayerMemory::LayerMemory(const MemoryConfig& memory) {
    if (memory.regions.empty()) {
        throw ConfigError("the memory has no region", "add one to memory.regions");
    }
    constants = &memory.regions.front();
    const auto other =
        std::find_if(memory.regions.begin() + 1, memory.regions.end(),
                     [](const MemoryRegionConfig& region) { return region.surfaces.has_value(); });
    maps = other == memory.regions.end() ? constants : &*other;
}

Bytes room_of(const MemoryRegionConfig& region) {
    return std::min(region.surfaces.value_or(region.size), region.size);
}

bool holds(const MemoryConfig& memory, const ByteRun& run) {
    return std::ranges::any_of(memory.regions, [&](const MemoryRegionConfig& region) {
        return run.address >= region.base && run.address - region.base <= region.size &&
               run.bytes <= region.size - (run.address - region.base);
    });
}

Diagnostic no_room(const MemoryRegionConfig& region, const ByteRun& run, const std::string& surface,
                   const std::string& layer) {
    return {.id = "memory_room",
            .sentence = fmt::format("{} of {} bytes at {} ends {} bytes behind the {} bytes that "
                                    "region '{}' has for it",
                                    surface, run.bytes.value, to_hex(run.address),
                                    (run.address + run.bytes - region.base - room_of(region)).value,
                                    room_of(region).value, region.name),
            .address = run.address,
            .unit = "plan",
            .surface = surface,
            .operation = layer};
}

}  // namespace npuscope
