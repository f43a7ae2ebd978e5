// SPDX-License-Identifier: Apache-2.0
// The configuration of a run: one NPU of some family, the memory, and the host. Fields are `npu.*`,
// which the family describes, `memory.*` and `host.*`.
#pragma once

#include <cstdint>

#include "models/base/describe.h"
#include "models/base/quantity.h"
#include "models/memory/memory_config.h"
#include "sim/config/npu_family.h"

namespace npuscope {

/// Cost of a model's operators on the host, if the NPU does not support them: an estimate without a
/// source, in cycles of the NPU's clock. Which CPU that is, and how well it is programmed, is not
/// part of an NPU.
struct HostConfig {
    std::uint32_t cycles_per_mac = 8;
    std::uint32_t cycles_per_element = 8;
    Cycles operator_overhead{200};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("cycles_per_mac", self.cycles_per_mac,
                    "cycles per multiply-accumulate of a layer that runs on the host");
        visit.field("cycles_per_element", self.cycles_per_element,
                    "cycles per output element of any other operator");
        visit.field("operator_overhead", self.operator_overhead, "cycles to call an operator");
    }
};

struct SystemConfig {
    const NpuFamily* family = nullptr;
    AnyConfig npu{};
    MemoryConfig memory{};
    HostConfig host{};

    std::string npu_name() const { return family == nullptr ? "" : family->npu_name(npu); }
    Hertz clock() const { return family == nullptr ? Hertz(0) : family->clock(npu); }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("npu", self.npu, "the NPU");
        visit.field("memory", self.memory, "the memory");
        visit.field("host", self.host,
                    "the CPU that runs the operators that the NPU does not support");
    }
};

/// The families that a command line knows; they must outlive what is made of them.
using NpuFamilies = std::span<const NpuFamily* const>;

}  // namespace npuscope
