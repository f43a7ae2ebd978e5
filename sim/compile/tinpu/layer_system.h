// SPDX-License-Identifier: Apache-2.0
// Configuration of an NPU that runs layer patterns (family tinpu): the engine and what it takes.
#pragma once

#include <string>

#include "models/base/describe.h"
#include "models/base/quantity.h"
#include "models/mcif/mcif_timing.h"
#include "models/memory/memory_config.h"
#include "models/tinpu/tinpu_job.h"
#include "sim/compile/tinpu/restrictions.h"

namespace npuscope {

struct LayerNpuConfig {
    std::string family = "tinpu";
    std::string name = "unnamed";
    Hertz clock{150'000'000};
    std::string memory;
    McifConfig mcif;
    TinpuConfig engine;
    Restrictions restrictions;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("family", self.family, "kind of NPU: tinpu runs layer patterns");
        visit.field("name", self.name, "name of the preset, as results show it");
        visit.field("clock", self.clock,
                    "clock of engine and host; reports use it, and a DRAM with a clock of its own");
        visit.field("memory", self.memory,
                    "preset of the memory behind it, where the command line names none");
        visit.field("mcif", self.mcif, "memory interface");
        visit.field("engine", self.engine, "the layer engine");
        visit.field("restrictions", self.restrictions, "what the engine takes");
    }
};

}  // namespace npuscope
