// SPDX-License-Identifier: Apache-2.0
// A plan as a loadable that this program and a driver accept: one task with a network of
// operations, a memory per image, one for intermediate results, and one for every input and output,
// with its tensor. Descriptors express what the planned registers hold; each operation is verified:
// the firmware writes the same registers from them. Version 0.12 of the interface.
#pragma once

#include <string>
#include <vector>

#include "models/npu/npu_config.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/loadable/loadable.h"

namespace npuscope {

/// A tensor that a user binds: an input of the plan, or a layer's result.
struct PlannedTensor {
    std::string name;
    std::string layer{};  ///< of an output; of an input empty: the network's first, or its name
};

struct LoadableBinding {
    std::vector<PlannedTensor> inputs;
    std::vector<PlannedTensor> outputs;
};

/// The plan must have its images. ConfigError where it needs what descriptors cannot express, with
/// the operation and the register.
Loadable plan_loadable(const Plan& plan, const LoadableBinding& binding, const NpuConfig& npu);

}  // namespace npuscope
