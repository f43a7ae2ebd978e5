// SPDX-License-Identifier: Apache-2.0
// What a DRAM and its controller did. A burst is a hit when its row was open, a miss when its bank
// was closed and a conflict when another row had to be closed first. Bursts that still wait in the
// write buffer have not happened yet.
#pragma once

#include <cstdint>

#include "models/base/describe.h"

namespace npuscope {

struct DramStatistics {
    std::uint64_t read_bursts = 0;
    std::uint64_t write_bursts = 0;
    std::uint64_t row_hits = 0;
    std::uint64_t row_misses = 0;
    std::uint64_t row_conflicts = 0;
    std::uint64_t refreshes = 0;
    std::uint64_t turnarounds = 0;
    std::uint64_t merged_beats = 0;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("read_bursts", self.read_bursts, "bursts read");
        visit.field("write_bursts", self.write_bursts, "bursts written");
        visit.field("row_hits", self.row_hits, "bursts that found their row open");
        visit.field("row_misses", self.row_misses, "bursts that found their bank closed");
        visit.field("row_conflicts", self.row_conflicts, "bursts that found another row open");
        visit.field("refreshes", self.refreshes, "refreshes of a rank");
        visit.field("turnarounds", self.turnarounds, "changes between reading and writing");
        visit.field("merged_beats", self.merged_beats,
                    "beats that needed no burst: the controller held theirs");
    }
};

}  // namespace npuscope
