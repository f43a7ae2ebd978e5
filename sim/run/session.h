// SPDX-License-Identifier: Apache-2.0
// One simulation from beginning to end: builds machine, memory and host, runs until the host has
// what it waits for, and gathers the result. One session at a time in a process; a second may
// follow the first.
#pragma once

#include <vector>

#include "models/layout/feature_cube.h"
#include "sim/compile/model_program.h"
#include "sim/config/system_config.h"
#include "sim/program/program.h"
#include "sim/run/result.h"

namespace npuscope {

struct RunOptions {
    Cycles max_cycles{100'000'000'000};
    bool values = true;           ///< false: time alone; needs no images, checks nothing
    bool timeline = false;        ///< keep what every unit did when
    std::vector<ByteRun> keep{};  ///< memory to be read when the run is over
};

/// Throws ConfigError for a program that cannot be executed, with its place, and MachineStopped for
/// a deadlock or when `max_cycles` have passed.
Result run_program(const Program& program, const SystemConfig& system, const RunOptions& options);

struct ModelResult {
    Result result;
    GraphInputs outputs;  ///< as they are to be stored; none where time alone was simulated
};

/// The same of a model, with what its plan says in the result.
ModelResult run_model(const ModelProgram& model, const SystemConfig& system, RunOptions options);

}  // namespace npuscope
