// SPDX-License-Identifier: Apache-2.0
// An NPU with its memory inside another program: the program writes registers and lets time pass, as a
// driver does. Every device has a kernel of its own, so that a process may have several; one call at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/memory/memory.h"
#include "sim/config/system_config.h"
#include "sim/run/result.h"

namespace npuscope {

/// Why a device came back to its caller.
enum class DeviceStop {
    Interrupt,  ///< the interrupt line is high
    Idle,       ///< nothing is left to happen
    Limit       ///< the cycles have passed
};

class Device {
 public:
    /// `store`: where the memory's bytes are, in place of the device's own; it outlives the device.
    /// ConfigError where such an NPU could not work or has no registers.
    explicit Device(SystemConfig system, ByteStore* store = nullptr);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    /// Posted: the next call finds it done. ConfigError where there is no register.
    void write_register(std::uint32_t address, std::uint32_t value);
    /// Time passes until the read is answered.
    std::uint32_t read_register(std::uint32_t address);

    // No time passes. ConfigError outside of every region.
    void write_memory(Address address, std::span<const std::uint8_t> bytes);
    void read_memory(Address address, std::span<std::uint8_t> bytes);

    /// All of it passes, whatever happens.
    void advance(Cycles cycles);
    /// Until the interrupt line is high; it may be already.
    DeviceStop run_until_interrupt(Cycles most);
    /// Until nothing is left to happen.
    DeviceStop run_until_idle(Cycles most);

    bool interrupt();
    Cycles now();
    /// What was counted so far. Its cycles are those from the first op-enable to the last interrupt.
    Result result();

 private:
    struct Simulation;
    class Use;

    SystemConfig system_;
    std::unique_ptr<Simulation> simulation_;
};

}  // namespace npuscope
