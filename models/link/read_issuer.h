// SPDX-License-Identifier: Apache-2.0
// What the memory interface offers a DMA beside its socket: it issues a stream of reads by itself,
// beat by beat between all clients, and the DMA waits for the moments that it needs to know.
#pragma once

#include <string>
#include <systemc>

#include "models/link/activity.h"
#include "models/link/read_stream.h"

namespace npuscope {

/// Names what a stream is for, in findings. The strings live as long as the stream is open.
struct StreamLabel {
    const std::string* unit = nullptr;
    const std::string* surface = nullptr;
    const std::string* operation = nullptr;
};

class ReadIssuer {
 public:
    virtual ~ReadIssuer() = default;

    /// Begins to issue a stream; the client's stream before has been issued whole. No burst is
    /// ready in this very cycle or before.
    virtual void open(unsigned client, ReadStream& stream, const StreamLabel& label) = 0;
    /// Returns when the first `beats` beats of the client's stream have been issued: their arrival
    /// is known then. `room`: notified when somebody gives way to a stream that has to wait; null
    /// where the caller himself is the one who does.
    virtual void wait_issued(Activity& activity, unsigned client, std::uint64_t beats,
                             const sc_core::sc_event* room) = 0;
};

}  // namespace npuscope
