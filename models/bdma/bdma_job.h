// SPDX-License-Identifier: Apache-2.0
// One copy of the bridge DMA: lines of whole atoms, repeated in two directions, each side with its
// own strides.
//
//     line(i, j) = base + j * surface_stride + i * line_stride      i < lines, j < surfaces
//
// source: NVDLA register specification, NVDLA_BDMA.rdl; doc v1/ias/unit_description.rst
#pragma once

#include <cstdint>

#include "models/bdma/bdma_config.h"

namespace npuscope {

/// Where the lines of one side lie.
struct BdmaSide {
    Address base;
    Bytes line_stride;
    Bytes surface_stride;
    bool in_sram = false;

    Address line(std::uint32_t number, std::uint32_t surface) const {
        return base + line_stride * number + surface_stride * surface;
    }
    bool operator==(const BdmaSide&) const = default;
};

struct BdmaJob {
    BdmaSide source;
    BdmaSide destination;
    Bytes line;
    std::uint32_t lines = 1;
    std::uint32_t surfaces = 1;

    bool operator==(const BdmaJob&) const = default;
};

}  // namespace npuscope
