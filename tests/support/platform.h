// SPDX-License-Identifier: Apache-2.0
// What SystemC platforms around a device are made of: a driver that plays a register program, and
// memories that answer late, in any order, by waiting or in phases.
#pragma once

#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tlm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/run/program_player.h"

namespace npuscope::test {

/// Bytes of any address, 0 at first.
class MemoryBytes {
 public:
    std::uint8_t& operator[](std::uint64_t address) {
        return pages_[address / page_size][address % page_size];
    }

 private:
    static constexpr std::size_t page_size = 4096;
    std::unordered_map<std::uint64_t, std::array<std::uint8_t, page_size>> pages_;
};

/// How a bench sees a memory, without time.
struct ByteAccess {
    std::function<std::uint8_t(std::uint64_t)> peek;
    std::function<void(std::uint64_t, std::uint8_t)> poke;

    ByteAccess(MemoryBytes& bytes)  // NOLINT(google-explicit-constructor): a view of it
        : peek([&bytes](std::uint64_t address) { return bytes[address]; }),
          poke([&bytes](std::uint64_t address, std::uint8_t byte) { bytes[address] = byte; }) {}
    template <class Memory>
    explicit ByteAccess(Memory* memory)
        : peek([memory](std::uint64_t address) { return memory->peek(address); }),
          poke([memory](std::uint64_t address, std::uint8_t byte) {
              memory->poke(address, byte);
          }) {}
};

/// What a read or a write does to them.
inline void move_bytes(tlm::tlm_generic_payload& payload, MemoryBytes& bytes) {
    for (unsigned i = 0; i < payload.get_data_length(); ++i) {
        std::uint8_t& byte = bytes[payload.get_address() + i];
        std::uint8_t& other = payload.get_data_ptr()[i];
        payload.is_read() ? other = byte : byte = other;
    }
}

/// Plays a program from a thread of the platform.
struct Driver : sc_core::sc_module, DrivenDevice {
    Driver(const sc_core::sc_module_name& name, Program program,
           std::span<const RegisterBlock> blocks, ByteAccess behind)
        : sc_core::sc_module(name),
          player(std::move(program), blocks, *this),
          memory(std::move(behind)) {
        SC_THREAD(play);
    }
    SC_HAS_PROCESS(Driver);

    void write(std::uint32_t address, std::uint32_t value) override {
        access(tlm::TLM_WRITE_COMMAND, address, value);
    }
    std::uint32_t read(std::uint32_t address) override {
        return access(tlm::TLM_READ_COMMAND, address, 0);
    }
    void write_memory(Address address, std::span<const std::uint8_t> bytes) override {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            memory.poke(address.value + i, bytes[i]);
        }
    }
    void read_memory(Address address, std::span<std::uint8_t> bytes) override {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = memory.peek(address.value + i);
        }
    }
    void await_interrupt() override {
        wait(sc_core::SC_ZERO_TIME);
        while (!interrupt->read()) {
            wait(interrupt->posedge_event());
        }
    }

    tlm_utils::simple_initiator_socket<Driver> bus{"bus"};
    sc_core::sc_in<bool> interrupt{"interrupt"};
    ProgramPlayer player;
    ByteAccess memory;
    std::string failure;             ///< why it could not go on
    std::function<void()> before{};  ///< what its thread does first
    std::function<void()> when_done{};

 private:
    void play() {
        try {
            if (before) {
                before();
            }
            player.play();
        } catch (const std::runtime_error& error) {
            failure = error.what();
        }
        if (when_done) {
            when_done();
        }
    }
    std::uint32_t access(tlm::tlm_command command, std::uint32_t address, std::uint32_t value) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
        payload.set_data_length(sizeof value);
        payload.set_streaming_width(sizeof value);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        bus->b_transport(payload, delay);
        if (payload.is_response_error()) {
            throw std::runtime_error(payload.get_response_string());
        }
        wait(delay);
        return value;
    }
};

/// How long answers take, in cycles of 1 ns; `refuses`: the first write gets an error.
struct Behaviour {
    std::uint64_t least = 51;
    std::uint64_t most = 51;
    bool refuses = false;
    unsigned seed = 1;
};

