// SPDX-License-Identifier: Apache-2.0
// Values of a layer's operands through memory ports, without time.
#pragma once

#include <cstdint>
#include <vector>

#include "models/layout/tensor.h"
#include "models/link/dma_port.h"
#include "models/tinpu/tinpu_job.h"

namespace npuscope {

Tensor<std::int32_t> fetch_map(DmaPort& port, const MapSurface& surface, const Purpose& purpose);
Kernels<std::int8_t> fetch_weights(DmaPort& port, const WeightSurface& surface,
                                   const Purpose& purpose);
std::vector<BnormChannel> fetch_constants(DmaPort& port, const TinpuJob& job,
                                          const Purpose& purpose);

}  // namespace npuscope
