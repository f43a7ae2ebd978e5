// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/sram_choice.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "sim/compile/nvdla/memory_map.h"

namespace npuscope {
namespace {

std::uint64_t bytes_of(const PlannedLayer& layer) {
    return round_up(layer.stored.cube.extent().value, MemoryMap::alignment);
}

}  // namespace

std::set<std::string> results_for_sram(const Plan& plan, Bytes room) {
    std::vector<const PlannedLayer*> candidates;
    for (const PlannedLayer& layer : plan.layers) {
        if (layer.readers > 0 && !layer.output) {
            candidates.push_back(&layer);
        }
    }
    std::ranges::stable_sort(candidates, [](const PlannedLayer* one, const PlannedLayer* other) {
        return std::tuple(other->readers, bytes_of(*other)) <
               std::tuple(one->readers, bytes_of(*one));
    });
    std::vector<std::uint64_t> used(plan.operations.size(), 0);
    std::set<std::string> chosen;
    for (const PlannedLayer* layer : candidates) {
        const auto begin = used.begin() + static_cast<std::ptrdiff_t>(layer->first_operation);
        const auto end = used.begin() + static_cast<std::ptrdiff_t>(layer->last_reader) + 1;
        if (*std::max_element(begin, end) + bytes_of(*layer) <= room.value) {
            std::for_each(begin, end, [&](std::uint64_t& bytes) { bytes += bytes_of(*layer); });
            chosen.insert(layer->name);
        }
    }
    return chosen;
}

}  // namespace npuscope
