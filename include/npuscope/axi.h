// SPDX-License-Identifier: Apache-2.0
// AXI4 at pin level, for the NPU's memory ports in an RTL test bench: a master that turns TLM
// transactions into bursts.
//
//     npuscope::AxiWires<64> wires;
//     npuscope::AxiMaster<64> master("master", {});
//     npu.dram.bind(master.socket);                  // a Device with npu.mcif.transactions=values
//     master.clock(clock), master.reset_n(reset_n), master.bind_wires(wires);
//
// W is the data width in bits, 32 to 512. Bursts are INCR at full width; the master respects 4 KiB
// pages and `most_beats`, has as many bursts in flight as allowed, and accepts answers in any order
// that AXI allows. Reads and writes are not ordered among each other: an initiator that needs an
// order waits for the answer, as the NPU does. No locks, caches, regions, users or quality of
// service: a bench ties these wires off.
//
// Compiles as C++17 and later; needs only SystemC. source: ARM IHI 0022, AMBA AXI and ACE, AXI4
#ifndef NPUSCOPE_AXI_H
#define NPUSCOPE_AXI_H

#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tlm>

#include "axi_wires.h"

namespace npuscope {

/// A target for b_transport, which waits for the answer, and for nb_transport with the phases of
/// the base protocol: BEGIN_REQ is accepted at once (END_REQ), BEGIN_RESP comes with the last
/// answer. An error response becomes TLM_GENERIC_ERROR_RESPONSE (SLVERR) or
/// TLM_ADDRESS_ERROR_RESPONSE (DECERR). Byte enables become strobes of a write; a read leaves bytes
/// that are not enabled as they are. In reset nothing is driven, and all transactions, those that
/// still wait for the address channel among them, end with TLM_GENERIC_ERROR_RESPONSE.
template <int W>
class AxiMaster : public sc_core::sc_module, public AxiPins<W, AxiSide::Master> {
 public:
    using Wires = AxiWires<W>;
    struct Setup {
        unsigned most_beats = 16;  ///< of a burst, 1 to 256
        /// Identifiers used in turn, 1 to 256: answers in any order; 1: all in request order.
        unsigned ids = 16;
        unsigned in_flight = 64;  ///< bursts of reads, and of writes, at a time
    };

    /// Throws std::invalid_argument if a value is out of range.
    explicit AxiMaster(const sc_core::sc_module_name& name, const Setup& setup = {})
        : sc_core::sc_module(name), setup_(setup) {
        if (setup.most_beats < 1 || setup.most_beats > 256 || setup.ids < 1 ||
            setup.ids > axi_ids || setup.in_flight < 1) {
            throw std::invalid_argument(
                "AxiMaster: most_beats and ids are 1 to 256, in_flight is at least 1");
        }
        socket.register_b_transport(this, &AxiMaster::transport);
        socket.register_nb_transport_fw(this, &AxiMaster::take_phase);
        socket.register_transport_dbg(this, &AxiMaster::debug);
        SC_HAS_PROCESS(AxiMaster);
        SC_METHOD(step);
        this->sensitive << this->clock.pos();
        this->dont_initialize();
        SC_METHOD(begin_requests);
        this->sensitive << arrivals_.get_event();
        this->dont_initialize();
        SC_METHOD(respond);
        this->sensitive << responses_change_;
        this->dont_initialize();
        SC_METHOD(end_response);
        this->sensitive << response_ends_;
        this->dont_initialize();
    }

    tlm_utils::simple_target_socket<AxiMaster> socket{"socket"};
    /// Implements transport_dbg and returns the bytes moved. If unset, debug transport moves none.
    std::function<unsigned(tlm::tlm_generic_payload&)> back_door;
    /// Bursts that were answered.
    std::uint64_t bursts() const { return bursts_; }

 private:
    using Payload = tlm::tlm_generic_payload;
    struct Request {
        Payload* payload = nullptr;
        bool blocking = false;
        unsigned open = 0;  ///< bursts without an answer
        tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
        sc_core::sc_event done;
    };
    struct Burst {
        Request* request = nullptr;
        std::uint64_t address = 0;  ///< of the first beat, aligned to the width
        unsigned beats = 0;
        unsigned id = 0;
        unsigned beat = 0;  ///< the next one
    };
    /// Pending bursts of one direction.
    struct Direction {
        std::deque<Burst> waiting;  ///< for the address channel; of reads, the first may be on it
        bool driven = false;        ///< one is on the address channel
        std::array<std::deque<Burst>, axi_ids> answered_next;
        unsigned in_flight = 0;
        unsigned next_id = 0;
    };

