// SPDX-License-Identifier: Apache-2.0
// DRAMs for the tests: small enough to walk through, with timing in which no two rules agree.
#pragma once

#include "models/memory/memory_config.h"

namespace npuscope {

/// Two channels of two ranks, bursts of 64 bytes in four clocks, no refresh, one clock for both.
inline DramConfig sample_dram() {
    DramConfig config;
    config.clock = Hertz(1'000'000'000);
    config.npu_clock = Hertz(1'000'000'000);
    config.organisation = {.channels = 2,
                           .ranks = 2,
                           .bank_groups = 2,
                           .banks = 4,
                           .rows = 16,
                           .columns = 64,
                           .bus_width = Bytes(8),
                           .burst_length = 8,
                           .beats_per_clock = 2};
    config.timing = {.cl = Clocks(11),
                     .cwl = Clocks(9),
                     .data_delay = Clocks(1),
                     .t_rcd = Clocks(13),
                     .t_rp = Clocks(14),
                     .t_ras = Clocks(31),
                     .t_rc = Clocks(46),
                     .t_wr = Clocks(17),
                     .t_rtp = Clocks(8),
                     .t_wtr_s = Clocks(3),
                     .t_wtr_l = Clocks(7),
                     .t_rrd_s = Clocks(5),
                     .t_rrd_l = Clocks(6),
                     .t_ccd_s = Clocks(4),
                     .t_ccd_l = Clocks(6),
                     .t_faw = Clocks(29),
                     .t_rfc = Clocks(100),
                     .t_refi = Clocks(0),
                     .read_to_write = Clocks(2),
                     .rank_switch = Clocks(3)};
    config.mapping = "row rank bank column bank_group channel";
    config.controller_latency = Cycles(0);
    return config;
}

/// The same with commands of several clocks on the bus.
inline DramConfig with_long_commands() {
    DramConfig config = sample_dram();
    config.command_bus = {.activate = Clocks(4),
                          .precharge = Clocks(2),
                          .read = Clocks(3),
                          .write = Clocks(3),
                          .refresh = Clocks(2)};
    return config;
}

}  // namespace npuscope
