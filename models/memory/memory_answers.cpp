// SPDX-License-Identifier: Apache-2.0
// Transactions by nb_transport. The memory itself knows at once when each is answered, and says so;
// an outside one answers at any time.
#include <algorithm>
#include <utility>

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
    if (outside_ != nullptr) {
        NPU_CHECK(info != nullptr && info->port < 0, "memory outside is asked by a port, once");
        info->port = id;
        phase = tlm::END_REQ;
        outside_->begin(id, payload);
        return tlm::TLM_UPDATED;
    }
    const Cycles sent = now() + to_cycles(delay);
    const Cycles asked = info == nullptr ? sent : info->asked;  // if memory looks back: earlier
    Cycles latency(1);
    if (admit(payload, info)) {
        move_bytes(payload, info);
        Cycles left = asked;
        if (info != nullptr && info->timer != nullptr && payload.is_read()) {
            left = info->timer->read_beat(Address(payload.get_address()),
                                          Bytes(payload.get_data_length()), asked);
        }
        latency = left - asked + answer_time(payload, info, left);
    }
    if (info != nullptr) {
        info->read_latency = latency - Cycles(1);
    }
    const Cycles answered = std::max(asked + latency, sent);
    delay = to_time(answered - now());
    return tlm::TLM_COMPLETED;
}

void Memory::answer(tlm::tlm_generic_payload& payload) {
    auto* info = payload.get_extension<AccessInfo>();
    NPU_CHECK(info != nullptr && info->port >= 0, "memory answers what it was asked");
    tell_wrong_answer(payload, info);
    const int port = std::exchange(info->port, -1);
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
        // pieces left when they were available, the last one now
        const bool pieces = info != nullptr && payload.get_byte_enable_ptr() != nullptr;
        Cycles left = pieces ? std::min(info->first_beat, sent) : sent;
        const Cycles step = std::max(info == nullptr ? Cycles(1) : info->beat_step, Cycles(1));
        Cycles answered;
        for_each_enabled(payload, [&](Address begin, const std::uint8_t*, Bytes enabled) {
            const Cycles response =
                timer.timing->write(timer.instance, {begin, enabled}, left, step);
            answered = std::max(answered, response);
            left = pieces ? std::min(left + info->beat_step, sent) : sent;
        });
        return answered + Cycles(1) - sent;
    }
    // a port with its own extension asks the timer for each beat
    const Cycles ready =
        info == nullptr ? timer.timing->read(timer.instance, address, bytes, sent) : sent;
    return ready - sent + Cycles(1);
}

}  // namespace npuscope
