// SPDX-License-Identifier: Apache-2.0
#include "models/link/dma_port.h"

#include <algorithm>

#include "models/base/check.h"

namespace npuscope {

DmaPort::DmaPort(const std::string& client, const std::string& unit, const std::string& name)
    : primary(((name.empty() ? client : name) + "_primary").c_str()),
      client_(client),
      unit_(unit),
      socket_name_(name.empty() ? client : name) {
    info_.unit = &unit_;
    payload_.set_extension(&info_);
}

tlm_utils::simple_initiator_socket<DmaPort>& DmaPort::add_secondary() {
    return secondary_.emplace((socket_name_ + "_secondary").c_str());
}

void DmaPort::prepare(tlm::tlm_command command, Address address, std::size_t bytes,
                      const Purpose& purpose) {
    payload_.set_command(command);
    payload_.set_address(address.value);
    payload_.set_data_length(static_cast<unsigned>(bytes));
    payload_.set_streaming_width(static_cast<unsigned>(bytes));
    payload_.set_byte_enable_ptr(nullptr);
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    info_.surface = &purpose.surface;
    info_.operation = &purpose.operation;
}

void DmaPort::copy(Address address, std::span<std::uint8_t> bytes, const Purpose& purpose,
                   AccessKind kind) {
    prepare(tlm::TLM_READ_COMMAND, address, bytes.size(), purpose);
    payload_.set_data_ptr(bytes.data());
    info_.kind = kind;
    way(purpose).transport_dbg(payload_);
}

void DmaPort::fetch(Address address, std::span<std::uint8_t> bytes, const Purpose& purpose) {
    if (values_arrive_) {
        arrived_.get(address, bytes);
        return;
    }
    fetch_ahead(address, bytes, purpose);
}

void DmaPort::fetch_ahead(Address address, std::span<std::uint8_t> bytes, const Purpose& purpose) {
    copy(address, bytes, purpose, AccessKind::Claim);
}

void DmaPort::peek(Address address, std::span<std::uint8_t> bytes, const Purpose& purpose) {
    if (values_arrive_) {
        arrived_.get(address, bytes);
        return;
    }
    copy(address, bytes, purpose, AccessKind::Functional);
}

tlm::tlm_fw_transport_if<>& DmaPort::way(const Purpose& purpose) {
    if (purpose.secondary && secondary_) {
        return *secondary_->operator->();
    }
    return *primary.operator->();
}

Cycles DmaPort::transport(Activity& activity, const Purpose& purpose, Cycles there) {
    info_.kind = AccessKind::Timed;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const Cycles since = std::max(now(), there);
    way(purpose).b_transport(payload_, delay);
    activity.count_blocked({since, std::max(since, now())}, "memory interface");
    return now() + to_cycles(delay);
}

Cycles DmaPort::read(Activity& reader, Address address, Bytes bytes, const Purpose& purpose) {
    prepare(tlm::TLM_READ_COMMAND, address, bytes.value, purpose);
    scratch_.resize(std::max<std::size_t>(scratch_.size(), bytes.value));
    payload_.set_data_ptr(scratch_.data());
    return transport(reader, purpose, Cycles(0));
}

void DmaPort::enable(const Pieces& pieces) {
    if (pieces.step == Bytes(0)) {
        return;
    }
    enables_.assign(pieces.step.value, TLM_BYTE_DISABLED);
    std::fill_n(enables_.begin(), pieces.written.value, TLM_BYTE_ENABLED);
    payload_.set_byte_enable_ptr(enables_.data());
    payload_.set_byte_enable_length(static_cast<unsigned>(enables_.size()));
}

WriteResponse DmaPort::write(Activity& writer, const OutgoingRun& run, const Purpose& purpose) {
    prepare(tlm::TLM_WRITE_COMMAND, run.address, run.bytes.size(), purpose);
    info_.first_beat = run.first == Cycles(0) ? now() : run.first;
    info_.beat_step = run.interval;
    info_.last_beat = run.last;
    info_.request = run.request.value_or(run.address);
    // TLM-2.0 has one pointer for both directions; a target does not write through that of a write.
    payload_.set_data_ptr(const_cast<std::uint8_t*>(run.bytes.data()));
    enable(run.pieces);
    const Cycles response = transport(writer, purpose, std::max(run.first, run.last));
    if (!awaits_answers()) {
        return {response};
    }
    const Door& way_out = door(purpose);
    return {response, way_out.issuer, way_out.client, way_out.issuer->writes_sent(way_out.client)};
}

const DmaPort::Door& DmaPort::door(const Purpose& purpose) const {
    const Door& door = doors_[purpose.secondary && doors_[1].issuer != nullptr ? 1 : 0];
    NPU_CHECK(door.issuer != nullptr, "the port of " + client_ + " leads to no memory interface");
    return door;
}

void DmaPort::open(ReadStream& stream, const Purpose& purpose) {
    stream_purpose_ = purpose;
    arrived_.clear();
    const Door& way_out = door(purpose);
    way_out.issuer->open(way_out.client, stream,
                         {&unit_, &stream_purpose_.surface, &stream_purpose_.operation});
}

void DmaPort::wait_issued(Activity& reader, std::uint64_t beats, const sc_core::sc_event* room,
                          WaitKind kind) {
    const Door& way_out = door(stream_purpose_);
    way_out.issuer->wait_issued(reader, way_out.client, beats, room, kind);
}

}  // namespace npuscope
