// SPDX-License-Identifier: Apache-2.0
// One launch of one unit as a static check sees it: what it reads and writes, and how it is
// connected to others. The surfaces follow from the jobs: a convolution reads input, weights and,
// where they are compressed, their two other surfaces, but nothing of what it reuses from the
// operation before. The surfaces of a described image belong to an operation without a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/bdma/bdma_job.h"
#include "models/conv/compression_findings.h"
#include "models/glb/interrupt.h"
#include "models/layout/alignment.h"
#include "models/layout/byte_run.h"
#include "models/layout/feature_cube.h"
#include "models/layout/operand_layout.h"
#include "models/npu/launch_engine.h"
#include "models/tinpu/tinpu_job.h"

namespace npuscope {

/// Strides by which a cube is walked; only those that it needs.
struct SurfaceStrides {
    std::optional<Bytes> line;
    std::optional<Bytes> surface;
};

struct SurfaceUse {
    std::string surface;           ///< `input`, `weights`, `result`
    std::string unit;              ///< NVDLA_CDMA
    std::string address_register;  ///< D_DAIN_ADDR_LOW_0
    std::string stride_register;   ///< of a stride that is to blame; empty: there is none
    DataKind kind = DataKind::Feature;
    bool writes = false;
    bool constant = false;  ///< weights and what goes with channels: never a result
    Address base;
    std::vector<ByteRun> runs;  ///< by address, joined
    SurfaceStrides strides;
    bool overlaps_itself = false;
};

/// Sorts and joins the runs; whether two of them share a byte.
SurfaceUse with_runs(SurfaceUse use, std::vector<ByteRun> runs);

SurfaceUse cube_use(SurfaceUse use, const FeatureCube& cube);
SurfaceUse operand_use(SurfaceUse use, const OperandSurface& operand);

/// The compressed weights of a convolution.
struct CompressedUse {
    WeightLayout layout;
    CompressedPlaces places;
};

struct CheckedOperation {
    std::string name;  ///< `sdp 3`
    Pipeline unit = Pipeline::Conv;
    unsigned group = 0;
    std::vector<SurfaceUse> uses;
    std::optional<CompressedUse> compressed;
    std::optional<FlyingCube> takes;      ///< on the fly; nothing: from memory
    std::optional<FlyingCube> gives;      ///< on the fly; nothing: to memory
    std::optional<std::size_t> producer;  ///< operation whose result it takes on the fly
    std::optional<std::size_t> consumer;  ///< operation that takes its result on the fly
    /// Reported where the convolution before may not be over.
    std::optional<Diagnostic> short_delivery;
    bool uses_rdma = false;
    bool undecoded = false;  ///< its registers make no job: what it touches is not known
    bool notified = false;   ///< the program asked to be told of its end
    bool finished = false;   ///< the program knows of its end
    Place place;             ///< of the write that launched it
};

/// The operation of a launch, without its place among the others.
CheckedOperation checked_operation(const Launch& launch, const NpuConfig& npu);

/// First and last line of both sides of a copy.
std::vector<SurfaceUse> surfaces_of(const BdmaJob& job);
std::vector<SurfaceUse> surfaces_of(const TinpuJob& job);

/// `input of conv 0`; of a described image `'input'`.
std::string surface_label(const CheckedOperation& operation, const SurfaceUse& use);
/// A finding about a surface of an operation, at the register of its address.
Diagnostic surface_finding(const CheckedOperation& operation, const SurfaceUse& use, const char* id,
                           const std::string& message, const std::string& remedy = {});

/// The first byte that two surfaces share; their runs are sorted.
std::optional<Address> common_byte(const SurfaceUse& one, const SurfaceUse& other);
/// Reports surfaces that share bytes and must not: `one` is of the newer operation.
void check_pair(const CheckedOperation& newest, const SurfaceUse& one,
                const CheckedOperation& other, const SurfaceUse& two, DiagnosticLog& log);

/// The interrupt that ends an operation of the unit.
InterruptSource interrupt_of(Pipeline unit);

}  // namespace npuscope
