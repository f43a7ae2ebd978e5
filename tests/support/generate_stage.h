// SPDX-License-Identifier: Apache-2.0
// Random parameters and registers of the SDP's stages, with their operand surfaces.
#pragma once

#include <string>

#include "tests/support/generate_scene.h"
#include "tests/support/oracle_sdp.h"

namespace npuscope {

/// BS or BN for values like these; `name` is that of its operand file.
oracle::StageX choose_stage_x(Scene& scene, const oracle::Cube& values, const std::string& name);
oracle::StageY choose_stage_y(Scene& scene, const oracle::Cube& values, bool table);

/// `stage` is BS or BN.
void set_stage_x(Random& random, UnitRegisters& sdp, const std::string& stage,
                 const oracle::StageX& job);
void set_stage_y(Random& random, UnitRegisters& sdp, const oracle::StageY& job);
/// BRDMA, NRDMA and ERDMA.
void set_operand_readers(Random& random, UnitRegisters& rdma, const oracle::SinglePointJob& job);

/// Whether any stage takes an operand from memory.
bool from_memory(const oracle::SinglePointJob& job);

}  // namespace npuscope
