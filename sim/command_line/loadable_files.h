// SPDX-License-Identifier: Apache-2.0
// A loadable with its inputs and outputs in files. Pictures are converted as by NVIDIA's runtime
// test program: for fp16 tensors pixels less --mean, times --scale; for int8 tensors pixels from 0
// to 127, unless --mean or --scale are given; colour as blue, green, red unless --order says
// otherwise. source: NVDLA sw, umd/apps/runtime: DlaImageUtils.cpp, TestUtils.cpp
#pragma once

#include <string>
#include <vector>

#include "sim/check/check_report.h"
#include "sim/command_line/network_files.h"
#include "sim/command_line/surface_queries.h"
#include "sim/loadable/loadable_program.h"
#include "sim/run/session.h"

namespace npuscope {

/// The loadable's program for this NPU, with inputs of zeros if `files` has none. ConfigError if
/// the NPU has no registers.
LoadableProgram read_loadable_program(const std::string& path, const NetworkFiles& files,
                                      const SystemConfig& system);

/// What its user takes from memory: the outputs, as far as the places of their elements are known.
std::vector<ProgramOutput> program_outputs(const LoadableProgram& made);

/// Runs it. Inputs are DIR/<tensor>.npy, a picture of that name, or DIR/<tensor>.bin, the buffer as
/// is; for a loadable with one input also one such file. Every output is written as .npy, if its
/// format has whole bytes, and as .bin. `wishes`: surfaces may also be compared with dumps of
/// NVIDIA's runtime (.dimg).
Result run_loadable_file(const std::string& path, const NetworkFiles& files,
                         const SystemConfig& system, SurfaceWishes wishes, RunOptions options);

}  // namespace npuscope
