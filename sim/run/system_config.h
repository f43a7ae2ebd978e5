// SPDX-License-Identifier: Apache-2.0
// What a run is configured with: one NPU and the memory behind it. Fields are `npu.*` and
// `memory.*`.
#pragma once

#include "models/memory/memory_config.h"
#include "models/npu/npu_config.h"

namespace npuscope {

struct SystemConfig {
    NpuConfig npu;
    MemoryConfig memory;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("npu", self.npu, "the NPU");
        visit.field("memory", self.memory, "the memory behind it");
    }
};

}  // namespace npuscope
