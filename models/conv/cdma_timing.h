// SPDX-License-Identifier: Apache-2.0
// When the convolution DMA asks for data and weights, and when they are in the buffer.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/conv/conv_config.h"
#include "models/layout/feature_cube.h"
#include "models/layout/pixel_format.h"
#include "models/link/read_stream.h"
#include "models/link/release_ledger.h"
#include "models/link/skid_stage.h"

namespace npuscope {

/// The room that a fetch finds in its part of the convolution buffer: what was promised before it,
/// what has been released since. Times only.
struct FetchRoom {
    const ReleaseLedger* releases = nullptr;
    std::uint64_t capacity = 0;  ///< entries
    std::uint64_t promised = 0;  ///< entries of earlier operations

    /// From when there is room for the first `entries` of this fetch; nothing as long as that is
    /// unknown. `total` of the result is all that had been released by then.
    std::optional<ReleaseLedger::Step> known_for(std::uint64_t entries) const {
        const std::uint64_t end = promised + entries;
        return releases->reached(end <= capacity ? 0 : end - capacity);
    }
};

// When feature data is requested, and when it is written into the convolution buffer. Requests: per
// grain of lines, surface by surface, in pieces of at most eight atoms that end at multiples of
// eight. Responses pass three stages that can stall and a last one that pauses after the end of a
// line and, in two of four surfaces, every other atom. What finds no room there waits in the
// interface, and then on the bus. A bus wider than an atom delivers several per beat; there the bus
// does not wait. Source: nv_small RTL, CDMA_dc.v, DMAIF_rdrsp.v; exact on 442 measured rows.

/// A data fetch in any mode: requests, and what is known of its entries.
class DataStream : public ReadStream {
 public:
    /// Write times of the first and the last entry that have arrived so far.
    Cycles first_entry() const { return first_entry_; }
    Cycles last_entry() const { return last_entry_; }
    /// A request waited until the buffer had room for it.
    bool waited_for_room() const { return waited_for_room_; }

 protected:
    /// When a request that can be made at `time` finds room, available from `room` on.
    Cycles with_room(Cycles time, Cycles room) {
        waited_for_room_ |= room > time;
        return std::max(time, room);
    }
    void written(Cycles time) {
        first_entry_ = first_entry_ == Cycles(0) ? time : first_entry_;
        last_entry_ = time;
    }

 private:
    Cycles first_entry_;
    Cycles last_entry_;
    bool waited_for_room_ = false;
};

/// The path of a beat of data from the bus to the stage that turns it into entries.
class ResponsePipe {
 public:
    /// `waits`: whether its stages can stall.
    explicit ResponsePipe(Cycles pipe, bool waits = true)
        : pipe_(pipe), multiplexer_(waits), first_(waits), second_(waits) {}

    /// When the next beat is at the end of the pipe.
    Cycles offer(Cycles arrival);
    /// Earliest arrival at which the next beat finds room in the interface.
    Cycles room() const;
    /// The offered beat is taken.
    void taken(Cycles time) { second_.passed(in_second_, at_end_, time); }

 private:
    Cycles pipe_;
    Cycles stood_;
    Cycles left_;
    SkidStage multiplexer_;
    SkidStage first_;
    SkidStage second_;
    Cycles in_second_;
    Cycles at_end_;
    std::array<Cycles, 4> read_{};  // from the interface; source: NV_NVDLA_MCIF_READ_eg.v, lat_fifo
    std::size_t place_ = 0;         // slot of the next beat
};

/// The path of a beat of feature data from the bus into the buffer.
class DataResponse {
 public:
    explicit DataResponse(const CdmaConfig& config)
        : pipe_(config.data_pipe, !config.surface_pairs), write_(config.data_write) {}

    /// Write time of the next beat; after a beat that `pauses` the last stage skips a cycle.
    Cycles take(Cycles arrival, bool pauses);
    /// The same where the beat allows `reads.count` entries to be read from the shared buffer, one
    /// per cycle. While reads take one atom of a surface, as the last ones of a beat may, beats are
    /// accepted every second cycle.
    /// source: NV_NVDLA_CDMA_dc.v of nvdlav1, rsp_rd_en, rsp_ch0_rd_one and is_blocking
    struct Reads {
        std::uint64_t count = 0;
        std::uint64_t ones = 0;
    };
    Cycles take(Cycles arrival, const Reads& reads);
    Cycles room() const { return pipe_.room(); }