    // --- Transactions ---

    /// Why a transaction does not become bursts; TLM_OK_RESPONSE if it does.
    static tlm::tlm_response_status refusal(const Payload& payload) {
        const std::uint64_t length = payload.get_data_length();
        if (length == 0 || payload.get_data_ptr() == nullptr ||
            payload.get_streaming_width() < length || !(payload.is_read() || payload.is_write())) {
            return tlm::TLM_BURST_ERROR_RESPONSE;
        }
        const bool wraps = payload.get_address() + (length - 1) < payload.get_address();
        return wraps ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
    }

    void transport(Payload& payload, sc_core::sc_time& delay) {
        sc_core::wait(delay);
        delay = sc_core::SC_ZERO_TIME;
        if (const auto status = refusal(payload); status != tlm::TLM_OK_RESPONSE) {
            payload.set_response_status(status);
            return;
        }
        Request request;
        request.payload = &payload;
        request.blocking = true;
        queue(request);
        while (request.open > 0) {
            sc_core::wait(request.done);
        }
        payload.set_response_status(request.status);
    }

    tlm::tlm_sync_enum take_phase(Payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay) {
        if (phase == tlm::BEGIN_REQ) {
            if (const auto status = refusal(payload); status != tlm::TLM_OK_RESPONSE) {
                payload.set_response_status(status);
                return tlm::TLM_COMPLETED;
            }
            if (payload.has_mm()) {
                payload.acquire();
            }
            arrivals_.notify(payload, delay);
            phase = tlm::END_REQ;
            return tlm::TLM_UPDATED;
        }
        if (phase == tlm::END_RESP) {
            end_response_after(delay);
            return tlm::TLM_COMPLETED;
        }
        return tlm::TLM_ACCEPTED;
    }

    unsigned debug(Payload& payload) { return back_door ? back_door(payload) : 0; }

    void begin_requests() {
        while (Payload* payload = arrivals_.get_next_transaction()) {
            requests_.emplace_back();
            requests_.back().payload = payload;
            queue(requests_.back());
        }
    }

    /// Splits a request into bursts: whole beats, within a page. No address past its last byte is
    /// formed, which may be that of 2^64.
    void queue(Request& request) {
        const Payload& payload = *request.payload;
        Direction& direction = payload.is_read() ? reads_ : writes_;
        const std::uint64_t before = payload.get_address() % Wires::bytes;  // in the first beat
        std::uint64_t address = payload.get_address() - before;
        std::uint64_t beats = (before + payload.get_data_length() - 1) / Wires::bytes + 1;
        while (beats > 0) {
            const std::uint64_t in_page = (axi_page - address % axi_page) / Wires::bytes;
            Burst burst;
            burst.request = &request;
            burst.address = address;
            burst.beats =
                static_cast<unsigned>(std::min({beats, in_page, std::uint64_t{setup_.most_beats}}));
            direction.waiting.push_back(burst);
            ++request.open;
            address += std::uint64_t{burst.beats} * Wires::bytes;
            beats -= burst.beats;
        }
    }

    void answer(Direction& direction, Burst burst, unsigned response) {
        Request& request = *burst.request;
        if (response == static_cast<unsigned>(AxiResponse::SlaveError)) {
            request.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
        } else if (response == static_cast<unsigned>(AxiResponse::DecodeError)) {
            request.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
        }
        --direction.in_flight;
        ++bursts_;
        end(request);
    }

    /// A burst of the request has ended, and with the last of them the request.
    void end(Request& request) {
        if (--request.open > 0) {
            return;
        }
        if (request.blocking) {
            request.done.notify(sc_core::SC_ZERO_TIME);
            return;
        }
        responses_.push_back(&request);
        responses_change_.notify(sc_core::SC_ZERO_TIME);
    }

    // --- Responses by nb_transport: one at a time, until the initiator ends it ---

