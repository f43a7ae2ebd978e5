// SPDX-License-Identifier: Apache-2.0
// One launch of one unit as a static check sees it: what it reads and writes, and how it is
// connected to others. The surfaces follow from the jobs: a convolution reads input, weights and,
// if they are compressed, their two other surfaces, but nothing that it reuses from the previous
// operation. The surfaces of a described image belong to an operation without a name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/conv/conv_findings.h"
#include "models/layout/surface_use.h"
#include "models/npu/launch_engine.h"
#include "sim/check/bank_rules.h"

namespace npuscope {

/// The compressed weights of a convolution.
struct CompressedUse {
    WeightLayout layout;
    CompressedPlaces places;
    std::optional<WeightStore> store{};  ///< nothing: no operation reads them
};

/// The last write of a register before an operation.
struct RegisterWrite {
    const Place* place = nullptr;  ///< in the program, which outlives this; none: never written
    std::uint32_t value = 0;
};

/// What computes an operation: its job, what its convolution finds in the buffer, and the look-up
/// tables at its launch.
struct LaunchedJob {
    std::variant<RegisterJob, BdmaJob> job;
    BufferStart start;
    LookupTables tables;
};

struct CheckedOperation {
    std::string name;                              ///< `sdp 3`
    std::optional<Pipeline> unit;                  ///< nothing: a command of the BDMA
    InterruptSource done = InterruptSource::Bdma;  ///< the interrupt that signals its end
    unsigned group = 0;
    std::vector<SurfaceUse> uses;
    std::optional<CompressedUse> compressed;
    std::optional<FlyingCube> takes;      ///< on the fly; nothing: from memory
    std::optional<FlyingCube> gives;      ///< on the fly; nothing: to memory
    std::optional<std::size_t> producer;  ///< operation whose result it reads on the fly
    std::optional<std::size_t> consumer;  ///< operation that reads its result on the fly
    /// Reported if the previous convolution may not have finished.
    std::optional<Diagnostic> short_delivery;
    /// Lines of the input after its last window, at most: fewer than the stride of the windows.
    std::uint32_t lines_left = 0;
    std::uint32_t columns_left = 0;  ///< columns of a line, in the same way
    /// For an input of a single line of pixels: how far its (unused) line stride would lead.
    Bytes next_line{0};
    /// Bytes after its last kernel that fill up the last block of weights, at most.
    Bytes weights_left{0};
    Diagnostics findings;  ///< about its registers only
    bool uses_rdma = false;
    bool only_compares = false;  ///< the SDP's algorithm EQL: it writes no result
    bool undecoded = false;      ///< its registers make no job: what it accesses is not known
    bool notified = false;       ///< the program asked to be notified of its end
    bool finished = false;       ///< the program knows of its end
    bool launched = true;        ///< false: a command of the BDMA that waits for its launch
    Place place;                 ///< of the write that launched it
    /// By block: the writes that set its registers, in the order of the block's rows.
    std::vector<std::pair<const RegisterBlock*, std::vector<RegisterWrite>>> writes;
    /// Registers that define how it computes, not where: conversions, padding, windows. Only if
    /// they are kept (ProgramOperations::keep_settings).
    std::vector<std::pair<std::string, std::uint32_t>> settings;
    /// Only if it is kept (ProgramOperations::keep_jobs).
    std::shared_ptr<const LaunchedJob> launched_job;
};

/// The operation of a launch, without its links to other operations.
CheckedOperation checked_operation(const Launch& launch, const NpuConfig& npu);

/// The write that set the register, spelled as in findings; nullptr if there is none.
const RegisterWrite* find_write(const CheckedOperation& operation, std::string_view register_name);

/// `input of conv 0`; for a described image `'input'`.
std::string surface_label(const CheckedOperation& operation, const SurfaceUse& use);
/// `input of conv 0 reads`, but `weights of conv 0 read`, of the verb `read`.
std::string surface_does(const CheckedOperation& operation, const SurfaceUse& use,
                         std::string_view verb);
/// A finding about a surface of an operation, at the register of its address.
Diagnostic surface_finding(const CheckedOperation& operation, const SurfaceUse& use, const char* id,
                           const std::string& message, const std::string& remedy = {});

/// Reports surfaces that must not share bytes but do: `one` is of the newer operation.
void check_pair(const CheckedOperation& newest, const SurfaceUse& one,
                const CheckedOperation& other, const SurfaceUse& two, DiagnosticLog& log);

}  // namespace npuscope
