// SPDX-License-Identifier: Apache-2.0
// What the three surfaces of compressed weights and the registers that describe them contradict
// each other in, as findings that name kernel group, kernel and address.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/conv/conv_job.h"
#include "models/layout/weight_codec.h"

namespace npuscope {

/// The surfaces as a driver describes them: NVDLA_CDMA.D_WEIGHT_*, D_WMB_*, D_WGS_*.
struct CompressedPlaces {
    Address values;
    Bytes value_bytes;
    Address mask;
    Bytes mask_bytes;
    Address sizes;
};

/// Of a job with compressed weights.
CompressedPlaces compressed_places(const CdmaJob& job);

/// Kinds: `weight_bytes_mismatch` and `wmb_bytes_mismatch` (a surface has another size than its
/// mask or its kernels ask for), `wgs_mismatch` (a group's size is not what its bits keep),
/// `stored_zero` (a value is 0, but its bit says it is not). Surfaces: `weights`, `WMB`, `WGS`.
/// `mask` covers all elements; `faults` are those of decompressing.
std::vector<Diagnostic> compression_findings(const WeightLayout& layout,
                                             std::span<const std::uint8_t> mask,
                                             std::span<const CompressionFault> faults,
                                             const CompressedPlaces& places);

}  // namespace npuscope
