// SPDX-License-Identifier: Apache-2.0
// One copy of the bridge DMA: lines of whole atoms, repeated in two directions, each side with its
// own strides. Decoded from the registers of NVDLA_BDMA when CFG_OP is written.
//
//     line(i, j) = base + j * surface_stride + i * line_stride      i < lines, j < surfaces
//
// source: NVDLA register specification, NVDLA_BDMA.rdl; doc v1/ias/unit_description.rst
#pragma once

#include <cstdint>

#include "models/base/register_map.h"
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

    /// ConfigError names the register where the NPU lacks the unit.
    static BdmaJob from_registers(const RegisterValues& bdma, const BdmaConfig& config,
                                  Bytes memory_atom);
};

}  // namespace npuscope
