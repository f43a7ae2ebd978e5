// SPDX-License-Identifier: Apache-2.0
// Arbitration of the read channel, beat by beat: one command a cycle, round robin over the clients
// that have a beat ready, a limited number in flight; data comes back in order. Computed only up to
// a given time, so that later announcements still count. The memory's timing is known with the
// burst, or each command is a request whose answer is reported when it arrives. A consumer without
// room holds its beats back and all that follow. Source: nv_small RTL, measured;
// NV_NVDLA_NOCIF_DRAM_READ_ig.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "models/base/fingerprint.h"
#include "models/base/quantity.h"
#include "models/base/register_map.h"
#include "models/link/skid_stage.h"

namespace npuscope {

// Memory interface of the NPU: one read and one write channel per port, shared by the DMA clients.

/// What a transaction to memory is, and where the units get their operands from.
enum class McifTransactions {
    Runs,  ///< a run of memory; its answer is the memory's latency, the beats follow by themselves
    Bursts,  ///< a burst, whose answer is awaited
    Values,  ///< a burst, whose bytes are what the units compute with
};

template <>
struct EnumNames<McifTransactions> {
    static constexpr std::array names{
        std::pair{McifTransactions::Runs, std::string_view("runs")},
        std::pair{McifTransactions::Bursts, std::string_view("bursts")},
        std::pair{McifTransactions::Values, std::string_view("values")}};
};

struct McifConfig {
    Bytes bus_width{8};
    std::uint32_t max_burst = 1;
    std::uint32_t turn_beats = 1;  // source: NV_NVDLA_MCIF_READ_IG_bpt.v, one command per turn
    bool request_stages = false;   // source: NV_NVDLA_MCIF_READ_IG_bpt.v of branch master
    std::uint32_t address_bits = 32;
    std::uint32_t outstanding_reads = 256;  // source: nv_small RTL, counter of reads in flight
    Cycles slot_return{3};                  // source: nv_small RTL, measured
    Cycles covered_latency{64};             // source: nv_small.spec PRIMARY_MEMIF_LATENCY_64
    bool secondary_port = false;
    McifTransactions transactions = McifTransactions::Runs;
    // source: reset value of NVDLA_MCIF.CFG_OUTSTANDING_CNT.WR_OS_CNT, which counts from 0
    std::uint32_t outstanding_writes = 256;

    bool awaits_answers() const { return transactions != McifTransactions::Runs; }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("bus_width", self.bus_width, "bytes of one beat of the primary port");
        visit.field("max_burst", self.max_burst, "beats of the longest burst");
        visit.field("turn_beats", self.turn_beats,
                    "maximum read beats per arbitration turn of a client, where bursts are "
                    "shorter; each burst is a separate command");
        visit.field("request_stages", self.request_stages,
                    "a request that arrives while the previous one is issued costs a cycle in the "
                    "stages before the arbiter");
        visit.field("address_bits", self.address_bits, "width of an address on the ports");
        visit.field("outstanding_reads", self.outstanding_reads,
                    "maximum number of read beats in flight");
        visit.field("slot_return", self.slot_return,
                    "cycles from a beat's arrival to the command that reuses its slot");
        visit.field("covered_latency", self.covered_latency,
                    "latency of memory that the read DMAs' FIFOs are built to hide");
        visit.field(
            "secondary_port", self.secondary_port,
            "a second port, for SRAM, exists; without it, programs that use it are refused");
        visit.field(
            "transactions", self.transactions,
            "granularity of memory requests: `runs`, whose latency memory returns at once; "
            "`bursts`, each answered at any time and in any order; `values`, bursts whose bytes "
            "are the operands. With the first two, operands are fetched by debug transport at "
            "launch, which allows races and uninitialised reads to be detected");
        visit.field(
            "outstanding_writes", self.outstanding_writes,
            "maximum number of outstanding write bursts, where `transactions` is not `runs`");
    }
};

// The registers of NVDLA_MCIF and NVDLA_CVIF, which are identical: arbitration between the clients
// of the external memory port and of the on-chip SRAM port.
extern const RegisterBlock mcif_block;
extern const RegisterBlock cvif_block;

/// Neighbouring beats that are ready together, and the memory behind them.
struct ChannelBurst {
    Cycles ready;
    std::uint64_t beats = 0;
    Cycles latency{};
    Cycles interval{1};
    bool timed = false;        ///< by the memory, beat by beat, instead of with `latency`
    bool request = false;      ///< begins a request
    std::uint32_t stages = 0;  ///< in front of the arbiter that the request passes
    Cycles gap{1};             ///< minimum, from the making of the previous request
};

