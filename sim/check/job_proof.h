// SPDX-License-Identifier: Apache-2.0
// The layers of a program that launches jobs, as plain operators over a byte memory: one loop nest a
// layer, and every element's address by the formula of its format. Nothing of it is shared with the
// unit but the job. A map that the host brings has no numbers in a program file; it gets drawn ones,
// the same for the plain operators and for the machine.
// source: TI NNC for MCUs, User's Guide, Supported Layer Patterns; models/layout/packed_surface.h
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/check/proof.h"
#include "sim/program/program.h"

namespace npuscope {

/// Bytes of maps that the host brings, by their names in the program's comments; H W C.
using HostMaps = std::map<std::string, std::vector<std::uint8_t>>;

/// The program whose host stores every map that a comment names as its own, and that no file fills,
/// right before the first job that reads it. What `maps` lacks is drawn.
Program with_host_maps(Program program, const HostMaps& maps);

/// Whether every job that the program launches is a layer of a TINPU, and there is one.
bool launches_known_jobs(const Program& program);

/// As plain_results(), of programs whose jobs are those of a TINPU.
std::vector<ProvedResult> plain_job_results(const Program& program, bool keep_arrays);

}  // namespace npuscope
