// SPDX-License-Identifier: Apache-2.0
// One launch of the CDP: the cube, where it lies, and how it is normalised. The contents of the
// lookup tables are not part of a job: they stay in the unit from launch to launch.
#pragma once

#include "models/cdp/cdp_config.h"
#include "models/cdp/cdp_math.h"
#include "models/layout/datapath.h"
#include "models/layout/feature_cube.h"

namespace npuscope {

struct CdpJob {
    Shape shape;              ///< channels as programmed
    FeatureCube source;       ///< whole atoms of channels
    FeatureCube destination;  ///< whole atoms of channels
    bool source_in_sram = false;
    bool destination_in_sram = false;
    CdpNormalization normalization;
    bool count_lookups = false;
    bool count_stalls = false;
};

}  // namespace npuscope
