// SPDX-License-Identifier: Apache-2.0
// What a simulated memory is made of: regions of the 64-bit space, each with its own timing. A read
// command taken in cycle t has its first beat valid from t + 1 + read_latency on, then at most one
// beat every beat_interval cycles, in order. Writes have their own channel; the response follows 1
// + read_latency cycles after the last beat. This is the model that the RTL was measured with. A
// region may have a DRAM instead, whose rows and banks give each beat its time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/base/describe.h"
#include "models/base/quantity.h"
#include "models/memory/dram_config.h"

namespace npuscope {

struct MemoryRegionConfig {
    std::string name = "dram";
    Address base{0x80000000};
    Bytes size{0x1000000000};
    std::optional<Cycles> read_latency;
    std::optional<Cycles> beat_interval;
    std::optional<DramConfig> dram;
    std::optional<Bytes> surfaces;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("name", self.name, "name of the region in messages and programs");
        visit.field("base", self.base, "first byte address");
        visit.field("size", self.size, "bytes of the region");
        visit.field("read_latency", self.read_latency,
                    "cycles from a read command to its first beat; default: memory.read_latency");
        visit.field("beat_interval", self.beat_interval,
                    "cycles per beat of the bus; default: memory.beat_interval");
        visit.field("dram", self.dram,
                    "rows and banks that give each beat its time; default: none, latency alone");
        visit.field("surfaces", self.surfaces,
                    "bytes at its beginning that plans of networks may use; default: all of the "
                    "first region, none of the others. Results go to an other region where the "
                    "NPU has a second memory port");
    }
};

struct MemoryConfig {
    Cycles read_latency{50};
    Cycles beat_interval{1};
    std::vector<MemoryRegionConfig> regions{MemoryRegionConfig{}};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field(
            "read_latency", self.read_latency,
            "cycles from a read command to its first beat, and from a last write beat to its "
            "response");
        visit.field("beat_interval", self.beat_interval,
                    "cycles per beat of the bus; 1 = a beat every cycle");
        visit.field("regions", self.regions, "address ranges that memory answers for");
    }
};

}  // namespace npuscope
