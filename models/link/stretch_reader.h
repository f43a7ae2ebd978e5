// SPDX-License-Identifier: Apache-2.0
// Reads one stretch of memory after the other through a port of its own, into a buffer from which
// a unit takes the beats in order.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "models/link/byte_stream.h"
#include "models/link/dma_port.h"

namespace npuscope {

class StretchReader {
 public:
    /// `client` and `unit` as DmaPort has them; `name` of the port where a client has several.
    StretchReader(const std::string& client, const std::string& unit, const std::string& name)
        : port(client, unit, name) {}

    DmaPort port;

    /// Begins to read; the stretch before has been taken whole. Requests begin in the next cycle.
    void open(const ByteStreamSetup& setup, const ByteRun& stretch, const Purpose& purpose);

    /// When a beat that arrives at a time is taken, not before that and not in the past.
    using Pace = std::function<Cycles(Cycles arrival)>;
    /// Takes the beats that hold the first `bytes` bytes, waiting only until all are on their way;
    /// the time at which the last of them was taken, now where there was none.
    Cycles take(Activity& activity, Bytes bytes, const Pace& pace);
    /// The same for beats that are taken as they arrive.
    Cycles take(Activity& activity, Bytes bytes) {
        return take(activity, bytes, [](Cycles arrival) { return arrival; });
    }

 private:
    std::uint64_t buffer_ = 1;
    std::optional<ByteStream> stream_;
};

}  // namespace npuscope
