// SPDX-License-Identifier: Apache-2.0
// A model planned for a vector NPU: where its maps are, and the statements that run it. Each map
// has its own place in the first region of the memory; places are not reused.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "sim/compile/partition.h"
#include "vector_target.h"

namespace vector_npu {

/// What a plan is for.
struct VectorSystem {
    const VectorNpuConfig& config;
    const npuscope::MemoryConfig& memory;
    const VectorTarget& target;
};

/// `graph` must outlive the plan. ConfigError for a memory without regions.
std::unique_ptr<npuscope::ModelPlan> plan_vector(const npuscope::Graph& graph,
                                                 const VectorSystem& system,
                                                 npuscope::ValueRanges given);

}  // namespace vector_npu
