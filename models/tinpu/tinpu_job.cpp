// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_job.h"

#include "models/layout/packed_surface.h"
#include "models/tinpu/tinpu_constants.h"

namespace npuscope {

Bytes WeightSurface::bytes() const { return Bytes(packed_bytes(shape.elements(), bits)); }

Bytes TinpuJob::constant_bytes() const {
    return Bytes(constants ? output.shape.channels * constant_row_bytes : 0);
}

std::uint64_t TinpuJob::macs() const {
    const std::uint64_t taps = std::uint64_t{rows} * columns;
    switch (work) {
        case TinpuWork::Convolution:
            return output.shape.elements() * input.shape.channels * taps;
        case TinpuWork::Depthwise:
            return output.shape.elements() * taps;
        case TinpuWork::Transposed:
            return input.shape.elements() * output.shape.channels * taps;
        case TinpuWork::AveragePool:
        case TinpuWork::MaxPool:
            return 0;
    }
    return 0;
}

}  // namespace npuscope
