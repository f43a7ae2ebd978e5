// SPDX-License-Identifier: Apache-2.0
// One client's reads on their way through the memory interface: it hands the client's bursts to the
// channel and turns each run of memory into one transaction, which tells the memory's pace.
#pragma once

#include <functional>
#include <string>
#include <tlm>
#include <vector>

#include "models/base/statistics.h"
#include "models/link/access_info.h"
#include "models/link/dma_port.h"
#include "models/mcif/mcif_timing.h"

namespace npuscope {

class ReadLane : public ChannelSource {
 public:
    /// Sends a transaction to memory and says when its answer is there.
    using Transport = std::function<void(tlm::tlm_generic_payload&, sc_core::sc_time&)>;

    ReadLane(unsigned client, Bytes bus_width, Transport transport);
    ~ReadLane() override { payload_.clear_extension(&info_); }
    ReadLane(const ReadLane&) = delete;
    ReadLane& operator=(const ReadLane&) = delete;

    void open(ReadStream& stream, const StreamLabel& label);
    const ClientTraffic& traffic() const { return traffic_; }

    std::optional<ChannelBurst> next_burst() override;
    void stalled(Cycles cycles) override { stream_->stalled(cycles); }
    void arrived(std::span<const Cycles> times) override { stream_->arrived(times); }
    Cycles beat_ready(Cycles asked) override;
    Cycles ready_after(std::uint64_t count) const override { return stream_->ready_after(count); }

 private:
    void begin_run(const ByteRun& run);

    Bytes bus_width_;
    Transport transport_;
    ReadStream* stream_ = nullptr;
    ClientTraffic traffic_;
    tlm::tlm_generic_payload payload_;
    AccessInfo info_;
    std::vector<std::uint8_t> scratch_;  // a foreign memory may fill it
    Address next_beat_;                  // of the run, where memory times each beat
    Cycles latency_;
    Cycles interval_{1};
};

}  // namespace npuscope
