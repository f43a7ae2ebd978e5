// SPDX-License-Identifier: Apache-2.0
// Whether bytes lie in memory at all.
#pragma once

#include <algorithm>

#include "models/layout/byte_run.h"
#include "models/memory/memory_config.h"

namespace npuscope {

/// One region must hold the whole run.
inline bool holds(const MemoryConfig& memory, const ByteRun& run) {
    return std::ranges::any_of(memory.regions, [&](const MemoryRegionConfig& region) {
        return run.address >= region.base && run.bytes <= region.size &&
               run.address - region.base <= region.size - run.bytes;
    });
}

}  // namespace npuscope
