// SPDX-License-Identifier: Apache-2.0
#include "sim/embed/memory_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/run/driven_machine.h"

namespace npuscope {

MemoryRequests::MemoryRequests(bool non_blocking, Sockets sockets, sc_core::sc_event& changed)
    : non_blocking_(non_blocking), sockets_(std::move(sockets)), changed_(changed) {
    spawn_method_at(due_.get_event(), sc_core::sc_gen_unique_name("memory_answers"),
                    [this] { take_due_answers(); });
    for (Way& way : ways_) {
        spawn_method_at(way.freed, sc_core::sc_gen_unique_name("memory_way"),
                        [this] { changed_.notify(sc_core::SC_ZERO_TIME); });
    }
}

MemoryRequests::Request& MemoryRequests::new_request(int port, tlm::tlm_generic_payload& payload) {
    if (free_.empty()) {
        tlm::tlm_mm_interface& owner = *this;
        free_.push_back(&requests_.emplace_back(owner));
        own_.insert(free_.back());
    }
    Request& request = *free_.back();
    free_.pop_back();
    request.acquire();
    request.asked = &payload;
    request.is_sent = request.is_answered = false;
    request.port = port;
    request.bytes.assign(payload.get_data_ptr(),
                         payload.get_data_ptr() + payload.get_data_length());
    request.set_command(payload.get_command());
    request.set_address(payload.get_address());
    request.set_data_ptr(request.bytes.data());
    request.set_data_length(payload.get_data_length());
    request.set_streaming_width(payload.get_data_length());
    request.set_byte_enable_ptr(nullptr);
    request.set_dmi_allowed(false);
    request.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return request;
}

void MemoryRequests::free(tlm::tlm_generic_payload* payload) {
    payload->reset();  // its automatic extensions end with the transaction
    free_.push_back(static_cast<Request*>(payload));
}

void MemoryRequests::begin(int port, tlm::tlm_generic_payload& payload) {
    begun_.push_back(&new_request(port, payload));
}

void MemoryRequests::send() {
    while (!begun_.empty()) {
        Request& request = *begun_.front();
        begun_.pop_front();
        if (sockets_(request.port) == nullptr) {
            request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            answers_.push_back(&request);
            continue;
        }
        if (non_blocking_) {
            way_of(request).waiting.push_back(&request);
        } else {
            call(request);
        }
    }
    if (non_blocking_) {
        for (Way& way : ways_) {
            send_by_phases(way);
        }
    }
}

// --- b_transport, from one thread per request in flight ---

void MemoryRequests::call(Request& request) {
    if (idle_.empty()) {
        Caller& caller = callers_.emplace_back();
        caller.request = &request;
        sc_core::sc_spawn([this, &caller] { keep_calling(caller); },
                          sc_core::sc_gen_unique_name("memory_call"));
        return;
    }
    Caller& caller = *idle_.back();
    idle_.pop_back();
    caller.request = &request;
    caller.called.notify(sc_core::SC_ZERO_TIME);
}

void MemoryRequests::keep_calling(Caller& caller) {
    while (true) {
        Request& request = *caller.request;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        if (request.asked != nullptr) {  // otherwise the NPU was reset meanwhile
            try {
                sockets_(request.port)->b_transport(request, delay);
            } catch (const sc_core::sc_report& report) {
                note_trouble(request, report);
            }
        }
        if (delay > sc_core::SC_ZERO_TIME) {
            sc_core::wait(delay);
        }
        take_answer(request);
        idle_.push_back(&caller);
        sc_core::wait(caller.called);
    }
}

// --- nb_transport, with the four phases of the base protocol ---

void MemoryRequests::send_by_phases(Way& way) {
    while (way.is_free() && !way.waiting.empty()) {
        Request& request = *way.waiting.front();
        way.waiting.pop_front();
        way.being_accepted = &request;
        request.is_sent = true;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        tlm::tlm_sync_enum state = tlm::TLM_COMPLETED;
        try {
            state = sockets_(request.port)->nb_transport_fw(request, phase, delay);
        } catch (const sc_core::sc_report& report) {
            note_trouble(request, report);
        }
        if (state == tlm::TLM_COMPLETED) {
            free_way(way, delay);
            request.is_answered = true;
            due_.notify(request, delay);
        } else if (state == tlm::TLM_UPDATED &&
                   take_phase(request, phase, delay) == tlm::TLM_COMPLETED) {
            sockets_(request.port)->nb_transport_fw(request, phase, delay);  // END_RESP
        }
    }
}

void MemoryRequests::free_way(Way& way, const sc_core::sc_time& delay) {
    way.being_accepted = nullptr;
    way.free_from = sc_core::sc_time_stamp() + delay;
    (delay > sc_core::SC_ZERO_TIME ? way.freed : changed_).notify(delay);
}

tlm::tlm_sync_enum MemoryRequests::take_phase(tlm::tlm_generic_payload& payload,
                                              tlm::tlm_phase& phase,
                                              const sc_core::sc_time& delay) {
    const bool is_ignorable = phase != tlm::END_REQ && phase != tlm::BEGIN_RESP;
    if (is_ignorable || !may_come(payload, phase)) {
        return tlm::TLM_ACCEPTED;
    }
    auto& request = static_cast<Request&>(payload);
    Way& way = way_of(request);
    if (way.being_accepted == &request) {  // by END_REQ, or by the response itself
        free_way(way, delay);
    }
    if (phase != tlm::BEGIN_RESP) {
        return tlm::TLM_ACCEPTED;
    }
    request.is_answered = true;
    due_.notify(request, delay);
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
}

bool MemoryRequests::may_come(const tlm::tlm_generic_payload& payload,
                              const tlm::tlm_phase& phase) const {
    const char* wrong = nullptr;
    if (!non_blocking_) {
        wrong =
            "called b_transport: answer by returning from it, or set `non_blocking` in the setup "
            "of the device";
    } else if (!own_.contains(&payload)) {
        wrong = "did not send this payload: answer with the payload of the request itself";
    } else if (const auto& request = static_cast<const Request&>(payload); !request.is_sent) {
        wrong = "has not sent this request yet: answer it after BEGIN_REQ";
    } else if (request.is_answered && phase == tlm::BEGIN_RESP) {
        wrong =
            "has this answer already: send one BEGIN_RESP for each request, and none after "
            "TLM_COMPLETED";
    }
    if (wrong != nullptr) {
        const std::string text =
            fmt::format("memory of the platform: {} for a {} of {} bytes at {:#x}, but the NPU {}",
                        phase.get_name(), payload.is_write() ? "write" : "read",
                        payload.get_data_length(), payload.get_address(), wrong);
        SC_REPORT_ERROR("npuscope", text.c_str());
    }
    return wrong == nullptr;
}

void MemoryRequests::take_due_answers() {
    while (tlm::tlm_generic_payload* payload = due_.get_next_transaction()) {
        take_answer(static_cast<Request&>(*payload));
    }
}

// --- Answers ---

void MemoryRequests::note_trouble(Request& request, const sc_core::sc_report& report) {
    request.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    trouble_ =
        fmt::format("memory of the platform: {}: {}", report.get_msg_type(), report.get_msg());
}

void MemoryRequests::take_answer(Request& request) {
    answers_.push_back(&request);
    changed_.notify(sc_core::SC_ZERO_TIME);
}

bool MemoryRequests::hand_in(const std::function<void(tlm::tlm_generic_payload&)>& take) {
    if (answers_.empty()) {
        return false;
    }
    while (!answers_.empty()) {
        Request& request = *answers_.front();
        answers_.pop_front();
        if (request.asked != nullptr) {
            request.asked->set_response_status(request.get_response_status());
            if (request.is_read()) {
                std::ranges::copy(request.bytes, request.asked->get_data_ptr());
            }
            take(*request.asked);
        }
        request.release();
    }
    return true;
}

void MemoryRequests::forget() {
    for (Request& request : requests_) {
        request.asked = nullptr;  // answers to requests in flight are ignored
    }
    const auto drop = [](std::deque<Request*>& all) {
        for (Request* request : std::exchange(all, {})) {
            request->release();
        }
    };
    drop(begun_);
    for (Way& way : ways_) {
        drop(way.waiting);
    }
}

}  // namespace npuscope
