// SPDX-License-Identifier: Apache-2.0
// An NPU as a module of a SystemC platform: registers behind a target socket, memory behind
// initiator sockets, an interrupt line. A platform may have any number of them, at any clocks.
//
// What it requires of the memory behind `dram` and `sram`: `b_transport` returns a delay and does
// not wait; the delay is the latency of a run of beats, which follow at one per cycle. It is the
// time from the request to its first beat, both included: 51 cycles give the cycles of
// memory.read_latency=50, as does an answer after 51 cycles where each burst is a transaction.
// `transport_dbg` reads and writes all bytes: it fetches operands when an operation is launched,
// before time passes. Any violation is a finding, an error, with the address and the requester.
//
// Compiles as C++17 and later; linked with libnpuscope.so and SystemC's library.
#ifndef NPUSCOPE_DEVICE_H
#define NPUSCOPE_DEVICE_H

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace npuscope {

class Device : public sc_core::sc_module {
 public:
    /// Which NPU: a preset by name or file (`nv_small`, `my.yaml`), and fields that are changed
    /// (`npu.cbuf.banks=16`, `npu.clock=800 MHz`).
    struct Setup {
        std::string npu = "nv_small";
        std::vector<std::string> changes{};
        /// How memory is accessed if `npu.mcif.transactions` makes each burst a transaction: by
        /// b_transport, each from its own thread that may wait; or by nb_transport, with the phases
        /// of the base protocol. Many are in flight either way.
        bool non_blocking = false;
    };

    /// Throws std::invalid_argument, with location and remedy, if the NPU is invalid or has no
    /// registers.
    Device(const sc_core::sc_module_name& name, const Setup& setup);
    ~Device() override;

    /// Registers at their byte addresses, 32 bits each; 4 bytes per transaction. Callers are
    /// threads: a write is posted within a delta cycle, its delay is the bus's; a read waits for
    /// its answer. TLM_ADDRESS_ERROR_RESPONSE where there is no register. No debug transport.
    tlm_utils::simple_target_socket<Device> csb;
    /// The first memory port; the second one, for SRAM, stays unbound if the NPU has none.
    tlm_utils::simple_initiator_socket<Device> dram;
    tlm_utils::simple_initiator_socket_optional<Device> sram;
    /// High while an interrupt is pending and not masked.
    sc_core::sc_out<bool> interrupt;
    /// Each rising edge is a cycle. Where it is unbound, cycles are those of `npu.clock`.
    sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> clock;

    /// Back to power-up: registers, groups, counters and findings. Memory is the platform's. An
    /// access to a register that is not done ends with TLM_GENERIC_ERROR_RESPONSE. A memory accepts
    /// and answers each request that it has received also after a reset, by all phases of
    /// nb_transport; the NPU ignores the answer. From an SC_METHOD, sc_main or an SC_THREAD, which
    /// waits for it within the evaluation phase; an SC_CTHREAD does not wait, nor do calls from
    /// `on_finding` or from a memory's transport: the NPU is then reset in the next delta cycle.
    void reset();
    /// Cycles since the beginning or the last reset.
    std::uint64_t cycles() const;
    /// Operations with cycles and causes, traffic, findings: what `npuscope run --json` writes.
    std::string result() const;
    /// Called with every finding, as JSON, when it is found; without it an error is an SC_WARNING.
    std::function<void(const std::string& finding)> on_finding;

 private:
    struct Inside;

    void access_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    tlm::tlm_sync_enum take_phase(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay);
    void go_on();
    void start_of_simulation() override;

    std::unique_ptr<Inside> inside_;
};

}  // namespace npuscope

#endif  // NPUSCOPE_DEVICE_H
