// SPDX-License-Identifier: Apache-2.0
// Bytes of a loaded file, by their offset.
#pragma once

#include <cstdint>
#include <span>

#include "sim/program/memory_image.h"

namespace npuscope {

/// What the packets of a file put at `offset` and behind, the last one winning; bytes that none
/// holds stay as they are.
void copy_loaded(const MemoryImage& image, std::uint64_t offset, std::span<std::uint8_t> bytes);

}  // namespace npuscope