    void respond() {
        while (!responding_ && !responses_.empty()) {
            Payload& payload = *responses_.front()->payload;
            payload.set_response_status(responses_.front()->status);
            responding_ = true;
            tlm::tlm_phase phase = tlm::BEGIN_RESP;
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            const tlm::tlm_sync_enum state = socket->nb_transport_bw(payload, phase, delay);
            if (state == tlm::TLM_COMPLETED ||
                (state == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
                end_response_after(delay);
            }
        }
    }

    void end_response_after(const sc_core::sc_time& delay) {
        if (delay > sc_core::SC_ZERO_TIME) {
            response_ends_.notify(delay);
        } else {
            end_response();
        }
    }

    void end_response() {
        if (!responding_) {
            return;
        }
        Request* const ended = responses_.front();
        responses_.pop_front();
        responding_ = false;
        Payload* const payload = ended->payload;
        requests_.remove_if([ended](const Request& request) { return &request == ended; });
        if (payload->has_mm()) {
            payload->release();
        }
        responses_change_.notify(sc_core::SC_ZERO_TIME);
    }

    // --- Pins ---

    void step() {
        if (!this->reset_n.read()) {
            drop(reads_);
            drop(writes_);
            fail(data_);
            data_driven_ = false;
            this->awvalid.write(false), this->wvalid.write(false), this->arvalid.write(false);
            this->bready.write(false), this->rready.write(false);
            ready_ = false;
            return;
        }
        write_address();
        write_data();
        write_response();
        read_address();
        read_data();
        ready_ = true;
        this->bready.write(true), this->rready.write(true);
    }

    void drop(Direction& direction) {
        for (auto& open : direction.answered_next) {
            fail(open);
        }
        fail(direction.waiting);
        direction.driven = false;
        direction.in_flight = 0;
    }

    void fail(std::deque<Burst>& bursts) {
        for (const Burst& burst : bursts) {
            burst.request->status = tlm::TLM_GENERIC_ERROR_RESPONSE;
            end(*burst.request);
        }
        bursts.clear();
    }

    /// The next burst for the address channel, with its identifier; null if there is none.
    Burst* drive_next(Direction& direction) {
        if (direction.driven || direction.waiting.empty() ||
            direction.in_flight == setup_.in_flight) {
            return nullptr;
        }
        Burst& burst = direction.waiting.front();
        burst.id = direction.next_id;
        direction.next_id = (direction.next_id + 1) % setup_.ids;
        direction.driven = true;
        ++direction.in_flight;
        return &burst;
    }

    /// The first beat is driven with its address: a slave may wait for both before it accepts
    /// either.
    void write_address() {
        if (writes_.driven && this->awready.read()) {
            writes_.driven = false;
        }
        if (const Burst* burst = drive_next(writes_)) {
            this->awid.write(burst->id);
            this->awaddr.write(burst->address);
            this->awlen.write(burst->beats - 1);
            this->awsize.write(axi_size<W>());
            this->awburst.write(axi_incrementing);
            data_.push_back(*burst);
            writes_.waiting.pop_front();
        }
        this->awvalid.write(writes_.driven);
    }

    void read_address() {
        if (reads_.driven && this->arready.read()) {
            const Burst& burst = reads_.waiting.front();
            reads_.answered_next[burst.id].push_back(burst);
            reads_.waiting.pop_front();
            reads_.driven = false;
        }
        if (const Burst* burst = drive_next(reads_)) {
            this->arid.write(burst->id);
            this->araddr.write(burst->address);
            this->arlen.write(burst->beats - 1);
            this->arsize.write(axi_size<W>());
            this->arburst.write(axi_incrementing);
        }
        this->arvalid.write(reads_.driven);
    }

    void write_data() {
        if (data_driven_ && this->wready.read()) {
            data_driven_ = false;
            Burst& burst = data_.front();
            if (++burst.beat == burst.beats) {
                writes_.answered_next[burst.id].push_back(burst);
                data_.pop_front();
            }
        }
        if (!data_driven_ && !data_.empty()) {
            drive_beat(data_.front());
            data_driven_ = true;
        }
        this->wvalid.write(data_driven_);
    }

    /// Calls `move(position in the payload, lane)` for each of the payload's bytes in the beat.
    template <class Move>
    static void for_each_lane(const Burst& burst, const Move& move) {
        const Payload& payload = *burst.request->payload;
        const std::uint64_t beat = burst.address + std::uint64_t{burst.beat} * Wires::bytes;
        const bool is_first = beat < payload.get_address();
        const std::uint64_t position = is_first ? 0 : beat - payload.get_address();
        const std::uint64_t lane = is_first ? payload.get_address() - beat : 0;
        const std::uint64_t count =
            std::min<std::uint64_t>(Wires::bytes - lane, payload.get_data_length() - position);
        for (std::uint64_t i = 0; i < count; ++i) {
            move(position + i, static_cast<unsigned>(lane + i));
        }
    }

    static bool is_enabled(const Payload& payload, std::uint64_t position) {
        return payload.get_byte_enable_ptr() == nullptr ||
               payload.get_byte_enable_ptr()[position % payload.get_byte_enable_length()] ==
                   TLM_BYTE_ENABLED;
    }

    void drive_beat(const Burst& burst) {
        const Payload& payload = *burst.request->payload;
        std::array<std::uint32_t, Wires::bytes / 4> words{};
        typename Wires::Strobes strobes;
        for_each_lane(burst, [&](std::uint64_t position, unsigned lane) {
            words[lane / 4] |= std::uint32_t{payload.get_data_ptr()[position]} << (8 * (lane % 4));
            strobes[static_cast<int>(lane)] = is_enabled(payload, position);
        });
        typename Wires::Data data;
        for (unsigned i = 0; i < words.size(); ++i) {
            data.set_word(static_cast<int>(i), words[i]);
        }
        this->wdata.write(data);
        this->wstrb.write(strobes);
        this->wlast.write(burst.beat + 1 == burst.beats);
    }

    /// The queue whose first burst an answer of this identifier is for; an error if it is empty.
    std::deque<Burst>* open_burst(Direction& direction, unsigned id) {
        std::deque<Burst>& open = direction.answered_next[id];
        if (open.empty()) {
            SC_REPORT_ERROR("npuscope", (std::string(this->name()) + ": an answer of identifier " +
                                         std::to_string(id) + " that no burst in flight has")
                                            .c_str());
            return nullptr;
        }
        return &open;
    }

    void write_response() {
        if (!ready_ || !this->bvalid.read()) {
            return;
        }
        if (auto* open = open_burst(writes_, this->bid.read().to_uint())) {
            const Burst burst = open->front();
            open->pop_front();
            answer(writes_, burst, this->bresp.read().to_uint());
        }
    }

    void read_data() {
        if (!ready_ || !this->rvalid.read()) {
            return;
        }
        auto* open = open_burst(reads_, this->rid.read().to_uint());
        if (open == nullptr) {
            return;
        }
        Burst& burst = open->front();
        const typename Wires::Data data = this->rdata.read();
        Payload& payload = *burst.request->payload;
        for_each_lane(burst, [&](std::uint64_t position, unsigned lane) {
            if (is_enabled(payload, position)) {
                payload.get_data_ptr()[position] = static_cast<unsigned char>(
                    data.get_word(static_cast<int>(lane / 4)) >> (8 * (lane % 4)));
            }
        });
        const unsigned response = this->rresp.read().to_uint();
        if (response > static_cast<unsigned>(AxiResponse::ExclusiveOkay)) {
            burst.request->status = response == static_cast<unsigned>(AxiResponse::DecodeError)
                                        ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                        : tlm::TLM_GENERIC_ERROR_RESPONSE;
        }
        if (++burst.beat == burst.beats) {
            const Burst ended = burst;
            open->pop_front();
            answer(reads_, ended, static_cast<unsigned>(AxiResponse::Okay));
        }
    }

    Setup setup_;
    Direction reads_;
    Direction writes_;
    std::deque<Burst> data_;  ///< writes whose beats are being sent, in the order of addresses
    bool data_driven_ = false;
    bool ready_ = false;
    std::list<Request> requests_;  ///< by nb_transport
    std::deque<Request*> responses_;
    bool responding_ = false;
    sc_core::sc_event responses_change_;
    sc_core::sc_event response_ends_;  ///< after the delay of END_RESP
    tlm_utils::peq_with_get<Payload> arrivals_{"arrivals"};
    std::uint64_t bursts_ = 0;
};

}  // namespace npuscope

#endif  // NPUSCOPE_AXI_H
