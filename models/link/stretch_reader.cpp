// SPDX-License-Identifier: Apache-2.0
#include "models/link/stretch_reader.h"

#include <algorithm>

#include "models/link/clock.h"

namespace npuscope {

void StretchReader::open(const ByteStreamSetup& setup, const ByteRun& stretch,
                         const Purpose& purpose) {
    ByteStreamSetup begun = setup;
    begun.first = now() + Cycles(1);
    buffer_ = setup.buffer;
    stream_.emplace(begun, stretch);
    port.open(*stream_, purpose);
}

Cycles StretchReader::take(Activity& activity, Bytes bytes, const Pace& pace) {
    const std::uint64_t wanted = bytes == Bytes(0) ? 0 : stream_->beats_until(bytes);
    Cycles last = now();
    while (stream_->taken() < wanted) {
        const std::uint64_t end = std::min(wanted, stream_->taken() + buffer_);
        port.wait_issued(activity, end);
        while (stream_->taken() < end) {
            last = pace(std::max(stream_->arrival(stream_->taken()), now()));
            stream_->take(last);
        }
    }
    return last;
}

}  // namespace npuscope