 private:
    bool blocked(Cycles time) const {
        return time > begun_ && time <= ended_ && (time - begun_).value % 2 != 0;
    }

    ResponsePipe pipe_;
    Cycles write_;
    Cycles pause_;
    Cycles free_;   // for the next read
    Cycles begun_;  // latest reads of one atom without a gap between them
    Cycles ended_;
};

struct FeatureFetch {
    FeatureCube cube;
    std::uint32_t lines_per_request = 1;
    bool surfaces_in_line = false;  ///< 1 x 1 packed: all surfaces count as one line
    std::uint64_t entries_per_line = 1;
    Bytes beat{8};  ///< width of the bus
    Cycles start{};
    FetchRoom room{};
};

class FeatureStream : public DataStream {
 public:
    FeatureStream(const CdmaConfig& config, const FeatureFetch& fetch);

    std::uint64_t beats() const override { return beats_; }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override;
    void hold_back(std::span<Cycles> times, Cycles interval) override;

 private:
    /// A grain of lines of one surface.
    struct Position {
        std::uint32_t line = 0;
        std::uint32_t surface = 0;
        std::uint64_t atoms_left = 0;
    };
    std::uint32_t lines_of(const Position& position) const;
    std::uint64_t atoms_of(const Position& position) const;
    /// Number of lines requested up to and including those of the position.
    std::uint64_t lines_until(const Position& position) const;
    /// Moves to the next surface, to the same lines of the next batch, or to the next lines.
    /// source: NV_NVDLA_CDMA_dc.v of nvdlav1, req_batch_cnt
    void step(Position& position) const;
    bool begin_run();
    std::uint64_t first_atom(const Position& position) const {
        return fetch_.cube.line_address(position.surface, position.line).value /
               fetch_.cube.atom.value;
    }
    /// Beats that `atoms` neighbouring atoms take on the bus.
    std::uint64_t beats_of(std::uint64_t address, std::uint64_t atoms) const;
    std::uint64_t count_beats() const;
    /// Atoms of a request that are handed on together when the last of them has arrived: as many as
    /// a beat holds, counted from the beginning of the request where surfaces are paired.
    struct WideBeat {
        std::uint32_t atoms = 0;
        std::uint32_t more = 0;     ///< further ones that came with the same beat
        std::uint32_t surface = 0;  ///< within a pair
    };
    void add_wide_beats(std::uint64_t address, std::uint64_t atoms, std::uint32_t surface);
    void pass(Cycles time, std::uint32_t atoms);
    void pass_beat(Cycles time);
    /// Two surfaces are requested alternately, one request each, and read together; a last unpaired
    /// surface is requested by itself.
    /// source: NV_NVDLA_CDMA_dc.v of nvdlav1, req_ch_mode and req_atm_sel
    bool paired() const { return config_.surface_pairs && fetch_.beat > fetch_.cube.atom; }
    std::uint32_t surfaces_together(const Position& position) const {
        return position.surface + 1 < fetch_.cube.surfaces() ? 2 : 1;
    }
    bool begin_pair();
    std::optional<ReadBurst> next_of_pair();
    /// Requests have so few beats that their queue may fill up.
    bool queue_may_fill() const {
        return fetch_.beat <= fetch_.cube.atom && atoms_of(Position{}) < shortest_run;
    }
    void leave_queue(Cycles written);
    /// Takes `atoms` atoms of a beat; returns the reads that they allow.
    DataResponse::Reads pass_pairs(const WideBeat& beat, std::uint32_t atoms);
    /// True when the atom that arrives next is the last of its line.
    bool pass_atom();

