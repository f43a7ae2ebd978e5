// SPDX-License-Identifier: Apache-2.0
// A DRAM behind a memory region: how it is built, its timing in clocks of the command bus, and what
// its controller does. Names are those of the JEDEC standards. Defaults are DDR4-2400R in a channel
// of 64 bits (8 Gb x8 devices); presets of other parts stand beside configs/memory/ddr4_2400.yaml.
// Not modelled: power-down, self-refresh, per-bank refresh, calibration, ECC.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/describe.h"
#include "models/base/quantity.h"

namespace npuscope {

/// Clocks of the memory's command bus, not cycles of the NPU.
using Clocks = Quantity<struct ClocksKind>;

/// What becomes of a row after a burst: it stays open for the next one, or is closed at once.
enum class PagePolicy { Open, Closed };

template <>
struct EnumNames<PagePolicy> {
    static constexpr std::array names{std::pair{PagePolicy::Open, std::string_view("open")},
                                      std::pair{PagePolicy::Closed, std::string_view("closed")}};
};

struct DramOrganisation {
    std::uint32_t channels = 1;
    std::uint32_t ranks = 1;
    std::uint32_t bank_groups = 4;
    std::uint32_t banks = 4;
    std::uint32_t rows = 65536;
    std::uint32_t columns = 1024;
    Bytes bus_width{8};
    std::uint32_t burst_length = 8;
    std::uint32_t beats_per_clock = 2;

    Bytes burst_bytes() const { return bus_width * burst_length; }
    Clocks burst_clocks() const { return Clocks(divide_up(burst_length, beats_per_clock)); }
    Bytes row_bytes() const { return bus_width * columns; }
    Bytes capacity() const { return row_bytes() * rows * banks * bank_groups * ranks * channels; }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("channels", self.channels, "channels, each with a bus of its own");
        visit.field("ranks", self.ranks, "ranks that share a channel's bus");
        visit.field("bank_groups", self.bank_groups, "bank groups of a rank; 1 = none");
        visit.field("banks", self.banks, "banks of a bank group");
        visit.field("rows", self.rows, "rows of a bank");
        visit.field("columns", self.columns, "columns of a row, each as wide as the bus");
        visit.field("bus_width", self.bus_width, "bytes of a channel's data bus");
        visit.field("burst_length", self.burst_length, "columns that one command moves");
        visit.field("beats_per_clock", self.beats_per_clock,
                    "columns on the bus per clock: 2, or 8 for LPDDR5 at 4:1");
    }
};

struct DramTimings {
    Clocks cl{16};
    Clocks cwl{12};
    Clocks data_delay{0};
    Clocks t_rcd{16};
    Clocks t_rp{16};
    Clocks t_ras{39};
    Clocks t_rc{55};
    Clocks t_wr{18};
    Clocks t_rtp{9};
    Clocks t_wtr_s{3};
    Clocks t_wtr_l{9};
    Clocks t_rrd_s{4};
    Clocks t_rrd_l{6};
    Clocks t_ccd_s{4};
    Clocks t_ccd_l{6};
    Clocks t_faw{26};
    Clocks t_rfc{420};
    Clocks t_refi{9360};
    Clocks read_to_write{2};
    Clocks rank_switch{2};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("cl", self.cl, "read latency: READ to first data");
        visit.field("cwl", self.cwl, "write latency: WRITE to first data");
        visit.field("data_delay", self.data_delay,
                    "clocks that read data comes later still (tDQSCK, tWCK2DQO)");
        visit.field("t_rcd", self.t_rcd, "ACTIVATE to READ or WRITE");
        visit.field("t_rp", self.t_rp, "PRECHARGE to ACTIVATE");
        visit.field("t_ras", self.t_ras, "ACTIVATE to PRECHARGE");
        visit.field("t_rc", self.t_rc, "ACTIVATE to ACTIVATE of one bank");
        visit.field("t_wr", self.t_wr, "end of write data to PRECHARGE");
        visit.field("t_rtp", self.t_rtp, "READ to PRECHARGE");
        visit.field("t_wtr_s", self.t_wtr_s, "end of write data to READ, another bank group");
        visit.field("t_wtr_l", self.t_wtr_l, "end of write data to READ, same bank group");
        visit.field("t_rrd_s", self.t_rrd_s, "ACTIVATE to ACTIVATE, another bank group");
        visit.field("t_rrd_l", self.t_rrd_l, "ACTIVATE to ACTIVATE, same bank group");
        visit.field("t_ccd_s", self.t_ccd_s, "READ to READ or WRITE to WRITE, another bank group");
        visit.field("t_ccd_l", self.t_ccd_l, "READ to READ or WRITE to WRITE, same bank group");
        visit.field("t_faw", self.t_faw, "window that holds four ACTIVATE of a rank at most");
        visit.field("t_rfc", self.t_rfc, "REFRESH to ACTIVATE");
        visit.field("t_refi", self.t_refi, "clocks from refresh to refresh; 0 = no refresh");
        visit.field("read_to_write", self.read_to_write,
                    "idle clocks of the data bus between read and write data");
        visit.field("rank_switch", self.rank_switch,
                    "idle clocks of the data bus between data of two ranks");
    }
};

struct DramConfig {
    Hertz clock{1'200'000'000};
    Hertz npu_clock{1'000'000'000};  ///< clock of the NPU's cycles; no field: it is the NPU's own
    DramOrganisation organisation;
    DramTimings timing;
    PagePolicy page_policy = PagePolicy::Open;
    std::string mapping = "row rank bank column bank_group channel";
    Cycles controller_latency{20};
    std::uint32_t read_buffers = 16;
    std::uint32_t write_batch = 16;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("clock", self.clock, "clock of the command bus");
        visit.field("organisation", self.organisation, "what the DRAM is built of");
        visit.field("timing", self.timing, "clocks from command to command");
        visit.field("page_policy", self.page_policy, "what becomes of a row after a burst");
        visit.field("mapping", self.mapping,
                    "fields of an address from high to low; `column:3` takes three bits of one");
        visit.field("controller_latency", self.controller_latency,
                    "cycles to the DRAM and back beside its own: interconnect, queues, PHY");
        visit.field("read_buffers", self.read_buffers,
                    "bursts that the controller keeps, so that later beats of one need no other");
        visit.field("write_batch", self.write_batch,
                    "bursts gathered before they are written; 1 = each at once");
    }
};

}  // namespace npuscope
