// SPDX-License-Identifier: Apache-2.0
// What a simulated memory is made of: regions of the 64-bit space, each with its own timing. A read
// command taken in cycle t has its first beat valid from t + 1 + read_latency on, then at most one
// beat every beat_interval cycles, in order. Writes have their own channel; the response follows 1
// + read_latency cycles after the last beat. This is the model that the RTL was measured with. A
// region may have a DRAM instead, whose rows and banks give each beat its time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "models/base/quantity.h"

namespace npuscope {

// The DRAM of a memory region: how it is built, its timing in clocks of the command bus, and what
// its controller does. Names are those of the JEDEC standards. Defaults are DDR4-2400R in a 64-bit
// channel (8 Gb x8 devices); presets of other parts are next to configs/memory/ddr4_2400.yaml. Not
// modelled: power-down, self-refresh, per-bank refresh, calibration, ECC.

/// Clocks of the memory's command bus, not cycles of the NPU.
using Clocks = Quantity<struct ClocksKind>;

/// What happens to a row after a burst: it stays open for the next one, or is closed at once.
enum class PagePolicy { Open, Closed };

template <>
struct EnumNames<PagePolicy> {
    static constexpr std::array names{std::pair{PagePolicy::Open, std::string_view("open")},
                                      std::pair{PagePolicy::Closed, std::string_view("closed")}};
};

/// Which row is opened next: that of the bank that is ready first, or in burst order. Data is
/// always in burst order.
enum class RowOrder { Ready, Stream };

template <>
struct EnumNames<RowOrder> {
    static constexpr std::array names{std::pair{RowOrder::Ready, std::string_view("ready")},
                                      std::pair{RowOrder::Stream, std::string_view("stream")}};
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
    Clocks t_ppd{0};
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
                    "additional clocks to read data (tDQSCK, tWCK2DQO)");
        visit.field("t_rcd", self.t_rcd, "ACTIVATE to READ or WRITE");
        visit.field("t_rp", self.t_rp, "PRECHARGE to ACTIVATE");
        visit.field("t_ras", self.t_ras, "ACTIVATE to PRECHARGE");
        visit.field("t_rc", self.t_rc, "ACTIVATE to ACTIVATE of one bank");
        visit.field("t_wr", self.t_wr, "end of write data to PRECHARGE");
        visit.field("t_rtp", self.t_rtp, "READ to PRECHARGE");
        visit.field("t_wtr_s", self.t_wtr_s, "end of write data to READ, another bank group");
        visit.field("t_wtr_l", self.t_wtr_l, "end of write data to READ, same bank group");
        visit.field("t_ppd", self.t_ppd, "PRECHARGE to PRECHARGE of one rank; 0 = no rule");
        visit.field("t_rrd_s", self.t_rrd_s, "ACTIVATE to ACTIVATE, another bank group");
        visit.field("t_rrd_l", self.t_rrd_l, "ACTIVATE to ACTIVATE, same bank group");
        visit.field("t_ccd_s", self.t_ccd_s, "READ to READ or WRITE to WRITE, another bank group");
        visit.field("t_ccd_l", self.t_ccd_l, "READ to READ or WRITE to WRITE, same bank group");
        visit.field("t_faw", self.t_faw,
                    "window in which a rank takes at most four ACTIVATE commands");
        visit.field("t_rfc", self.t_rfc, "REFRESH to ACTIVATE");
        visit.field("t_refi", self.t_refi, "clocks from refresh to refresh; 0 = no refresh");
        visit.field("read_to_write", self.read_to_write,
                    "idle clocks of the data bus between read and write data");
        visit.field("rank_switch", self.rank_switch,
                    "idle data-bus clocks when switching from one rank to another");
    }
};

/// Clocks that each command takes on a channel's command bus, one command at a time.
struct DramCommandBus {
    Clocks activate{1};
    bool activate_in_halves = false;
    Clocks precharge{1};
    Clocks read{1};
    Clocks write{1};
    Clocks refresh{1};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("activate", self.activate, "clocks of ACTIVATE, all of its parts");
        visit.field("activate_in_halves", self.activate_in_halves,
                    "other commands may come between the halves of an ACTIVATE, as in LPDDR5");
        visit.field("precharge", self.precharge, "clocks of PRECHARGE of one bank, or of all");
        visit.field("read", self.read,
                    "clocks of READ, including a separate column command, if any");
        visit.field("write", self.write,
                    "clocks of WRITE, including a separate column command, if any");
        visit.field("refresh", self.refresh, "clocks of REFRESH of all banks");
    }
};

