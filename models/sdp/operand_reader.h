// SPDX-License-Identifier: Apache-2.0
// One of the SDP's operand DMAs (BRDMA, NRDMA, ERDMA): fetches a stage's operands at launch without
// time and reads the same bytes in time, surface by surface, ahead of the stage by as much as its
// FIFO holds.
#pragma once

#include <cstdint>
#include <string>

#include "models/link/channel.h"
#include "models/link/dma_port.h"
#include "models/link/timed_counter.h"
#include "models/sdp/sdp_job.h"
#include "models/sdp/sdp_math.h"

namespace npuscope {

class OperandReader {
 public:
    explicit OperandReader(const std::string& client);

    DmaPort port;

    /// Values of one stage, now; the read in time starts as well.
    SdpStageOperands launch(Activity& activity, const SdpOperandFetch& fetch,
                            const Purpose& purpose);
    /// Waits until the operands of `atoms` atoms are there; per channel one serves a whole surface.
    void take(Activity& activity, std::uint64_t atoms, std::uint32_t surface);
    /// No operands from memory in this operation.
    void idle() { spread_.reset(); }

    /// Body of the reader's thread: one operand surface.
    void read_surface(Activity& activity);

 private:
    struct Read {
        SdpOperandFetch fetch;
        Purpose purpose;
    };
    void read_in_time(Activity& activity, const Read& read, const ByteRun& run);

    Channel<Read> jobs_;
    TimedCounter ready_;  // atoms whose operands have arrived
    TimedCounter room_;   // atoms that the FIFO still takes
    std::optional<OperandSpread> spread_;
    std::uint32_t surfaces_taken_ = 0;
};

}  // namespace npuscope
