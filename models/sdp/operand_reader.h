// SPDX-License-Identifier: Apache-2.0
// One of the SDP's operand DMAs (BRDMA, NRDMA, ERDMA): fetches a stage's operands at launch in zero
// time and reads the same bytes in simulated time, as far ahead of the stage as its FIFO holds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/link/dma_port.h"
#include "models/sdp/sdp_job.h"
#include "models/sdp/sdp_math.h"
#include "models/sdp/sdp_timing.h"

namespace npuscope {

class OperandReader {
 public:
    explicit OperandReader(const std::string& client) : port(client, "sdp") {}

    DmaPort port;

    /// The bytes of one stage's surface, there once the value thread has got to them.
    LateBytes fetch_late(const SdpOperandFetch& fetch, const Purpose& purpose);
    /// The values that they hold.
    static SdpStageOperands unpack(const SdpOperandFetch& fetch,
                                   std::span<const std::uint8_t> bytes);
    /// The values that are combined with a part of one line, as far as they have arrived; `part` is
    /// in the shape of the data.
    SdpStageOperands fetch_part(const SdpOperandFetch& fetch, const TensorPart& part,
                                const Purpose& purpose);
    /// Starts a stream of reads; `taken`: when each atom of the operation was taken.
    void open(const SdpConfig& config, SdpStreamPlan plan, const std::vector<Cycles>& taken,
              const Purpose& purpose);
    /// The stage uses an atom's beats `apart` cycles after one another.
    void use_beats_apart(std::uint64_t beats, Cycles apart) {
        beats_of_atom_ = beats;
        apart_ = apart;
    }
    /// Nothing to read in this operation.
    void close() { stream_.reset(); }
    bool active() const { return stream_.has_value(); }

    /// Waits until it is known when the beats for an atom arrive; returns the time from which each
    /// of them is available when it is used.
    Cycles arrival(Activity& activity, std::uint64_t atom);
    /// Atoms from this one on that need only the beats requested last.
    std::uint64_t alike(std::uint64_t atom) const { return stream_->alike(atom); }
    /// It is known when the beats for an atom arrive.
    bool has_issued(std::uint64_t atom) const { return stream_->issued(stream_->beats_for(atom)); }
    /// Its stream can serve `atoms` atoms fewer.
    bool can_leave_out(std::uint64_t atoms) const {
        return stream_->without_last(atoms).has_value();
    }
    void leave_out(std::uint64_t atoms);
    void add_state(Fingerprint& state, std::uint64_t atom) const {
        stream_->add_state(state, atom, port.longest_burst());
    }
    /// Beats of the stream's last `atoms` atoms; 0 once it has requested all, nothing if they
    /// cannot be left out.
    std::optional<std::uint64_t> beats_of_last(std::uint64_t atoms) const {
        const auto without = stream_->without_last(atoms);
        return without ? std::optional(without->beats) : std::nullopt;
    }
    /// Waits until the entire stream has been issued.
    void finish(Activity& activity);

 private:
    std::optional<SdpStream> stream_;
    std::vector<ByteRun> left_out_;  // of the stream
    std::uint64_t beats_of_atom_ = 1;
    Cycles apart_;
};

/// How an operand's bytes are read. `lanes`: channels of an atom in the stages, a whole number of
/// surfaces or a part of one; lines are read once for each part. `start`: first request.
SdpStreamPlan operand_plan(const OperandSurface& surface, std::uint32_t lanes, Bytes bus_width,
                           Cycles start);
/// How a source cube is read. `surfaces`: how many of its surfaces make up an atom in the stages.
SdpStreamPlan source_plan(const FeatureCube& cube, std::uint32_t surfaces, Bytes bus_width,
                          Cycles start);

}  // namespace npuscope