struct DramConfig {
    Hertz clock{1'200'000'000};
    Hertz npu_clock{1'000'000'000};  ///< clock of the NPU's cycles; no field: it is the NPU's own
    DramOrganisation organisation;
    DramTimings timing;
    DramCommandBus command_bus;
    PagePolicy page_policy = PagePolicy::Open;
    RowOrder row_order = RowOrder::Ready;
    std::uint32_t queue = 16;
    std::string mapping = "row rank bank column bank_group channel";
    Cycles controller_latency{20};
    std::uint32_t read_buffers = 16;
    std::uint32_t write_batch = 16;

    /// Bytes a second of the data buses of all channels.
    double peak() const {
        const auto burst = static_cast<double>(organisation.burst_bytes().value);
        const auto clocks = std::max<std::uint64_t>(organisation.burst_clocks().value, 1);
        return burst * organisation.channels / static_cast<double>(clocks) *
               static_cast<double>(clock.value);
    }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("clock", self.clock, "clock of the command bus");
        visit.field("organisation", self.organisation, "organisation of the DRAM");
        visit.field("timing", self.timing, "clocks from command to command");
        visit.field("command_bus", self.command_bus, "clocks that a command takes on its bus");
        visit.field("page_policy", self.page_policy,
                    "page policy: whether a row stays open after a burst");
        visit.field("row_order", self.row_order,
                    "order in which rows are opened: ready (the first bank that is ready) or "
                    "stream (order of requests); data is always returned in request order");
        visit.field(
            "queue", self.queue,
            "look-ahead of a channel, 1 to 64: rows are opened for this many of the oldest bursts");
        visit.field("mapping", self.mapping,
                    "fields of an address from high to low; `column:3` takes three bits of one");
        visit.field(
            "controller_latency", self.controller_latency,
            "cycles to the DRAM and back in addition to its own: interconnect, queues, PHY");
        visit.field("read_buffers", self.read_buffers,
                    "bursts that the controller buffers, so that later beats of the same burst "
                    "need no new access");
        visit.field("write_batch", self.write_batch,
                    "bursts gathered before they are written; 1 = each at once");
    }
};

// What a DRAM and its controller did. A burst is a hit when its row was open, a miss when its bank
// was closed and a conflict when another row had to be closed first. Bursts still waiting in the
// write buffer are not counted yet.

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
        visit.field("merged_beats", self.merged_beats, "beats served from a buffered burst");
    }
};

using BytesPerSecond = Quantity<struct BytesPerSecondKind>;

struct MemoryRegionConfig {
    std::string name = "dram";
    Address base{0x80000000};
    Bytes size{0x1000000000};
    std::optional<Cycles> read_latency;
    std::optional<Cycles> latency_spread;
    std::optional<Cycles> beat_interval;
    std::optional<BytesPerSecond> bandwidth;
    Hertz npu_clock{1'000'000'000};  ///< clock of the NPU's cycles; no field: it is the NPU's own
    std::optional<DramConfig> dram;
    std::optional<Bytes> surfaces;

    /// Bytes a second of reads and writes together; nothing where only the ports limit them.
    std::optional<double> peak() const {
        if (dram) {
            return dram->peak();
        }
        return bandwidth ? std::optional(static_cast<double>(bandwidth->value)) : std::nullopt;
    }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("name", self.name, "name of the region in messages and programs");
        visit.field("base", self.base, "first byte address");
        visit.field("size", self.size, "bytes of the region");
        visit.field("read_latency", self.read_latency,
                    "cycles between a read command and its first beat, neither of them counted; "
                    "default: memory.read_latency");
        visit.field("latency_spread", self.latency_spread,
                    "maximum random extra latency of an answer, in cycles, derived per beat from "
                    "its address; default: memory.latency_spread");
        visit.field("beat_interval", self.beat_interval,
                    "cycles per beat of the bus; default: memory.beat_interval");
        visit.field("bandwidth", self.bandwidth,
                    "bandwidth shared by reads and writes of all ports and instances; default: "
                    "each port has one beat every beat_interval for reads, and one for writes");
        visit.field("dram", self.dram,
                    "DRAM model that times each beat; default: none, fixed latency");
        visit.field(
            "surfaces", self.surfaces,
            "bytes at its start that network plans may use; default: all of the first region, none "
            "of the others. Results go to another region where the NPU has a second memory port");
    }
};

/// How many NPUs have their data in a memory, each in its own part.
struct MemorySharing {
    std::size_t instances = 1;
    Bytes beat{8};  ///< of a port: what a region without its own bandwidth provides
};

struct MemoryConfig {
    Cycles read_latency{50};
    Cycles latency_spread{0};
    std::uint64_t seed = 1;
    Cycles beat_interval{1};
    std::vector<MemoryRegionConfig> regions{MemoryRegionConfig{}};

    /// One region holds all of these bytes.
    bool holds(Address address, Bytes bytes) const {
        return std::ranges::any_of(regions, [&](const MemoryRegionConfig& region) {
            return address >= region.base && address - region.base <= region.size &&
                   bytes <= region.size - (address - region.base);
        });
    }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field(
            "read_latency", self.read_latency,
            "cycles between a read command and its first beat, and between a last write beat and "
            "its response, neither end counted: the beat comes read_latency + 1 cycles after the "
            "command");
        visit.field("latency_spread", self.latency_spread,
                    "maximum random extra latency of an answer, in cycles, derived per beat from "
                    "its address; answers of a port stay in order");
        visit.field("seed", self.seed, "seed of the random extra latency");
        visit.field("beat_interval", self.beat_interval,
                    "cycles per beat of the bus; 1 = a beat every cycle");
        visit.field("regions", self.regions, "address ranges of the memory");
    }
};

}  // namespace npuscope
