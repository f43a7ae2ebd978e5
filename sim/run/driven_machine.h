// SPDX-License-Identifier: Apache-2.0
// What a driver does around a machine, be it the host of a session or a program that embeds a
// device: bus accesses, methods that wait for an event, failures, the end of threads.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <systemc>
#include <tlm>
#include <utility>

#include "models/csb/csb.h"
#include "models/link/unit.h"
#include "models/npu/machine.h"

namespace npuscope {

/// One access of a register bus; `value` is written or receives what was read. `poll`: may be null.
template <class Socket>
tlm::tlm_response_status access_register(Socket& bus, tlm::tlm_command command,
                                         std::uint32_t address, std::uint32_t& value,
                                         sc_core::sc_time& delay, PollExtension* poll = nullptr) {
    tlm::tlm_generic_payload payload;
    std::array<std::uint8_t, sizeof value> bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(bytes.data());
    payload.set_data_length(sizeof value);
    payload.set_streaming_width(sizeof value);
    payload.set_extension(poll);
    bus->b_transport(payload, delay);
    payload.clear_extension(poll);
    std::memcpy(&value, bytes.data(), sizeof value);
    return payload.get_response_status();
}

/// Calls `work` in a method of its own whenever the event is notified.
template <class Work>
void spawn_method_at(const sc_core::sc_event& event, const char* name, Work work) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.set_sensitivity(&event);
    options.dont_initialize();
    sc_core::sc_spawn(std::move(work), name, &options);
}

/// Why the driver or a unit has failed; null if none has.
inline std::exception_ptr failure_of(const Unit& driver, Machine& machine) {
    std::exception_ptr failure = driver.failure();
    for (const Machine::UnitEntry& entry : machine.units()) {
        failure = failure ? failure : entry.unit->failure();
    }
    return failure;
}

/// Threads end while the kernel runs, so that what they hold is freed.
inline void kill_threads(Unit& driver, Machine& machine) {
    driver.kill_threads();
    for (const Machine::UnitEntry& entry : machine.units()) {
        entry.unit->kill_threads();
    }
}

}  // namespace npuscope