/// The stages that a client's requests pass before the arbiter. A client makes its next request
/// while the previous one waits to enter the first stage, and no further one. The last stage in
/// front of the split into commands holds a request until its last command has left; a stage of the
/// arbiter itself holds commands.
/// source: NV_NVDLA_CDMA_dc.v, req_valid_d1, NV_NVDLA_DMAIF_rdreq.v, NV_NVDLA_CDMA_dma_mux.v,
/// NV_NVDLA_MCIF_READ_IG_bpt.v and NV_NVDLA_MCIF_READ_IG_arb.v of branch master
class RequestStages {
 public:
    /// When a request reaches the arbiter that would reach it at `ready` with empty stages.
    Cycles enter(const ChannelBurst& request);
    /// The request's next command has had its turn.
    void issued(Cycles time);
    void add_state(Fingerprint& state) const;

 private:
    std::array<SkidStage, 4> stages_{};  // a client with fewer stages passes the last ones
    SkidStage arbiter_{};
    Cycles offered_;  // the request, to the first stage
    Cycles entered_;
    Cycles in_last_;          // of the stages
    Cycles at_end_;           // of the stages
    Cycles in_arbiter_;       // the request's next command
    Cycles at_arbiter_;       // the same, at its output
    Cycles last_in_arbiter_;  // the last command that had its turn
    bool holds_ = false;      // a request
};

/// A stream as the channel sees it.
class ChannelSource {
 public:
    virtual ~ChannelSource() = default;
    /// Nothing while the time of the next burst is unknown; it is then later than now.
    virtual std::optional<ChannelBurst> next_burst() = 0;
    virtual void arrived(std::span<const Cycles> times) = 0;
    /// For this many more cycles a beat was ready and not issued.
    virtual void stalled(Cycles /*cycles*/) {}
    /// Requests the next beats in cycle `command`; the channel is notified of the answer.
    virtual void ask(Cycles /*command*/, std::uint64_t /*beats*/) {}
    /// For a timed burst: the next beats are requested in these cycles; each becomes the first
    /// cycle for the data of its beat.
    virtual void beats_ready(std::span<Cycles> /*times*/) {}
    /// No beat up to number `count` can be ready before this.
    virtual Cycles ready_after(std::uint64_t count) const = 0;
    /// Moves the arrivals of the next beats, `interval` apart, to when there is room for them.
    virtual void hold_back(std::span<Cycles> /*times*/, Cycles /*interval*/) {}
};

/// When a channel last did something; for a channel at rest it does not matter if that was longer
/// ago than any latency, FIFO or pipe.
inline void add_last(Fingerprint& state, Cycles time, bool at_rest) {
    constexpr Cycles long_ago{4096};
    if (at_rest) {
        state.add_coming(time + long_ago);
    } else {
        state.add(time);
    }
}

/// For a command in cycle `a`, the beat arrives at max(a + 1 + latency, previous beat + interval).
/// The command that reuses its slot in flight follows `slot_return` cycles later at the earliest.
/// With bursts of several beats a command requests a whole one, and waits for room in flight after
/// its turn. If a turn has several one-beat bursts, they follow each other as room allows.
class ReadChannel {
 public:
    /// How far a client gets in its turn.
    struct Turn {
        std::uint32_t beats = 1;  ///< at most
        bool split = false;       ///< into commands of one beat
        bool stages = false;      ///< requests pass stages in front of the arbiter
    };
    /// `asks`: sources are told to request their beats, and arrival times are not computed here but
    /// follow the answers.
    ReadChannel(std::uint32_t outstanding, Cycles slot_return, const Turn& turn, bool asks = false);
    ReadChannel(std::uint32_t outstanding, Cycles slot_return)
        : ReadChannel(outstanding, slot_return, Turn{}) {}

