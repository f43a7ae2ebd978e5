// SPDX-License-Identifier: Apache-2.0
// One simulation from beginning to end: builds machine, memory and host, runs until the host has
// what it waits for, and collects the result. One session at a time per process; a second may
// follow the first.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "models/layout/feature_cube.h"
#include "sim/compile/model_program.h"
#include "sim/config/system_config.h"
#include "sim/program/program.h"
#include "sim/run/result.h"

namespace npuscope {

/// Bytes of memory that are to be read: when the id was raised, or the job of that name has ended;
/// if it is empty, when the run is over.
struct MemoryRequest {
    ByteRun run;
    std::string after{};
    std::size_t segment = 0;  ///< as NamedSurface counts them

    static constexpr std::size_t last_segment = std::numeric_limits<std::size_t>::max();
};

struct RunOptions {
    Cycles max_cycles{100'000'000'000};
    bool values = true;  ///< false: timing only; needs no images, checks nothing
    /// After this many operations, a second thread computes values in parallel with the simulation,
    /// if there is one NPU; the result is the same. For a shorter program its start would take
    /// longer than it saves.
    std::optional<std::size_t> value_thread = 8;
    bool shadow = true;     ///< false: races and uninitialised bytes are not found
    bool check = true;      ///< a program from a file is also checked; false: for our own plans
    bool timeline = false;  ///< keep what every unit did when
    bool map = false;       ///< the result says what was where in memory, and for how long
    /// Parts that repeat earlier ones are simulated, too; values, cycles and counts are the same
    /// without that. Always so with an explicit cycle limit.
    bool repeats = false;
    /// This many NPUs run the program at once, each on its own data, in a memory whose time they
    /// share.
    std::size_t instances = 1;
    std::vector<MemoryRequest> keep{};
};

/// Throws ConfigError for a program that cannot be executed, with its place, and MachineStopped for
/// a deadlock or when `max_cycles` have passed.
/// With several instances the result describes the first one, with the checks and findings of all.
Result run_program(const Program& program, const SystemConfig& system, const RunOptions& options);

struct ModelResult {
    Result result;
    GraphInputs outputs;  ///< as they are to be stored; none in a timing-only simulation
};

/// Several programs at once, each on its own NPU, in a memory whose time they share. They are
/// programs of one machine: without segments. The result is as that of several instances, and
/// RunOptions::instances is ignored. If the programs are parts of one network (`split`), the result
/// describes the slowest NPU, which sets the pace, and those that compute rows of one input also
/// share the memory's bytes.
Result run_together(std::span<const Program> programs, const SystemConfig& system,
                    const RunOptions& options, NetworkSplit split = NetworkSplit::Batch);

/// The same for a model, with its plan's data in the result.
ModelResult run_model(const ModelProgram& model, const SystemConfig& system, RunOptions options);

}  // namespace npuscope
