// SPDX-License-Identifier: Apache-2.0
// What a run is configured with: one NPU, the memory, and the host beside it. Fields are
// `npu.*`, `memory.*` and `host.*`.
#pragma once

#include "models/memory/memory_config.h"
#include "models/npu/npu_config.h"
#include "sim/config/host_config.h"

namespace npuscope {

struct SystemConfig {
    NpuConfig npu;
    MemoryConfig memory;
    HostConfig host{};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("npu", self.npu, "the NPU");
        visit.field("memory", self.memory, "the memory behind it");
        visit.field("host", self.host, "the CPU that runs what the NPU does not take of a model");
    }
};

}  // namespace npuscope