    /// Clients have their turns in the order in which they are added.
    unsigned add_client();
    void open(unsigned client, ChannelSource& source, std::uint64_t beats);
    /// Issues whatever is issued up to and including `time`.
    void advance(Cycles time);
    void add_state(Fingerprint& state) const;
    /// Commands are known up to this cycle; nothing if none will come.
    std::optional<Cycles> known_until() const {
        return open_.empty() ? std::nullopt : std::optional(next_command_);
    }
    /// The client's stream ends this many beats earlier.
    void leave_out(unsigned client, std::uint64_t beats) { lanes_[client].remaining -= beats; }
    /// All beats of the client's stream have been issued.
    bool finished(unsigned client) const { return lanes_[client].source == nullptr; }
    std::uint64_t issued(unsigned client) const { return lanes_[client].issued; }
    /// A time before which the first `beats` beats cannot all have been issued; nothing when the
    /// stream waits for another one to give way.
    std::optional<Cycles> issued_after(unsigned client, std::uint64_t beats) const;

    // For a channel that asks.

    /// The client's request number `request`, counted over all its streams, gets its first beat at
    /// `first` and one more each `interval`; its requests are reported in order.
    void answer(unsigned client, std::uint64_t request, Cycles first, Cycles interval);
    /// Beats of the client's stream whose arrival is known.
    std::uint64_t answered(unsigned client) const { return lanes_[client].answered; }
    /// When the next command may be issued, as far as known now; nothing while all wait.
    std::optional<Cycles> next_command() const;

 private:
    /// A request that was sent.
    struct Asked {
        std::size_t place = 0;  // of its first beat in the ring
        std::uint64_t beats = 0;
        std::optional<Cycles> first{};
        Cycles interval{1};
    };
    struct Lane {
        ChannelSource* source = nullptr;
        ChannelBurst burst{};
        std::uint64_t remaining = 0;  // beats of the stream not yet issued
        std::uint64_t issued = 0;
        Cycles next{};  // after the last issued beat
        RequestStages stages{};
        bool in_stages = false;          // the stream's requests pass them
        bool holds = false;              // the stream may hold beats back
        std::vector<Cycles> arrivals{};  // not yet reported to the source
        std::deque<Asked> asked{};       // without an answer, or after one without
        std::uint64_t first_asked = 0;   // number of its first one
        std::uint64_t answered = 0;      // beats of the stream
    };
    struct Choice {
        std::size_t turn = 0;  // index among the open lanes; after them if none is ready
        Cycles command;
        Cycles others_ready;  // the first of the others
    };
    Lane& open_lane(std::size_t turn) { return lanes_[open_[turn]]; }
    void pull_bursts();
    void pull_burst(Lane& lane);
    Cycles next_slot() const {
        if (turn_.beats > 1 || commands_ < arrivals_.size()) {
            return next_command_;
        }
        return std::max(next_command_, freed(place_));
    }
    /// When this many more beats may be in flight.
    Cycles room_for(std::uint64_t beats) const;
    /// When a slot of the ring is free again; never while its beat has not been answered.
    Cycles freed(std::size_t place) const {
        return arrivals_[place] == never ? never : arrivals_[place] + slot_return_;
    }
    void ask(Lane& lane, Cycles command);
    /// When there is room in flight to begin a turn of this many beats.
    Cycles room_for_turn(std::uint64_t beats) const {
        return room_for(turn_.split && !asks_ ? 1 : beats);
    }
    void issue_turn(Lane& lane, Cycles command);
    /// The same for a timed burst whose beats are adjacent in the ring.
    void issue_timed_turn(Lane& lane, Cycles command);
    Choice choose(Cycles command);
    /// The same if one lane is open.
    Choice the_only(Cycles command) const {
        const ChannelBurst& burst = lanes_[open_.front()].burst;
        const bool ready = burst.beats > 0 && burst.ready <= command;
        const bool later = burst.beats > 0 && !ready;
        return {ready ? 0U : 1U, command, later ? burst.ready : never};
    }
    /// Issues the command of the lane's next beat, which determines its arrival.
    void command_beat(Lane& lane, Cycles command) {
        const ChannelBurst& burst = lane.burst;
        Cycles ready = command;
        burst.timed ? lane.source->beats_ready({&ready, 1}) : void(ready += burst.latency);
        last_arrival_ = std::max(ready + Cycles(1), last_arrival_ + burst.interval);
        arrivals_[place_] = last_arrival_;
        hold_back(lane, {&arrivals_[place_], 1});
        count_commands(1);
        lane.arrivals.push_back(last_arrival_);
    }
    void issue_one(Lane& lane, Cycles command) {
        command_beat(lane, command);
        leave_stages(lane, command);
        next_command_ = command + Cycles(1);
    }
    void issue_many(Lane& lane, Cycles command, Cycles limit);
    /// Issues this many beats a cycle apart, if they also arrive that way; otherwise none.
    std::uint64_t issue_evenly(Lane& lane, Cycles command, std::uint64_t count);
    /// Issues at most this many beats, none after `limit`.
    std::uint64_t issue_unevenly(Lane& lane, Cycles command, std::uint64_t most, Cycles limit);
    /// The same for a timed burst.
    std::uint64_t issue_timed(Lane& lane, Cycles command, std::uint64_t most, Cycles limit);
    /// Delays the lane's last arrivals in the ring until it has room for them.
    void hold_back(Lane& lane, std::span<Cycles> times) {
        if (lane.holds) {
            lane.source->hold_back(times, lane.burst.interval);
            last_arrival_ = times.back();
        }
    }
    void leave_stages(Lane& lane, Cycles command) const {
        if (lane.in_stages) {
            lane.stages.issued(command);
        }
    }
    void issue(const Choice& choice, Cycles limit);
    /// Lanes that are ready together have turns of one beat each, until one has no more to issue,
    /// another is ready, or `limit` is over.
    void issue_in_turns(const Choice& choice, Cycles limit);
    /// This many beats of the lane's burst have been issued.
    void had_turn(std::size_t turn, std::uint64_t beats);
    /// `count` beats have just been issued, the last one in the cycle before the next command.
    void note_stall(Lane& lane, std::uint64_t count) const {
        const Cycles begin = std::max(lane.burst.ready, lane.next);
        const Cycles moving = begin + Cycles(count);
        if (next_command_ > moving) {
            lane.source->stalled(next_command_ - moving);
        }
        lane.next = next_command_;
    }
    void find_turn();
    void tell_arrivals();
    void count_commands(std::uint64_t count) {
        commands_ += count;
        place_ = place_ + count == arrivals_.size() ? 0 : place_ + count;
    }

