// SPDX-License-Identifier: Apache-2.0
// One surface as one operation reads or writes it: which bytes, and which registers define them.
// Units list the surfaces of their jobs next to their register decoder (`surfaces_of`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/layout/alignment.h"
#include "models/layout/feature_cube.h"

namespace npuscope {

/// Strides for walking a cube; only those that are needed.
struct SurfaceStrides {
    std::optional<Bytes> line;
    std::optional<Bytes> surface;
};

struct SurfaceUse {
    std::string surface;           ///< `input`, `weights`, `result`
    std::string unit;              ///< NVDLA_CDMA
    std::string address_register;  ///< D_DAIN_ADDR_LOW_0
    std::string stride_register;   ///< of a stride that may be at fault; empty: none
    std::string surface_stride_register{};
    /// For a unit that only moves bytes: registers that place its lines, in addition to the
    /// address, and the one that sets the length of its lines or planes.
    std::vector<std::string> placing{};
    std::string piece_register{};
    DataKind kind = DataKind::Feature;
    bool writes = false;
    bool constant = false;  ///< weights and per-channel data: never a result
    Address base;
    std::vector<ByteRun> runs;  ///< by address, merged
    SurfaceStrides strides;
    bool overlaps_itself = false;
    bool repeats = false;  ///< with a stride of 0, as a unit that moves bytes repeats a line
    std::optional<FeatureCube> cube{};  ///< its geometry, where it is a cube
    Bytes padding{};  ///< at its end, part of no element; for a cube it follows from the channels
    std::uint32_t batches = 1;  ///< cubes of `runs` that are one batch stride apart

    /// From its first byte to its last.
    ByteRun extent() const {
        return runs.empty()
                   ? ByteRun{base, {}}
                   : ByteRun{runs.front().address, runs.back().end() - runs.front().address};
    }
};

/// Sorts and merges the runs; notes whether two of them share a byte.
SurfaceUse with_runs(SurfaceUse use, std::vector<ByteRun> runs);

/// A surface without its bytes, named by D_`stem`_BASE_ADDR_LOW and D_`stem`_LINE_STRIDE.
SurfaceUse surface_at(const char* surface, const char* unit, const std::string& stem,
                      DataKind kind = DataKind::Feature);
/// The cube that a unit reads from (`unit`: its read DMA), or writes its result to.
SurfaceUse source_use(const char* unit, const FeatureCube& cube);
SurfaceUse result_use(const char* unit, const FeatureCube& cube);
/// A surface of a unit that only moves bytes: represented by its first and last line.
struct MovedSide {
    const char* unit;
    const char* surface;
    const char* address_register;
};
SurfaceUse ends_use(const MovedSide& side, const ByteRun& first, const ByteRun& last);

SurfaceUse cube_use(SurfaceUse use, const FeatureCube& cube);
SurfaceUse operand_use(SurfaceUse use, const OperandSurface& operand);

/// The first byte that both touch; both lists of runs are sorted.
std::optional<Address> common_byte(const std::vector<ByteRun>& one,
                                   const std::vector<ByteRun>& other);

}  // namespace npuscope
