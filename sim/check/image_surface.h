// SPDX-License-Identifier: Apache-2.0
// A described surface with what follows from its shape on one NPU: the bytes that it takes, what
// its addresses must be multiples of, and the registers that a driver puts them into.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/layout/alignment.h"
#include "models/layout/datapath.h"
#include "models/layout/feature_cube.h"
#include "models/layout/weight_layout.h"
#include "sim/check/image_description.h"

namespace npuscope {

struct SurfaceRegisters {
    const char* unit = "";
    const char* address = "";
    const char* line_stride = "";
    const char* surface_stride = "";
    const char* bytes = "";
};

/// NxCxHxW or KxCxRxS.
using ImageShape = std::array<std::uint32_t, 4>;

struct PlacedSurface {
    ImageSurface described;
    ImageShape shape{1, 1, 1, 1};
    DataKind kind = DataKind::Feature;
    SurfaceRegisters registers;
    std::optional<WeightLayout> weights;  ///< of weights, and of those that wmb and wgs belong to
    Bytes line_stride;
    Bytes surface_stride;
    Bytes needed;               ///< bytes that the shape asks for; 0: the shape says nothing
    std::vector<ByteRun> runs;  ///< by address, joined
    bool overlaps_itself = false;

    bool is_output() const;
    bool is_weights() const {
        return described.layout == ImageLayout::WeightDc ||
               described.layout == ImageLayout::WeightImage;
    }
    bool has_strides() const {
        return described.layout == ImageLayout::Feature ||
               described.layout == ImageLayout::PerElement;
    }
};

/// ConfigError names the surface whose description makes no sense.
std::vector<PlacedSurface> place_surfaces(const ImageDescription& image,
                                          const DatapathConfig& datapath);

}  // namespace npuscope
