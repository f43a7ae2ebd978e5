// SPDX-License-Identifier: Apache-2.0
// The surfaces of a described memory image on one NPU: the driver's registers for them, which bytes
// they occupy, and how their elements are laid out. What a layout leaves open, the NPU defines: its
// memory atom, kernel groups, weight cubes and lanes of operands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/layout/pixel_format.h"
#include "models/layout/surface_use.h"
#include "models/layout/weight_layout.h"
#include "models/npu/npu_config.h"
#include "sim/check/image_description.h"
#include "sim/convert/conversion.h"
#include "sim/program/program.h"

namespace npuscope {

/// The registers that a driver puts a surface into.
struct SurfaceRegisters {
    const char* unit = "";
    const char* address = "";
    const char* line_stride = "";
    const char* surface_stride = "";
    const char* batch_stride = "";
    const char* bytes = "";
};

/// The role of a surface for the check.
enum class ImageKind {
    Feature,
    Pixels,
    Weights,
    PerChannel,
    PerElement,
    Wmb,    ///< mask of compressed weights
    Wgs,    ///< sizes of their groups
    Raw,    ///< bytes
    Other,  ///< elements of another family: of hosts, Kneron, ncnn
};

/// A described surface with what follows from its shape on one NPU.
struct PlacedSurface {
    ImageSurface described;
    ImageKind kind = ImageKind::Raw;
    SurfaceRegisters registers;
    SurfaceUse use;
    LayoutSpec layout;                    ///< of its elements, including the NPU's parameters
    LogicalShape shape;                   ///< as the layout expects it
    const ElementRow* type = nullptr;     ///< none: it has no elements
    std::optional<WeightLayout> weights;  ///< for weights, and for those that wmb and wgs belong to
    const PixelFormat* pixels = nullptr;
    Bytes line_stride;
    Bytes surface_stride;
    Bytes batch_stride;
    Bytes line_stride_1;
    Bytes needed;  ///< bytes that the shape requires; 0: the shape implies no size

    bool is_weights() const { return kind == ImageKind::Weights; }
    /// ConfigError names the surface whose strides or sizes fit no layout.
    Layout bind() const;
    /// As ADDRESS:SHAPE:TYPE:LAYOUT.
    std::string spec() const;
};

/// ConfigError about a surface at its place in the description.
[[noreturn]] void refuse(const ImageSurface& surface, const std::string& what,
                         const std::string& remedy);
/// Refuses addresses outside any memory, and keys that have no effect on the surface's kind.
void check_keys(const PlacedSurface& surface);

/// ConfigError names the surface whose description makes no sense.
std::vector<PlacedSurface> place_surfaces(const ImageDescription& image, const NpuConfig* nvdla);

/// Surfaces by name, for readers of memory. Compressed weights, masks and sizes are bytes.
std::vector<NamedSurface> described_surfaces(const ImageDescription& image, const NpuConfig* nvdla);

}  // namespace npuscope
