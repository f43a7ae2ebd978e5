// SPDX-License-Identifier: Apache-2.0
// How a client's writes reach the channel if its requests are cut into bursts. Times only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/base/fingerprint.h"
#include "models/base/quantity.h"

namespace npuscope {

/// The way of a client's writes to the channel if requests are cut into bursts of a turn's beats. A
/// request's command precedes its data and waits until the previous request has passed; each burst
/// has its own command, and at most two of them wait in front of the channel with four beats; data
/// that waited meanwhile passes a cycle later if its halves belong to different beats. A burst
/// leaves when its last beat is available. Every time is that at which a single beat would leave.
/// source: NV_NVDLA_SDP_WDMA_DAT_out.v,
/// NV_NVDLA_MCIF_WRITE_IG_bpt.v and NV_NVDLA_MCIF_WRITE_IG_arb.v of nvdlav1, whose simulation
/// random requests were compared with
class WriteFront {
 public:
    /// Position of a beat in its request and its burst.
    struct Place {
        bool begins_request = false;
        bool begins_burst = false;
        bool same_beat = false;    ///< another part of the last beat that passed
        bool same_packet = false;  ///< it came with the previous beat's data
        bool shifted =
            false;  ///< of a whole burst of a request that begins in the middle of a beat
    };
    /// When the burst leaves, if it ends with a beat available from `there` on.
    Cycles pass(Cycles there, const Place& place) {
        if (place.same_beat) {
            way_ = before_;
            --beats_;
        } else if (place.begins_request || place.begins_burst) {
            end_burst();
            command(place.begins_request);
        }
        before_ = way_;
        if (!place.same_packet) {
            leave(there);
            enter(way_.client);
        }
        const bool late = place.shifted && beats_ == 0 && way_.entry <= way_.passed;
        way_.passed = std::max({way_.passed + Cycles(late ? 2 : 1), way_.entry, room_for_beat()});
        ++beats_;
        return leaves();
    }
    /// When the last beat left the client.
    Cycles left() const { return way_.client; }
    void add_state(Fingerprint& state) const {
        for (const Cycles time : {way_.client, way_.entry, way_.passed, before_.client,
                                  before_.entry, before_.passed}) {
            state.add_coming(time);
        }
        for (const Cycles time : way_.entries) {
            state.add_coming(time + Cycles(2));
        }
        state.add(beats_);
        for (std::size_t i = 0; i < commands; ++i) {
            state.add_coming(ended_[(bursts_ + i) % commands] + Cycles(2));
        }
        for (std::size_t i = 0; i < room; ++i) {
            state.add_coming(left_[(sent_ + i) % room] + Cycles(2));
        }
    }

 private:
    /// Times of the last item.
    struct Way {
        Cycles client;                    ///< out of the client
        Cycles entry;                     ///< into the interface
        Cycles passed;                    ///< to the arbiter
        std::array<Cycles, 2> entries{};  ///< of the two previous items
    };
    /// An item leaves the client, `there` at the earliest, once there is room between the two: for
    /// three items, each slot free again two cycles after its item has entered.
    /// source: nv_full RTL, simulated; NV_NVDLA_RUBIK_dma.v, pipe_p3
    void leave(Cycles there) {
        const Cycles before = way_.entries[1];
        const Cycles place = before > Cycles(0) ? before + Cycles(2) : Cycles(0);
        way_.client = std::max({there, way_.client + Cycles(1), place});
    }
    void enter(Cycles earliest) {
        const Cycles before = way_.entry;
        way_.entry = std::max(earliest, before + Cycles(1));
        way_.entries = {before, way_.entries[0]};
    }
    static constexpr std::size_t room = 4;      // source: NV_NVDLA_MCIF_WRITE_IG_ARB_dfifo
    static constexpr std::size_t commands = 2;  // source: NV_NVDLA_MCIF_WRITE_IG_ARB_pipe_p1

    Cycles leaves() const { return std::max(way_.passed, ended_[bursts_ % commands] + Cycles(1)); }
    Cycles room_for_beat() const {
        const Cycles left = left_[(sent_ + beats_) % room];
        return beats_ < room && left > Cycles(0) ? left + Cycles(2) : Cycles(0);
    }
    void end_burst() {
        const Cycles first = leaves();
        for (std::uint64_t beat = 0; beat < beats_; ++beat) {
            left_[sent_++ % room] = first + Cycles(beat);
        }
        if (beats_ > 0) {
            ended_[++bursts_ % commands] = first + Cycles(beats_ - 1);
        }
        beats_ = 0;
    }
    void command(bool of_request) {
        Cycles there;
        if (of_request) {
            leave(Cycles(0));
            enter(std::max(way_.client, way_.passed + Cycles(2)));
            there = way_.entry - Cycles(1);
        }
        const Cycles before = ended_[(bursts_ + 1) % commands];
        way_.passed = std::max(
            {there, way_.passed + Cycles(1), before > Cycles(0) ? before + Cycles(2) : Cycles(0)});
    }

    Way way_;
    Way before_;                            // the last beat
    std::uint64_t beats_ = 0;               // of the current burst
    std::uint64_t bursts_ = 0;              // before it
    std::array<Cycles, commands> ended_{};  // the last of them: their last beats
    std::uint64_t sent_ = 0;                // beats before the current burst
    std::array<Cycles, room> left_{};       // the last of them
};

}  // namespace npuscope
