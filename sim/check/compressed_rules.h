// SPDX-License-Identifier: Apache-2.0
// Compressed weights: one mask bit an element in the order of the uncompressed weights, the
// non-zero values one behind the other, and for each kernel group the bytes of its values. The
// three must tell one story.
// source: NVDLA format page; nv_full C model
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim/check/found.h"
#include "sim/check/image_surface.h"

namespace npuscope {

struct CompressedWeights {
    const PlacedSurface& weights;
    const PlacedSurface& mask;
    const PlacedSurface& sizes;
};

/// The loaded bytes of a run; nothing where one is missing.
using ReadImage = std::function<std::optional<std::vector<std::uint8_t>>(const ByteRun& run)>;

void check_compressed(const CompressedWeights& surfaces, const ReadImage& read, FoundList& found);

/// A finding about a surface and one of its registers.
Found image_found(const PlacedSurface& surface, const char* kind, const std::string& message,
                  const char* register_name, const std::string& remedy);

}  // namespace npuscope
