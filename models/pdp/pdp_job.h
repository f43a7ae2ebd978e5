// SPDX-License-Identifier: Apache-2.0
// One launch of the PDP: what is pooled, how, from where and to where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "models/layout/datapath.h"
#include "models/layout/feature_cube.h"
#include "models/pdp/pdp_config.h"
#include "models/pdp/pdp_math.h"

namespace npuscope {

struct PdpJob {
    Shape input;                        ///< channels as programmed
    Shape output;                       ///< likewise
    std::optional<FeatureCube> source;  ///< none: the SDP feeds the PDP; whole atoms of channels
    FeatureCube destination;            ///< whole atoms of channels
    bool source_in_sram = false;
    bool destination_in_sram = false;
    PdpPooling pooling;
    bool count_stalls = false;

    bool flying() const { return !source.has_value(); }
    /// Lines of the input up to the end of the last window.
    std::uint32_t lines_pooled() const {
        const std::uint32_t end = (output.height - 1) * pooling.stride_y + pooling.kernel_height;
        return std::min(input.height, end - std::min(end, pooling.pad_top));
    }
    FlyingCube taken() const { return {.shape = input, .precision = pooling.precision}; }
};

/// Columns of output that the line buffer holds; a wider output must be split.
std::uint32_t line_buffer_columns(const PdpPooling& pooling, const PdpConfig& config);

}  // namespace npuscope
