// SPDX-License-Identifier: Apache-2.0
// Plays a register program on a device that a driver reaches from outside: by the C library, by
// sockets, by pins, or by a caller's own functions. Statements and checks are those of `npuscope
// run`; as a driver sees only the interrupt line, interrupts are served when a statement waits for
// one, by a read and a write of the status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/base/register_map.h"
#include "sim/program/program.h"
#include "sim/run/memory_checks.h"
#include "sim/run/result.h"
#include "sim/run/sync_board.h"

namespace npuscope {

/// What a driver can do to a device; memory without time.
class DrivenDevice {
 public:
    DrivenDevice() = default;
    DrivenDevice(const DrivenDevice&) = delete;
    DrivenDevice& operator=(const DrivenDevice&) = delete;
    virtual ~DrivenDevice() = default;

    virtual void write(std::uint32_t address, std::uint32_t value) = 0;
    virtual std::uint32_t read(std::uint32_t address) = 0;
    virtual void write_memory(Address address, std::span<const std::uint8_t> bytes) = 0;
    /// `size` bytes of one value.
    virtual void fill_memory(Address address, std::uint64_t size, std::uint8_t value);
    virtual void read_memory(Address address, std::span<std::uint8_t> bytes) = 0;
    /// Returns while the interrupt line is high.
    virtual void await_interrupt() = 0;
};

class ProgramPlayer {
 public:
    /// `blocks`: whose registers the program, which outlives this, writes. ConfigError if there are
    /// none.
    ProgramPlayer(const Program& program, std::span<const RegisterBlock> blocks,
                  DrivenDevice& device);
    ProgramPlayer(Program&& program, std::span<const RegisterBlock> blocks, DrivenDevice& device);

    /// Runs to the last awaited interrupt and its checks. MachineStopped if it cannot continue,
    /// ConfigError where a statement is for `npuscope run` only, and what the device throws.
    void play();

    bool done = false;
    int checks = 0;  ///< that compare something
    int failed = 0;  ///< of them
    /// Called with each of them.
    std::function<void(const CheckResult&)> on_check{};

 private:
    void serve();
    void serve_pending();
    void serve_all();
    void keep(const CheckResult& check);
    const Place& place() const { return program_->statements[statement_].place; }
    ReadBytes memory_bytes();

    void execute(const InitMemory& init);
    void execute(const LoadMemory& load);
    void execute(const WriteRegister& write);
    void execute(const ReadRegister& read);
    void execute(const PollRegister& poll);
    void execute(const ReadMemory& read);
    void execute(const NotifyOnInterrupt& notify);
    void execute(const WaitForInterrupt& wait);
    void execute(const SyncNotify& notify);
    void execute(const SyncWait& wait);
    void execute(const CheckCrc& check);
    void execute(const CheckImage& check);
    void execute(const CheckNothing& /*check*/) {}
    void execute(const LaunchJob& launch);
    void execute(const WaitForJobs& wait);
    void execute(const RunNode& node);
    void execute(const MeetInstances& /*meet*/) {}
    void execute(const BeginSegment& /*segment*/) {}
    void execute(const BeginLayer& /*layer*/) {}

    std::unique_ptr<const Program> own_;
    const Program* program_;
    std::uint32_t status_;  ///< address of S_INTR_STATUS
    std::uint32_t mask_;    ///< and of S_INTR_MASK
    DrivenDevice& device_;
    std::size_t statement_ = 0;  ///< being executed
    SyncBoard board_;
    std::uint32_t masked_ = 0;   ///< the mask's value
    std::uint32_t pending_ = 0;  ///< interrupts that were cleared, and that no notification has met
};

}  // namespace npuscope
