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
    timed_.info.unit = &unit_;
    untimed_.info.unit = &unit_;
}

tlm_utils::simple_initiator_socket<DmaPort>& DmaPort::add_secondary() {
    return secondary_.emplace((socket_name_ + "_secondary").c_str());
}

void DmaPort::Transaction::prepare(tlm::tlm_command command, Address address, std::size_t bytes,
                                   const Purpose& purpose) {
    payload.set_command(command);
    payload.set_address(address.value);
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    payload.set_byte_enable_ptr(nullptr);
    payload.set_dmi_allowed(false);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    info.surface = &purpose.surface;
    info.operation = &purpose.operation;
}

void DmaPort::transport_now(tlm::tlm_command command, Address address,
                            std::span<std::uint8_t> bytes, const Purpose& purpose, AccessKind kind,
                            const LateBytes* late) {
    untimed_.prepare(command, address, bytes.size(), purpose);
    untimed_.payload.set_data_ptr(bytes.data());
    untimed_.info.kind = kind;
    untimed_.info.late = late != nullptr ? &late->held : nullptr;
    const std::size_t moved = way(purpose).transport_dbg(untimed_.payload);
    if (command == tlm::TLM_READ_COMMAND && moved < bytes.size()) {
        std::ranges::fill(bytes.subspan(moved), std::uint8_t{0});  // an address that is refused
    }
}

void DmaPort::fetch(Address address, std::span<std::uint8_t> bytes, const Purpose& purpose) {
    if (values_arrive_) {
        arrived_.get(address, bytes);
        return;
    }
    fetch_ahead(address, bytes, purpose);
}

void DmaPort::fetch_ahead(Address address, std::span<std::uint8_t> bytes, const Purpose& purpose) {
    transport_now(tlm::TLM_READ_COMMAND, address, bytes, purpose, AccessKind::Claim);
}

void DmaPort::fetch_late(Address address, const LateBytes& all, std::span<std::uint8_t> part,
                         const Purpose& purpose) {
    read_late(address, all, part, purpose, AccessKind::Claim);
}

void DmaPort::peek_late(Address address, const LateBytes& all, std::span<std::uint8_t> part,
                        const Purpose& purpose) {
    read_late(address, all, part, purpose, AccessKind::Functional);
}

void DmaPort::read_late(Address address, const LateBytes& all, std::span<std::uint8_t> part,
                        const Purpose& purpose, AccessKind kind) {
    if (values_arrive_) {
        arrived_.get(address, part);
        return;
    }
    transport_now(tlm::TLM_READ_COMMAND, address, part, purpose, kind, &all);
}

void DmaPort::release(const ByteRun& run) {
    if (stream_purpose_.values && run.bytes > Bytes(0)) {
        untimed_.prepare(tlm::TLM_IGNORE_COMMAND, run.address, run.bytes.value, stream_purpose_);
        untimed_.payload.set_data_ptr(nullptr);
        untimed_.info.kind = AccessKind::Release;
        untimed_.info.late = nullptr;
        way(stream_purpose_).transport_dbg(untimed_.payload);
    }
}

void DmaPort::store(Address address, const LateBytes& all, std::span<std::uint8_t> part,
                    const Purpose& purpose) {
    transport_now(tlm::TLM_WRITE_COMMAND, address, part, purpose, AccessKind::Functional, &all);
}

tlm::tlm_fw_transport_if<>& DmaPort::way(const Purpose& purpose) {
    if (purpose.secondary && secondary_) {
        return *secondary_->operator->();
    }
    return *primary.operator->();
}

Cycles DmaPort::transport(Activity& activity, const Purpose& purpose, Cycles there) {
    timed_.info.kind = AccessKind::Timed;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const Cycles since = std::max(now(), there);
    way(purpose).b_transport(timed_.payload, delay);
    activity.count_blocked({since, std::max(since, now())}, "memory interface");
    return now() + to_cycles(delay);
}

Cycles DmaPort::read(Activity& reader, Address address, Bytes bytes, const Purpose& purpose) {
    timed_.prepare(tlm::TLM_READ_COMMAND, address, bytes.value, purpose);
    scratch_.resize(std::max<std::size_t>(scratch_.size(), bytes.value));
    timed_.payload.set_data_ptr(scratch_.data());
    return transport(reader, purpose, Cycles(0));
}

void DmaPort::enable(const Pieces& pieces) {
    if (pieces.step == Bytes(0)) {
        return;
    }
    enables_.assign(pieces.step.value, TLM_BYTE_DISABLED);
    std::fill_n(enables_.begin(), pieces.written.value, TLM_BYTE_ENABLED);
    timed_.payload.set_byte_enable_ptr(enables_.data());
    timed_.payload.set_byte_enable_length(static_cast<unsigned>(enables_.size()));
}

WriteResponse DmaPort::write(Activity& writer, const OutgoingRun& run, const Purpose& purpose) {
    timed_.prepare(tlm::TLM_WRITE_COMMAND, run.address, run.bytes.size(), purpose);
    timed_.info.first_beat = run.first == Cycles(0) ? now() : run.first;
    timed_.info.beat_step = run.interval;
    timed_.info.last_beat = run.last;
    timed_.info.request = run.request.value_or(run.address);
    timed_.info.late = run.late != nullptr ? &run.late->held : nullptr;
    timed_.info.beats = run.beats;
    // TLM-2.0 has one pointer for both directions; a target does not write through that of a write.
    timed_.payload.set_data_ptr(const_cast<std::uint8_t*>(run.bytes.data()));
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
