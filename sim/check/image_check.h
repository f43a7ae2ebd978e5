// SPDX-License-Identifier: Apache-2.0
// A memory image held against the formats of one NPU: alignment, sizes, strides, overlap, bounds,
// bytes that are never loaded, and whether mask, group sizes and values of compressed weights
// agree.
#pragma once

#include "models/memory/memory_config.h"
#include "models/npu/npu_config.h"
#include "sim/check/check_report.h"
#include "sim/check/image_description.h"

namespace npuscope {

struct ImageTarget {
    const NpuConfig& npu;
    const MemoryConfig& memory;
};

/// ConfigError where the description makes no sense.
CheckReport check_image_description(const ImageDescription& image, const ImageTarget& target,
                                    const LoadImageFile& load);

}  // namespace npuscope
