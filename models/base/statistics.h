// SPDX-License-Identifier: Apache-2.0
// What the machine counts: per unit where its cycles went, per operation what bound it, per client
// of the memory interface what it moved. Plain values; the units fill them, reports print them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

/// Cycles of one unit between its first and last launch: working, without input, blocked by a
/// consumer.
struct UnitStatistics {
    Cycles busy;
    Cycles starved;
    Cycles blocked;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("busy", self.busy, "cycles of work");
        visit.field("starved", self.starved, "cycles waiting for input");
        visit.field("blocked", self.blocked, "cycles waiting for a consumer");
    }
};

/// What one client of the memory interface moved.
struct ClientTraffic {
    Bytes read_bytes;
    Bytes write_bytes;
    std::uint64_t read_beats = 0;
    std::uint64_t write_beats = 0;

    ClientTraffic& operator+=(const ClientTraffic& other) {
        read_bytes += other.read_bytes;
        write_bytes += other.write_bytes;
        read_beats += other.read_beats;
        write_beats += other.write_beats;
        return *this;
    }
    /// `part` is a part of what this counts.
    ClientTraffic& operator-=(const ClientTraffic& part) {
        read_bytes -= part.read_bytes;
        write_bytes -= part.write_bytes;
        read_beats -= part.read_beats;
        write_beats -= part.write_beats;
        return *this;
    }
    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("read_bytes", self.read_bytes, "bytes read, whole beats");
        visit.field("write_bytes", self.write_bytes, "bytes written");
        visit.field("read_beats", self.read_beats, "beats of the bus read");
        visit.field("write_beats", self.write_beats, "beats of the bus written");
    }
};

/// What a client moved, over one port where one is named.
struct NamedTraffic {
    std::string client;
    ClientTraffic traffic;
    std::string port{};
};

/// Where an operation's cycles went; together they are all of them.
enum class Cause {
    Mac,
    SdpDrain,
    DataFetch,
    WeightFetch,
    CbufCapacity,
    Latency,
    StartUp,
    Work,
    Memory,
    WaitsForPrevious,
    Programming
};
inline constexpr std::array<std::string_view, 11> cause_names{
    "mac",      "sdp_drain", "data_fetch", "weight_fetch",       "cbuf_capacity", "latency",
    "start_up", "work",      "memory",     "waits_for_previous", "programming"};

struct CauseCycles {
    std::array<Cycles, cause_names.size()> cycles{};

    Cycles& operator[](Cause cause) { return cycles[static_cast<std::size_t>(cause)]; }
    Cycles operator[](Cause cause) const { return cycles[static_cast<std::size_t>(cause)]; }
    CauseCycles& operator+=(const CauseCycles& other) {
        for (std::size_t i = 0; i < cycles.size(); ++i) {
            cycles[i] += other.cycles[i];
        }
        return *this;
    }
    /// `part` is a part of what this counts.
    CauseCycles& operator-=(const CauseCycles& part) {
        for (std::size_t i = 0; i < cycles.size(); ++i) {
            cycles[i] -= part.cycles[i];
        }
        return *this;
    }
    Cycles sum() const {
        Cycles all;
        for (const Cycles one : cycles) {
            all += one;
        }
        return all;
    }
    /// The cause with the most cycles.
    std::string_view largest() const {
        std::size_t best = 0;
        for (std::size_t i = 1; i < cycles.size(); ++i) {
            if (cycles[i] > cycles[best]) {
                best = i;
            }
        }
        return cause_names[best];
    }
};

/// A part of an operation's time, and where its cycles went.
struct OperationPart {
    Cycles begin;
    Cycles end;
    CauseCycles causes;
    bool array = false;  ///< the operation uses the MAC array, which serves one at a time
};

/// One launch of a pipeline (a convolution with what is fused to it, or SDP, PDP or CDP on its own)
/// or of a unit, or an operator on the host.
struct OperationRecord {
    std::string unit;  ///< conv, sdp, pdp, cdp, tinpu, host
    std::string name;
    Cycles start;
    Cycles end;
    std::uint64_t macs = 0;
    double mac_cells = 0;  ///< MACs per cycle of the array, 0 where it is not used
    CauseCycles causes;
    std::vector<OperationPart> parts{};  ///< parts of its time, in order without gaps; empty: one
    std::optional<Cycles> first_mac{};   ///< first atom in the MAC array, where it is used
    std::string kind{};  ///< what a planner calls it: `PWCONV`, an operator; may be empty
    Bytes read{};        ///< for a unit that counts them by operation
    Bytes written{};     ///< for a unit that counts them by operation
    std::vector<NamedTraffic> traffic{};  ///< by client and port
    std::vector<std::string> joined{};    ///< operations that took its result on the fly
    /// Those of these cycles that no other operation covers; a run fills them in. The rest is
    /// hidden.
    CauseCycles own{};

    Cycles cycles() const { return end - start; }
    /// End of the last part.
    Cycles accounted() const { return parts.empty() ? start : parts.back().end; }
    /// Attributes the cycles up to `until` that no part has yet to one cause.
    void pass(Cycles until, Cause cause) {
        const Cycles begin = accounted();
        if (until > begin) {
            parts.push_back({begin, until, {}});
            parts.back().causes[cause] = until - begin;
            causes[cause] += until - begin;
        }
    }
};

}  // namespace npuscope
