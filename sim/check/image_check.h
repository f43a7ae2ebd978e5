// SPDX-License-Identifier: Apache-2.0
// What a described memory image holds: whether it is plausible, what its surfaces contain, and
// which of them differ between two images. Nothing runs.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/check/check_report.h"
#include "sim/check/image_surface.h"
#include "sim/check/memory_rules.h"
#include "sim/convert/surface_spec.h"

namespace npuscope {

/// The machine whose memory an image is for; the formats of NVDLA need its data path.
struct ImageTarget {
    std::string npu;  ///< its name
    const NpuConfig* nvdla = nullptr;
    const MemoryConfig& memory;
};

/// A memory image checked against the formats of one NPU: alignment, sizes, strides, overlap,
/// bounds, bytes that are never loaded, implausible values, and whether mask, group sizes and
/// values of compressed weights agree. ConfigError if the description makes no sense.
CheckReport check_image_description(const ImageDescription& image, const ImageTarget& target,
                                    const LoadImageFile& load);

/// The elements of described surfaces as the files hold them.
class ImageContents {
 public:
    ImageContents(const ImageDescription& image, const ImageTarget& target,
                  const LoadImageFile& load);

    const std::vector<PlacedSurface>& surfaces() const { return surfaces_; }
    /// nullptr if none has this name.
    const PlacedSurface* find(std::string_view name) const;
    /// Type and layout of what elements() returns.
    SurfaceSpec spec(const PlacedSurface& surface) const;
    /// In row-major order, compressed weights with their zeros; bytes that are never loaded are 0.
    std::vector<std::uint8_t> elements(const PlacedSurface& surface) const;

 private:
    std::vector<PlacedSurface> surfaces_;
    std::unordered_map<std::string_view, std::size_t> by_name_;
    std::deque<LoadMemory> files_;
    MemoryRules memory_;
};

/// Implausible values of a surface's elements: for fp16 NaNs, also in the lanes after the last
/// channel, and values outside `values`. `mask` is that of compressed weights, nullptr of others.
Diagnostics value_findings(const PlacedSurface& surface, const PlacedSurface* mask,
                           const MemoryRules& memory);

/// Surfaces of one name whose elements differ, and those that only one of the two images has:
/// `image` is the one checked.
Diagnostics image_differences(const ImageContents& image, const ImageContents& other);
/// The same for one surface and an array's file, or its bytes as laid out in memory.
Diagnostics golden_differences(const ImageContents& image, const PlacedSurface& surface,
                               const std::string& file);

}  // namespace npuscope