    const CdmaConfig config_;
    FeatureFetch fetch_;
    Cycles time_;    // of the next request
    Cycles gap_{1};  // from the previous one to it
    std::uint64_t beats_ = 0;
    std::uint64_t beats_per_atom_ = 0;  // 0 where a beat holds several
    std::deque<WideBeat> wide_;         // beats in flight, where a beat holds several atoms
    Position request_;                  // what is requested next
    std::uint64_t address_ = 0;         // in atoms
    /// What remains to be requested of a surface's lines.
    struct Piece {
        std::uint64_t address = 0;  // in atoms
        std::uint64_t left = 0;
    };
    std::array<Piece, 2> pair_{};
    std::uint32_t turn_ = 0;                  // index in the pair
    Position response_;                       // what arrives next; of a pair, what is read next
    std::array<std::uint64_t, 2> waiting_{};  // arrived atoms of a pair that were not read yet
    std::uint32_t column_ = 0;
    std::uint64_t beat_of_atom_ = 0;
    std::uint64_t passed_early_ = 0;  // beats, before they were reported
    /// Runs of this many atoms have requests of two or more beats on average: all that may be in
    /// flight have room in the queue.
    static constexpr std::uint64_t shortest_run = 4;
    bool queued_ = false;                 // requests are tracked through their queue
    std::deque<std::uint64_t> in_queue_;  // atoms of each that have not passed
    std::deque<Cycles> left_queue_;       // of those whose slot has not been reused
    DataResponse pipeline_;
};

/// When weights are requested, and when each kernel group is complete in the convolution buffer.
/// The request of a piece of eight beats waits until what was requested and not yet released fits
/// into the weight banks plus one piece. Source: nv_small RTL, CDMA_wt.v, wt_req_overflow; exact on
/// 442 measured rows.
struct WeightFetch {
    Address address;
    std::vector<std::uint64_t> group_ends;  ///< beats up to the end of each kernel group
    Bytes beat{8};
    std::uint64_t beats_per_entry = 1;
    Cycles start{};
    FetchRoom room{};
};

/// A fetch of weights from any surfaces, kernel group by kernel group.
class GroupStream : public ReadStream {
 public:
    std::uint64_t beats() const override { return ends_.back(); }
    void arrived(std::span<const Cycles> times) override;

    /// Beats up to the end of a group.
    std::uint64_t group_end(std::size_t group) const { return ends_[group]; }
    /// When the group is complete in the buffer; its last beat has arrived.
    Cycles group_written(std::size_t group) const { return written_[group]; }
    /// The channel stalled before this group because there was no room for it.
    bool waited_for_room(std::size_t group) const { return waited_[group]; }
    /// How many of the last groups can be left out, or any smaller multiple of `step`, without
    /// changing the stream's order of requests.
    struct Removable {
        std::size_t groups = 0;
        std::size_t step = 1;
    };
    virtual Removable removable() const { return {}; }
    /// State counted from the end of the first `begun` groups, those that the sequencer has begun.
    virtual void add_state(Fingerprint& /*state*/, std::size_t /*begun*/) const {}
    /// Leaves out `groups` of these, with `entries` entries in the buffer, which count as released;
    /// returns the number of beats by which the stream gets shorter.
    virtual std::uint64_t leave_out(std::size_t /*groups*/, std::uint64_t /*entries*/) { return 0; }

 protected:
    /// `ends`: beats up to the end of each kernel group.
    GroupStream(const CdmaConfig& config, std::vector<std::uint64_t> ends, std::size_t groups)
        : config_(config), ends_(std::move(ends)), waited_(groups) {}

    const CdmaConfig config_;
    std::vector<std::uint64_t> ends_;
    std::uint64_t arrived_ = 0;
    Cycles last_arrival_;
    std::vector<Cycles> written_;
    std::vector<bool> waited_;
};

class WeightStream : public GroupStream {
 public:
    WeightStream(const CdmaConfig& config, WeightFetch fetch);

    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override;
    Removable removable() const override;
    void add_state(Fingerprint& state, std::size_t begun) const override;
    std::uint64_t leave_out(std::size_t groups, std::uint64_t entries) override;

 private:
    std::uint64_t piece_end(std::uint64_t beat) const;
    /// A run holds whole pieces, because requests do not end with groups.
    /// source: NV_NVDLA_CDMA_wt.v, dma_req_size
    std::uint64_t next_run_end();
    /// Beats among those arriving now before which the channel stalled for lack of room.
    void note_gaps(std::span<const Cycles> times);

    WeightFetch fetch_;
    std::uint64_t requested_ = 0;
    std::size_t group_ = 0;  // in whose last piece the run ends
    std::uint64_t run_begin_ = 0;
    std::uint64_t run_end_ = 0;
    /// A request that had to wait for room.
    struct Limited {
        std::uint64_t beat = 0;  ///< its first one
        Cycles room;             ///< since when there is room
    };
    std::vector<Limited> limited_;
    Cycles way_;  // from the first request to its first beat
    std::size_t limits_passed_ = 0;
};

}  // namespace npuscope
