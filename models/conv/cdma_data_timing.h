// SPDX-License-Identifier: Apache-2.0
// When feature data is requested, and when it is written into the convolution buffer. Requests: for
// a grain of lines, one surface after the other, pieces of at most eight atoms that end at
// multiples of eight. Responses pass three stages that can stall and a last one that pauses after
// the end of a line and, in two of four surfaces, every other atom. Not modelled: the stall that
// reaches back into the bus. A bus wider than an atom brings several in a beat. Source: nv_small
// RTL, CDMA_dc.v, DMAIF_rdrsp.v; exact on 442 measured rows.
#pragma once

#include <deque>

#include "models/conv/cdma_config.h"
#include "models/conv/fetch_room.h"
#include "models/layout/feature_cube.h"
#include "models/link/read_stream.h"

namespace npuscope {

/// A data fetch, whatever the mode: requests, and what is known of its entries.
class DataStream : public ReadStream {
 public:
    /// Write of the first and of the last entry that arrived so far.
    Cycles first_entry() const { return first_entry_; }
    Cycles last_entry() const { return last_entry_; }

 protected:
    void written(Cycles time) {
        first_entry_ = first_entry_ == Cycles(0) ? time : first_entry_;
        last_entry_ = time;
    }

 private:
    Cycles first_entry_;
    Cycles last_entry_;
};

/// A pipe stage with a spare register: after any stall of its output it takes nothing for a cycle.
class SkidStage {
 public:
    /// The first cycle from `offered` on in which the stage takes something in.
    Cycles accepts(Cycles offered) const;
    /// When what it takes at `time` stands at its output.
    Cycles output(Cycles time) const { return std::max(time, last_.left) + Cycles(1); }
    void passed(Cycles stood, Cycles left) {
        before_ = last_;
        last_ = {stood, left};
    }

 private:
    struct Beat {
        Cycles stood;
        Cycles left;
    };
    Beat last_;
    Beat before_;
};

/// The way of a beat of feature data from the bus into the buffer.
class DataResponse {
 public:
    explicit DataResponse(const CdmaConfig& config)
        : pipe_(config.data_pipe), write_(config.data_write) {}

    /// Write time of the next beat; after a beat that `pauses` the last stage skips a cycle.
    Cycles take(Cycles arrival, bool pauses);

 private:
    Cycles pipe_;
    Cycles write_;
    Cycles pipe_stood_;
    Cycles pipe_left_;
    SkidStage multiplexer_;
    SkidStage first_;
    SkidStage second_;
    Cycles pause_;
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

 private:
    /// A grain of lines of one surface.
    struct Position {
        std::uint32_t line = 0;
        std::uint32_t surface = 0;
        std::uint64_t atoms_left = 0;
    };
    std::uint32_t lines_of(const Position& position) const;
    std::uint64_t atoms_of(const Position& position) const;
    /// On to the next surface, or to the next lines.
    void step(Position& position) const;
    bool begin_run();
    std::uint64_t first_atom(const Position& position) const {
        return fetch_.cube.line_address(position.surface, position.line).value /
               fetch_.cube.atom.value;
    }
    /// Beats that so many neighbouring atoms take on the bus.
    std::uint64_t beats_of(std::uint64_t address, std::uint64_t atoms) const;
    std::uint64_t count_beats() const;
    /// True when the atom that arrives next is the last of its line.
    bool pass_atom();

    const CdmaConfig config_;
    FeatureFetch fetch_;
    Cycles time_;  // of the next request
    std::uint64_t beats_ = 0;
    std::deque<std::uint32_t> wide_;  // atoms of each beat under way, where a beat holds several
    Position request_;                // what is asked for next
    std::uint64_t address_ = 0;       // in atoms
    Position response_;               // what arrives next
    std::uint32_t column_ = 0;
    std::uint64_t beat_of_atom_ = 0;
    DataResponse pipeline_;
};

}  // namespace npuscope
