// SPDX-License-Identifier: Apache-2.0
// Requests of an NPU to the memory of a SystemC platform where each burst is a separate
// transaction. The NPU's kernel and the platform's never run inside each other here: requests leave
// when the NPU's has paused, and answers enter it before it continues.
#pragma once

#include <tlm_utils/peq_with_get.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <unordered_set>
#include <utility>
#include <vector>

namespace npuscope {

class MemoryRequests : private tlm::tlm_mm_interface {
 public:
    /// Where the requests of a port go; null where it is unconnected.
    using Sockets = std::function<tlm::tlm_fw_transport_if<>*(int port)>;

    /// By nb_transport, or b_transport from threads that may wait. `changed` is notified when there
    /// is something to send or to hand in.
    MemoryRequests(bool non_blocking, Sockets sockets, sc_core::sc_event& changed);
    MemoryRequests(const MemoryRequests&) = delete;
    MemoryRequests& operator=(const MemoryRequests&) = delete;

    /// The NPU begins a transaction; it keeps `payload` until the answer.
    void begin(int port, tlm::tlm_generic_payload& payload);
    /// Sends what can be sent now.
    void send();
    /// Passes every available answer to `take`, its status and bytes set; false without any.
    bool hand_in(const std::function<void(tlm::tlm_generic_payload&)>& take);
    /// The memory's next phase of a request, by nb_transport_bw.
    tlm::tlm_sync_enum take_phase(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  const sc_core::sc_time& delay);
    /// The NPU is reset: answers to its earlier requests are dropped.
    void forget();
    /// What was reported during calls to the memory since the last time.
    std::string take_trouble() { return std::exchange(trouble_, {}); }

 private:
    /// A request as the platform's memory sees it, with its own bytes.
    struct Request : tlm::tlm_generic_payload {
        explicit Request(tlm::tlm_mm_interface& owner) : tlm_generic_payload(&owner) {}

        tlm::tlm_generic_payload* asked = nullptr;  ///< null: forgotten
        bool is_sent = false;
        bool is_answered = false;
        std::vector<std::uint8_t> bytes;
        int port = 0;
    };
    /// For phases: what waits for the socket of a port.
    struct Way {
        std::deque<Request*> waiting;
        Request* being_accepted = nullptr;  ///< one at a time: the rule of the base protocol
        sc_core::sc_time free_from;         ///< when what accepted the last one takes effect
        sc_core::sc_event freed;            ///< then

        bool is_free() const {
            return being_accepted == nullptr && free_from <= sc_core::sc_time_stamp();
        }
    };
    /// A thread that calls b_transport, and the request assigned to it.
    struct Caller {
        Request* request = nullptr;
        sc_core::sc_event called;
    };

    Request& new_request(int port, tlm::tlm_generic_payload& payload);
    /// An error, SC_ERROR, unless this phase of this payload may come now.
    bool may_come(const tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) const;
    Way& way_of(const Request& request) { return ways_[request.port > 0 ? 1 : 0]; }
    void call(Request& request);
    void keep_calling(Caller& caller);
    void send_by_phases(Way& way);
    /// END_REQ, or an answer without it, after its delay.
    void free_way(Way& way, const sc_core::sc_time& delay);
    void note_trouble(Request& request, const sc_core::sc_report& report);
    void take_answer(Request& request);
    void take_due_answers();
    void free(tlm::tlm_generic_payload* payload) override;

    const bool non_blocking_;
    Sockets sockets_;
    sc_core::sc_event& changed_;
    std::deque<Request> requests_;
    std::unordered_set<const tlm::tlm_generic_payload*> own_;  ///< these
    std::vector<Request*> free_;
    std::deque<Request*> begun_;
    std::array<Way, 2> ways_;
    std::deque<Caller> callers_;
    std::vector<Caller*> idle_;
    std::deque<Request*> answers_;
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> due_{"memory_answers"};
    std::string trouble_;
};

}  // namespace npuscope
