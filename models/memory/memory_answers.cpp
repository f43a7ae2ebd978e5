// SPDX-License-Identifier: Apache-2.0
// Transactions by nb_transport: when each is answered, by the memory itself or by one outside.
#include <algorithm>
#include <iterator>

#include "models/base/check.h"
#include "models/link/clock.h"
#include "models/memory/memory.h"

namespace npuscope {

tlm::tlm_sync_enum Memory::nb_transport_fw(int id, tlm::tlm_generic_payload& payload,
                                           tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) {
        return tlm::TLM_COMPLETED;
    }
    auto* info = payload.get_extension<AccessInfo>();
    if (info != nullptr && payload.is_read()) {
        claims_.consume(info->client, Address(payload.get_address()),
                        Bytes(payload.get_data_length()));
    }
    phase = tlm::END_REQ;
    if (outside_ != nullptr) {
        asked_by_[&payload] = id;
        outside_->begin(id, payload);
        return tlm::TLM_UPDATED;
    }
    const Cycles sent = now() + to_cycles(delay);
    if (!admit(payload, info)) {
        respond_at(sent + Cycles(1), payload, id);
        return tlm::TLM_UPDATED;
    }
    move_bytes(payload, info);
    Cycles left = sent;  // just before, where the port learns late that it could have asked
    if (info != nullptr) {
        left = info->asked;
        if (info->timer != nullptr && payload.is_read()) {
            left = info->timer->read_beat(Address(payload.get_address()),
                                          Bytes(payload.get_data_length()), left);
        }
    }
    const Cycles answered = std::max(left + answer_time(payload, info, left), sent);
    respond_at(answered, payload, id);
    return tlm::TLM_UPDATED;
}

void Memory::respond_at(Cycles time, tlm::tlm_generic_payload& payload, int port) {
    // most come last: the latency is one for all
    auto place = responses_.end();
    while (place != responses_.begin() && std::prev(place)->time > time) {
        --place;
    }
    const bool first = place == responses_.begin();
    responses_.insert(place, {time, &payload, port});
    if (first) {
        due_.notify(to_time(time - now()));  // an earlier one than was awaited takes its place
    }
}

void Memory::respond() {
    while (!responses_.empty() && responses_.front().time <= now()) {
        const Response response = responses_.front();
        responses_.pop_front();
        give(*response.payload, response.port);
    }
    if (!responses_.empty()) {
        due_.notify(to_time(responses_.front().time - now()));
    }
}

void Memory::answer(tlm::tlm_generic_payload& payload) {
    const auto asked = asked_by_.extract(&payload);
    NPU_CHECK(!asked.empty(), "memory answers what it was asked");
    tell_wrong_answer(payload, payload.get_extension<AccessInfo>());
    give(payload, asked.mapped());
}

void Memory::give(tlm::tlm_generic_payload& payload, int port) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket[port]->nb_transport_bw(payload, phase, delay);
}

Cycles Memory::answer_time(const tlm::tlm_generic_payload& payload, const AccessInfo* info,
                           Cycles sent) {
    const Address address = Address(payload.get_address());
    const Bytes bytes = Bytes(payload.get_data_length());
    const RegionTimer& timer = timers_[index_of(*region_of(address, bytes))];
    if (timer.timing->is_fixed()) {
        return (info == nullptr ? config_.read_latency : info->read_latency) + Cycles(1);
    }
    if (payload.is_write()) {
        return timer.timing->write(timer.instance, address, bytes, sent) + Cycles(1) - sent;
    }
    // a port with its own extension asks the timer for each beat
    const Cycles ready =
        info == nullptr ? timer.timing->read(timer.instance, address, bytes, sent) : sent;
    return ready - sent + Cycles(1);
}

}  // namespace npuscope
