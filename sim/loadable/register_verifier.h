// SPDX-License-Identifier: Apache-2.0
// Verifies that descriptors express what a planned operation's registers hold: the firmware's
// registers for them make the same job. Registers without effect may differ.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/npu/npu_config.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/loadable/firmware_registers.h"

namespace npuscope {

struct VerifiedAgainst {
    const NpuConfig& npu;
    /// The plan's address for an address of the descriptors.
    std::function<Address(std::int16_t index, std::uint64_t offset)> address_of;
    std::vector<std::string> changed{};  ///< registers that express the same in another way
};

/// ConfigError that names the operation and the register.
void verify_registers(const Operation& planned, const std::vector<DlaOperation>& parts,
                      const VerifiedAgainst& against);

}  // namespace npuscope