/// Answers by b_transport, waiting in several calls at a time; or by nb_transport in phases,
/// accepting requests at once or later. Without debug transport, except for operands that
/// `debug_transport` requests.
struct PatientMemory : sc_core::sc_module {
    /// `shared`: bytes of another one, at another port.
    PatientMemory(const sc_core::sc_module_name& name, bool phases, const Behaviour& behaviour,
                  MemoryBytes* shared = nullptr)
        : sc_core::sc_module(name),
          bytes(shared == nullptr ? own_ : *shared),
          behaviour_(behaviour),
          random_(behaviour.seed) {
        if (!phases) {
            socket.register_b_transport(this, &PatientMemory::wait_and_answer);
            return;
        }
        socket.register_nb_transport_fw(this, &PatientMemory::take_phase);
        SC_METHOD(respond);
        sensitive << responses_.get_event();
        dont_initialize();
        SC_METHOD(accept);
        sensitive << accepted_.get_event();
        dont_initialize();
    }
    SC_HAS_PROCESS(PatientMemory);

    void offer_debug_transport() { socket.register_transport_dbg(this, &PatientMemory::debug); }

    tlm_utils::simple_target_socket<PatientMemory> socket{"socket"};
    MemoryBytes& bytes;
    unsigned beat = 0;  ///< block in bytes that no burst may leave; 0: any burst is legal
    std::size_t in_flight = 0;
    std::size_t most_in_flight = 0;
    std::vector<std::string> faults;  ///< violations of the protocol

 private:
    void wait_and_answer(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
        begin(payload);
        wait(draw());
        carry_out(payload);
    }
    unsigned debug(tlm::tlm_generic_payload& payload) {
        move_bytes(payload, bytes);
        return payload.get_data_length();
    }
    tlm::tlm_sync_enum take_phase(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& /*delay*/) {
        if (phase == tlm::END_RESP) {
            return tlm::TLM_COMPLETED;
        }
        if (accepting_ != nullptr) {
            faults.emplace_back("a request begins before the one before was accepted");
        }
        begin(payload);
        payload.acquire();
        responses_.notify(payload, draw());
        if (behaviour_.least == behaviour_.most || random_() % 2 == 0) {
            phase = tlm::END_REQ;
            return tlm::TLM_UPDATED;
        }
        accepting_ = &payload;
        payload.acquire();
        accepted_.notify(payload, cycle() * static_cast<double>(1 + random_() % 5));
        return tlm::TLM_ACCEPTED;
    }
    void accept() {
        while (tlm::tlm_generic_payload* payload = accepted_.get_next_transaction()) {
            if (accepting_ == payload) {
                accepting_ = nullptr;
                answer(*payload, tlm::END_REQ);
            }
            payload->release();
        }
    }
    void respond() {
        while (tlm::tlm_generic_payload* payload = responses_.get_next_transaction()) {
            carry_out(*payload);
            if (accepting_ == payload) {
                accepting_ = nullptr;  // the response accepts the request, too
            }
            answer(*payload, tlm::BEGIN_RESP);
            payload->release();
        }
    }
    void answer(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) {
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->nb_transport_bw(payload, phase, delay);
    }
    static sc_core::sc_time cycle() { return {1, sc_core::SC_NS}; }
    sc_core::sc_time draw() {
        std::uniform_int_distribution<std::uint64_t> cycles(behaviour_.least, behaviour_.most);
        return cycle() * static_cast<double>(cycles(random_));
    }
    void begin(const tlm::tlm_generic_payload& payload) {
        most_in_flight = std::max(most_in_flight, ++in_flight);
        constexpr std::uint64_t page = 4096;  // source: AMBA AXI, a burst must not cross 4 KiB
        const std::uint64_t block = beat == 0 ? page : beat;
        const std::uint64_t last = payload.get_address() + payload.get_data_length() - 1;
        if (payload.get_data_length() == 0 || payload.get_address() / block != last / block) {
            faults.emplace_back("a burst of no bytes, or beyond " + std::to_string(block));
        }
    }
    void carry_out(tlm::tlm_generic_payload& payload) {
        --in_flight;
        if (payload.is_write() && std::exchange(behaviour_.refuses, false)) {
            payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
            return;
        }
        move_bytes(payload, bytes);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    MemoryBytes own_;
    Behaviour behaviour_;
    std::mt19937 random_;
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> responses_{"responses"};
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> accepted_{"accepted"};
    tlm::tlm_generic_payload* accepting_ = nullptr;
};

}  // namespace npuscope::test
