// SPDX-License-Identifier: Apache-2.0
// Which part of a memory holds what of a planned graph: weights and constants lie at the beginning
// of the first region; feature maps in the first other region that plans may use, else behind them.
#pragma once

#include "models/base/diagnostic.h"
#include "models/layout/byte_run.h"
#include "models/memory/memory_config.h"

namespace npuscope {

struct LayerMemory {
    const MemoryRegionConfig* constants = nullptr;
    const MemoryRegionConfig* maps = nullptr;  ///< may be the same

    /// ConfigError for a memory without regions.
    explicit LayerMemory(const MemoryConfig& memory);
};

/// Bytes of a region that plans may use.
Bytes room_of(const MemoryRegionConfig& region);
/// One region holds all of it.
bool holds(const MemoryConfig& memory, const ByteRun& run);
/// The error that `surface` of `layer` ends behind what the region has room for.
Diagnostic no_room(const MemoryRegionConfig& region, const ByteRun& run, const std::string& surface,
                   const std::string& layer);

}  // namespace npuscope
