// SPDX-License-Identifier: Apache-2.0
// Findings about one convolution: ends that may meet, contradictions in compressed weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/conv/conv_job.h"
#include "models/layout/weight_layout.h"

namespace npuscope {

// Convolutions whose complete result fits into the accumulator's delivery buffer behind the end of
// the previous one: both ends may then be there at the same time, and if one enters in the cycle in
// which the other leaves, the end marks go wrong (models/link/atom_run.h).

/// Atoms that the convolution hands to the SDP: outputs x kernel groups.
std::uint64_t delivered_atoms(const ConvJob& job);

/// A warning of kind `ends_meet` at NVDLA_CACC.D_DATAOUT_SIZE_0:
/// `the last atom of this convolution, number 10 (D_DATAOUT_SIZE_0 is 0x10004, 1 kernel group),
/// <what>`.
Diagnostic ends_meet(const ConvJob& job, const std::string& what);

// Contradictions between the three surfaces of compressed weights and the registers that describe
// them, as findings that name kernel group, kernel and address.

/// The surfaces as a driver describes them: NVDLA_CDMA.D_WEIGHT_*, D_WMB_*, D_WGS_*.
struct CompressedPlaces {
    Address values;
    Bytes value_bytes;
    Address mask;
    Bytes mask_bytes;
    Address sizes;
};

/// For a job with compressed weights.
CompressedPlaces compressed_places(const CdmaJob& job);

/// Kinds: `weight_bytes_mismatch` and `wmb_bytes_mismatch` (a surface's size differs from what its
/// mask or its kernels require), `wgs_mismatch` (a group's size is not what its bits select),
/// `stored_zero` (a value is 0, but its bit is 1). Surfaces: `weights`, `WMB`, `WGS`. `mask` covers
/// all elements; `faults` are those found when decompressing.
std::vector<Diagnostic> compression_findings(const WeightLayout& layout,
                                             std::span<const std::uint8_t> mask,
                                             std::span<const CompressionFault> faults,
                                             const CompressedPlaces& places);

}  // namespace npuscope
