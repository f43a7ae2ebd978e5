// SPDX-License-Identifier: Apache-2.0
// Findings about one convolution: ends that may meet, compressed weights that contradict each other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/conv/conv_job.h"
#include "models/layout/weight_layout.h"

namespace npuscope {

// Convolutions whose whole result fits into the accumulator's delivery buffer after the end of the
// one before: both ends may then be there at one time, and where one enters in the cycle in which
// the other leaves, the marks of ends go wrong (models/link/atom_run.h).

/// Atoms that the convolution hands to the SDP: outputs x kernel groups.
std::uint64_t delivered_atoms(const ConvJob& job);

/// A warning of kind `ends_meet` at NVDLA_CACC.D_DATAOUT_SIZE_0:
/// `the last of its 10 atoms (D_DATAOUT_SIZE_0 is 0x10004, 1 kernel group) <what>`.
Diagnostic ends_meet(const ConvJob& job, const std::string& what);

// What the three surfaces of compressed weights and the registers that describe them contradict
// each other in, as findings that name kernel group, kernel and address.

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
