// SPDX-License-Identifier: Apache-2.0
// One of the SDP's operand DMAs (BRDMA, NRDMA, ERDMA): fetches a stage's operands at launch without
// time and reads the same bytes in time, ahead of the stage by as much as its FIFO holds.
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

    /// The bytes of one stage's surface, there when the value thread has come so far.
    LateBytes fetch_late(const SdpOperandFetch& fetch, const Purpose& purpose);
    /// The values that they hold.
    static SdpStageOperands unpack(const SdpOperandFetch& fetch,
                                   std::span<const std::uint8_t> bytes);
    /// The values that meet a part of one line, as far as they have arrived; `part` lies in the shape of
    /// the data.
    SdpStageOperands fetch_part(const SdpOperandFetch& fetch, const TensorPart& part,
                                const Purpose& purpose);
    /// Starts a stream of reads; `taken` says when each atom of the operation was taken.
    void open(const SdpConfig& config, SdpStreamPlan plan, const std::vector<Cycles>& taken,
              const Purpose& purpose);
    /// Of each atom the stage uses a beat so many cycles after the one before.
    void use_beats_apart(std::uint64_t beats, Cycles apart) {
        beats_of_atom_ = beats;
        apart_ = apart;
    }
    /// Nothing to read in this operation.
    void close() { stream_.reset(); }
    bool active() const { return stream_.has_value(); }

    /// Waits until it is known when the beats for an atom arrive; the answer is the time from which
    /// on each is there when it is used.
    Cycles arrival(Activity& activity, std::uint64_t atom);
    /// Atoms from this one on that need the beats which were asked for last, and no more.
    std::uint64_t alike(std::uint64_t atom) const { return stream_->alike(atom); }
    /// It is known when the beats for an atom arrive.
    bool has_issued(std::uint64_t atom) const { return stream_->issued(stream_->beats_for(atom)); }
    /// Its stream can serve so many atoms fewer.
    bool can_leave_out(std::uint64_t atoms) const {
        return stream_->without_last(atoms).has_value();
    }
    void leave_out(std::uint64_t atoms);
    void add_state(Fingerprint& state, std::uint64_t atom) const {
        stream_->add_state(state, atom, port.longest_burst());
    }
    /// Beats of the stream's last atoms, so many; 0 once it has asked for all, nothing where they
    /// cannot be left out.
    std::optional<std::uint64_t> beats_of_last(std::uint64_t atoms) const {
        const auto without = stream_->without_last(atoms);
        return without ? std::optional(without->beats) : std::nullopt;
    }
    /// Waits until the stream has been issued whole.
    void finish(Activity& activity);

 private:
    std::optional<SdpStream> stream_;
    std::vector<ByteRun> left_out_;  // of the stream
    std::uint64_t beats_of_atom_ = 1;
    Cycles apart_;
};

/// How an operand's bytes are read. `lanes`: channels of one of the stages' atoms, a whole number
/// of surfaces or a part of one; lines are read once for each part. `start`: first request.
SdpStreamPlan operand_plan(const OperandSurface& surface, std::uint32_t lanes, Bytes bus_width,
                           Cycles start);
/// How a source cube is read. `surfaces`: so many of its surfaces make one of the stages' atoms.
SdpStreamPlan source_plan(const FeatureCube& cube, std::uint32_t surfaces, Bytes bus_width,
                          Cycles start);

}  // namespace npuscope
