// SPDX-License-Identifier: Apache-2.0
// The host beside the NPU: executes a program's statements in order over the configuration bus,
// answers interrupts, and holds memory against what the program expects.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <optional>
#include <string>
#include <tlm>
#include <vector>

#include "models/csb/csb.h"
#include "models/csb/register_blocks.h"
#include "models/glb/glb.h"
#include "models/link/unit.h"
#include "models/memory/memory.h"
#include "sim/program/program.h"
#include "sim/run/result.h"
#include "sim/run/sync_board.h"

namespace npuscope {

class Host : public Unit {
 public:
    /// The machine's parts that the host sees beside the bus.
    struct Machine {
        Memory& memory;
        Glb& glb;
        AddressMap registers;
    };
    Host(const sc_core::sc_module_name& name, const Program& program, const Machine& machine);

    tlm_utils::simple_initiator_socket<Host> bus{"bus"};

    /// Memory is neither filled nor compared with anything: time alone is simulated.
    void leave_out_values() { values_ = false; }

    bool finished() const { return finished_; }
    const std::vector<CheckResult>& checks() const { return checks_; }
    /// First op-enable to last awaited interrupt; nothing where a program starts no operation.
    Cycles cycles() const;
    /// Nothing where a program starts no operation.
    std::optional<Cycles> first_op_enable() const { return first_op_enable_; }
    /// Statement that is being executed, for messages.
    Place place() const {
        return statement_ < program_.statements.size() ? program_.statements[statement_].place
                                                       : Place{};
    }
    /// What the host still waits for, for a machine that stopped.
    std::string waits_for() const;
    /// Where the program last wrote a register, by its name.
    std::optional<Place> written_at(std::string_view register_name) const;

 private:
    void execute_program(Activity& activity);
    /// As a player of traces does where the program has no word on the mask.
    void unmask_interrupts();
    void serve_interrupts(Activity& activity);
    void serve_pending();
    void finish_checks();
    void keep_check(CheckResult check);

    void execute(Activity& activity, const InitMemory& init);
    void execute(Activity& activity, const LoadMemory& load);
    void execute(Activity& activity, const WriteRegister& write);
    void execute(Activity& activity, const ReadRegister& read);
    void execute(Activity& activity, const PollRegister& poll);
    void execute(Activity& activity, const NotifyOnInterrupt& notify);
    void execute(Activity& activity, const WaitForInterrupt& wait);
    void execute(Activity& activity, const ReadMemory& read);
    void execute(Activity& activity, const SyncNotify& notify);
    void execute(Activity& activity, const SyncWait& wait);
    void execute(Activity& activity, const CheckCrc& check);
    void execute(Activity& activity, const CheckImage& check);
    void execute(Activity& activity, const CheckNothing& check);

    /// Runs `check` as soon as `sync` has been raised; now where it is empty.
    void when_raised(const std::string& sync, std::function<void()> check);
    /// One access of the bus. Writes run ahead of time; catch_up() before anything that time
    /// matters to.
    std::uint32_t access(tlm::tlm_command command, std::uint32_t address, std::uint32_t value,
                         PollExtension* poll = nullptr);
    void catch_up(Activity& activity);

    struct WaitingCheck {
        std::string sync;
        std::function<void()> run;
    };

    const Program& program_;
    bool values_ = true;
    Memory& memory_;
    Glb& glb_;
    AddressMap registers_;
    SyncBoard board_;
    std::vector<WaitingCheck> waiting_checks_;
    std::vector<CheckResult> checks_;
    std::optional<Cycles> first_op_enable_;
    std::uint64_t awaited_interrupts_ = 0;  // by waits for the line
    std::optional<Cycles> last_awaited_;    // when the newest of them rose
    std::size_t statement_ = 0;             // that is being executed
    Cycles ahead_;                          // of simulated time
    bool executed_ = false;
    bool finished_ = false;
    sc_core::sc_event board_changed_;
};

}  // namespace npuscope
