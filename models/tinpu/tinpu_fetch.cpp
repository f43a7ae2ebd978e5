// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_fetch.h"

#include "models/layout/packed_surface.h"
#include "models/tinpu/tinpu_constants.h"

namespace npuscope {
namespace {

std::vector<std::uint8_t> fetch_bytes(DmaPort& port, const ByteRun& run, const Purpose& purpose) {
    std::vector<std::uint8_t> bytes(run.bytes.value);
    port.fetch(run.address, bytes, purpose);
    return bytes;
}

}  // namespace

Tensor<std::int32_t> fetch_map(DmaPort& port, const MapSurface& surface, const Purpose& purpose) {
    return load_map(fetch_bytes(port, {surface.base, surface.bytes()}, purpose), surface.shape,
                    surface.is_signed);
}

Kernels<std::int8_t> fetch_weights(DmaPort& port, const WeightSurface& surface,
                                   const Purpose& purpose) {
    return load_weights(fetch_bytes(port, {surface.base, surface.bytes()}, purpose), surface.shape,
                        surface.bits);
}

std::vector<BnormChannel> fetch_constants(DmaPort& port, const TinpuJob& job,
                                          const Purpose& purpose) {
    return load_constants(fetch_bytes(port, {*job.constants, job.constant_bytes()}, purpose));
}

}  // namespace npuscope
