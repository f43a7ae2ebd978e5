// SPDX-License-Identifier: Apache-2.0
// Configuration of a vector NPU: what its presets hold. `describe` is all that YAML, --set, the
// effective configuration in results and `list fields` need.
#pragma once

#include <cstdint>
#include <string>

#include "models/base/quantity.h"
#include "models/mcif/mcif_timing.h"

namespace vector_npu {

struct VectorConfig {
    std::uint32_t lanes = 4;
    npuscope::Cycles start_up{16};
    npuscope::Bytes buffer{64};
    std::uint32_t launch_queue = 1;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("lanes", self.lanes, "elements that the unit computes in one cycle");
        visit.field("start_up", self.start_up, "cycles from the launch of a job to its first read");
        visit.field("buffer", self.buffer,
                    "bytes of each operand that the unit holds; it computes and writes so much at "
                    "a time");
        visit.field("launch_queue", self.launch_queue,
                    "jobs that the host launches before the first of them has ended");
    }
};

struct VectorNpuConfig {
    std::string family = "vector";
    std::string name = "unnamed";
    npuscope::Hertz clock{500'000'000};
    npuscope::McifConfig mcif;
    VectorConfig engine;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("family", self.family, "kind of NPU: vector runs element-wise jobs");
        visit.field("name", self.name, "name of the preset, as results show it");
        visit.field("clock", self.clock, "clock of unit and host");
        visit.field("mcif", self.mcif, "memory interface");
        visit.field("engine", self.engine, "the vector unit");
    }
};

}  // namespace vector_npu
