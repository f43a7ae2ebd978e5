// SPDX-License-Identifier: Apache-2.0
#include "models/mcif/read_lane.h"

#include <algorithm>

#include "models/link/clock.h"

namespace npuscope {

ReadLane::ReadLane(unsigned client, Bytes bus_width, Transport transport)
    : bus_width_(bus_width), transport_(std::move(transport)) {
    info_.kind = AccessKind::Timed;
    info_.client = client;
    payload_.set_command(tlm::TLM_READ_COMMAND);
    payload_.set_byte_enable_ptr(nullptr);
    payload_.set_extension(&info_);
}

void ReadLane::open(ReadStream& stream, const StreamLabel& label) {
    stream_ = &stream;
    info_.unit = label.unit;
    info_.surface = label.surface;
    info_.operation = label.operation;
}

void ReadLane::begin_run(const ByteRun& run) {
    scratch_.resize(std::max<std::size_t>(scratch_.size(), run.bytes.value));
    payload_.set_address(run.address.value);
    payload_.set_data_ptr(scratch_.data());
    payload_.set_data_length(static_cast<unsigned>(run.bytes.value));
    payload_.set_streaming_width(static_cast<unsigned>(run.bytes.value));
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    info_.beat_interval = Cycles(1);
    info_.timer = nullptr;
    next_beat_ = Address(run.address.value / bus_width_.value * bus_width_.value);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    transport_(payload_, delay);
    const Cycles answer = std::max(to_cycles(delay), Cycles(1));
    latency_ = answer - Cycles(1);
    interval_ = std::max(info_.beat_interval, Cycles(1));
}

Cycles ReadLane::beat_ready(Cycles asked) {
    const Address beat = next_beat_;
    next_beat_ = next_beat_ + bus_width_;
    return info_.timer->read_beat(beat, asked);
}

std::optional<ChannelBurst> ReadLane::next_burst() {
    const std::optional<ReadBurst> burst = stream_->next_burst();
    if (!burst) {
        return std::nullopt;
    }
    if (burst->run) {
        begin_run(*burst->run);
        traffic_.read_bytes += burst->run->bytes;
    }
    traffic_.read_beats += burst->beats;
    return ChannelBurst{burst->ready, burst->beats, latency_, interval_, info_.timer != nullptr};
}

}  // namespace npuscope
