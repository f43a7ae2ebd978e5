// SPDX-License-Identifier: Apache-2.0
// An NPU with its memory inside another program: the program writes registers and advances time, as
// a driver does. Every device has its own kernel, so a process may have several; one call at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/memory/memory.h"
#include "sim/config/system_config.h"
#include "sim/run/result.h"

namespace npuscope {

/// Why a device returned to its caller.
enum class DeviceStop {
    Interrupt,  ///< the interrupt line is high
    Idle,       ///< nothing is left to happen
    Limit       ///< the cycles have passed
};

class StandaloneDevice {
 public:
    /// `store`: holds the memory's bytes, instead of the device itself; it outlives the device.
    /// ConfigError where such an NPU could not work or has no registers.
    explicit StandaloneDevice(SystemConfig system, ByteStore* store = nullptr);
    /// Bytes and timing of memory are those of `outside`, which outlives the device.
    StandaloneDevice(SystemConfig system, ForeignMemory& outside);
    ~StandaloneDevice();
    StandaloneDevice(const StandaloneDevice&) = delete;
    StandaloneDevice& operator=(const StandaloneDevice&) = delete;

    /// Whether a device's kernel runs in this thread: the caller is a call-back of it.
    static bool is_running();

    /// Posted: complete at the next call. ConfigError where there is no register.
    void write_register(std::uint32_t address, std::uint32_t value);
    /// Time advances until the read is answered. ConfigError where there is no register.
    std::uint32_t read_register(std::uint32_t address);

    // In zero time. ConfigError outside all regions.
    void write_memory(Address address, std::span<const std::uint8_t> bytes);
    void fill_memory(const ByteRun& run, std::uint8_t value);
    void read_memory(Address address, std::span<std::uint8_t> bytes);

    /// The cycle up to which the functions below advance. The kernel counts to 2^64 / 1000; what
    /// is beyond this one is left to register accesses.
    static constexpr Cycles last_cycle{(std::uint64_t{1} << 54) - 1};
    /// Those that are left until the last one.
    Cycles cycles_left();
    /// Advances by all of the cycles, whatever happens; there must be as many.
    void advance(Cycles cycles);
    /// Until the interrupt line is high after all posted writes; it may be already. At most to the
    /// last cycle.
    DeviceStop run_until_interrupt(Cycles most);
    /// Until nothing is left to happen. At most to the last cycle.
    DeviceStop run_until_idle(Cycles most);

    bool interrupt();
    Cycles now();

    // For a program with its own time, which the device follows.

    /// Runs everything before this cycle, and what is due in it.
    void run_to(Cycles cycle);
    /// When something happens next; nothing where everything waits for the program.
    std::optional<Cycles> next_activity();
    /// Posted now; returns the cycles that the bus needs. ConfigError where there is no register.
    Cycles post_write(std::uint32_t address, std::uint32_t value);
    /// A read begins now. ConfigError where there is no register.
    void begin_read(std::uint32_t address);
    /// Nothing while the read is unanswered.
    std::optional<std::uint32_t> answer() const;
    /// The memory outside answers a request of ForeignMemory::begin now; its status is set.
    void answer_memory(tlm::tlm_generic_payload& payload);
    /// The same after some cycles; also from within ForeignMemory::begin.
    void answer_memory_after(tlm::tlm_generic_payload& payload, Cycles cycles);
    const Diagnostics& findings() const;

    /// The counts so far. Their cycles are those from the first op-enable to the last interrupt.
    Result result();

 private:
    struct Simulation;
    const RegisterRow& row_at(std::uint32_t address) const;

    SystemConfig system_;
    std::unique_ptr<Simulation> simulation_;
};

}  // namespace npuscope