    static constexpr Cycles never{std::numeric_limits<std::uint64_t>::max()};

    std::vector<Lane> lanes_;
    std::vector<std::size_t> open_;  // lanes with beats to issue, in turn order
    std::size_t next_turn_ = 0;      // among them
    std::size_t last_lane_ = 0;      // lane that had its turn
    std::vector<std::size_t> ready_turns_;
    Cycles slot_return_;
    Turn turn_;
    bool asks_;
    std::vector<Cycles> arrivals_;  // of the last commands, as a ring
    std::uint64_t commands_ = 0;
    std::size_t place_ = 0;            // slot of the next command in the ring
    std::optional<std::size_t> held_;  // lane whose command had its turn and waits for room
    Cycles held_until_;
    Cycles next_command_{};  // first cycle without a command
    Cycles last_arrival_{};
};

/// The write channel accepts one beat per beat interval of the memory. Clients with simultaneous
/// writes take turns beat by beat, except for the beats of a burst that leave together.
class WriteChannel {
 public:
    /// Beat i is available at `first` + i * `step`.
    struct Burst {
        Cycles first;
        Cycles step;
        std::uint64_t beats = 0;
        Cycles interval{1};  ///< of the memory
        /// Beats that leave one after the other when the last one is available: those of its burst.
        std::uint64_t gathered = 1;
    };
    /// The client's next write, whose first beat is available now or later. One at a time.
    void open(unsigned client, const Burst& burst);
    /// Takes what is available up to a time that has come.
    void advance(Cycles time);
    /// When the first `beats` of the client's write were taken; nothing before that happens.
    std::optional<Cycles> taken(unsigned client, std::uint64_t beats) const;
    void add_state(Fingerprint& state) const;
    /// The earliest time at which they may be taken, exact while no other client writes.
    Cycles taken_after(unsigned client, std::uint64_t beats) const;

 private:
    struct Lane {
        Burst burst{};
        std::uint64_t taken = 0;
        Cycles last{};  // of those taken
    };
    static Cycles ready(const Burst& burst, std::uint64_t beat);
    Cycles taken_after(const Lane& lane, std::uint64_t beats) const;
    /// Takes the next beat of a lane.
    void take(Lane& lane, Cycles time);
    /// The lane whose turn is next and the time of its next beat, among several.
    std::pair<std::size_t, Cycles> next_turn() const;

    std::vector<Lane> lanes_;     // of the clients
    std::vector<unsigned> open_;  // clients with beats to take
    unsigned last_ = 0;           // client that had its turn
    Cycles free_{};
};

}  // namespace npuscope
