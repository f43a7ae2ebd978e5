// SPDX-License-Identifier: Apache-2.0
// The host next to the NPU: executes a program's statements in order over the configuration bus or
// by launching jobs, answers interrupts, computes what the NPU does not support, and compares
// memory with what the program expects.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tlm>
#include <vector>

#include "models/csb/csb.h"
#include "models/glb/glb.h"
#include "models/layout/feature_cube.h"
#include "models/link/unit.h"
#include "models/memory/memory.h"
#include "models/npu/machine.h"
#include "sim/program/program.h"
#include "sim/run/attribution.h"
#include "sim/run/memory_checks.h"
#include "sim/run/open_ends.h"
#include "sim/run/repeated_statements.h"
#include "sim/run/result.h"
#include "sim/run/sync_board.h"

namespace npuscope {

/// Where the hosts of a run wait for each other.
class Meeting {
 public:
    explicit Meeting(std::size_t hosts) : hosts_(hosts) {}

    /// One more host has come to its n-th meeting, counted from 1. Returns whether it was the last.
    bool arrive(std::size_t n) {
        arrived_.resize(std::max(arrived_.size(), n));
        if (++arrived_[n - 1] == hosts_) {
            complete_.notify(sc_core::SC_ZERO_TIME);
        }
        return is_complete(n);
    }
    bool is_complete(std::size_t n) const { return arrived_[n - 1] == hosts_; }
    const sc_core::sc_event& complete() const { return complete_; }

 private:
    std::size_t hosts_;
    std::vector<std::size_t> arrived_;
    sc_core::sc_event complete_;
};

class Host : public Unit {
 public:
    /// Binds itself to the machine's registers, if it has any.
    Host(const sc_core::sc_module_name& name, std::span<const Statement> program, Machine& machine,
         Memory& memory);

    /// Statements that meet other hosts use this meeting.
    void meet_at(std::shared_ptr<Meeting> meeting) { meeting_ = std::move(meeting); }
    /// Memory is neither filled nor compared with anything: timing-only simulation.
    void leave_out_values() { values_ = false; }
    /// Reads memory once the id `after` is raised or the job of this name has ended; if it is
    /// empty, when the run is over.
    void keep(const ByteRun& run, const std::string& after) {
        requests_.push_back({run, after, {}});
    }
    /// What was to be read, in the order of the requests; empty if that time never came.
    std::vector<std::vector<std::uint8_t>> take_kept();
    /// Records on `recorder` the operators that the host computes.
    void record_operators_to(Recorder* recorder) { recorder_ = recorder; }

    bool finished() const { return finished_; }
    /// It waits only for the machine, not for a time.
    bool at_rest() const;
    /// Jobs that it launched have not ended.
    bool awaits_jobs() const { return !launched_.empty(); }
    const std::vector<CheckResult>& checks() const { return checks_; }
    /// The machine can skip operations now: skips the statements that start them if they repeat
    /// earlier ones. Returns whether this is possible now: the host only waits for an interrupt.
    bool leave_out_repeated(RepeatedOperations& operations);
    /// To be called once, when the run is over: what the program left open, as errors. Checks that
    /// were never reached become results that failed.
    Diagnostics conclude();
    /// First op-enable to last awaited interrupt, plus the cycles of jobs and the host's operators.
    Cycles cycles() const;
    /// Only the cycles from first op-enable to last awaited interrupt.
    Cycles register_cycles() const;
    /// Nothing if the program is not from a model: it launches no job and runs no node.
    const std::optional<HostShare>& share() const { return share_; }
    /// The machine's operations and, between them, those of the host; with their own cycles.
    std::vector<OperationRecord> operations() const;
    /// The layers that the program names; an operator of the host is one, too.
    const std::vector<LayerRecord>& layers() const { return layers_; }
    /// Nothing if a program starts no operation.
    std::optional<Cycles> first_op_enable() const { return first_op_enable_; }
    /// Statement that is being executed, for messages.
    Place place() const {
        return statement_ < program_.size() ? program_[statement_].place : Place{};
    }
    /// The program has ended, but an operation is enabled, or will be: the write that enables it,
    /// the last statement, is still on its way to the register.
    bool leaves_operations() const;
    /// What the host still waits for, if the machine stopped.
    std::string waits_for() const;
    /// The host reads a register until it has a value.
    bool polls() const;
    /// Where the program last wrote the register that a finding is about, in its group.
    std::optional<Place> written_at(const Diagnostic& finding) const;

 private:
    void execute_program(Activity& activity);
    /// As a trace player does if the program does not set the mask.
    void unmask_interrupts();
    void serve_interrupts(Activity& activity);
    void serve_pending();
    void finish_checks();
    void keep_check(CheckResult check);
    ReadBytes memory_bytes() const;

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
    void execute(Activity& activity, const LaunchJob& launch);
    void execute(Activity& activity, const WaitForJobs& wait);
    void execute(Activity& activity, const RunNode& node);
    void execute(Activity& activity, const MeetInstances& meet);
    void execute(Activity& activity, const BeginSegment& segment);
    void execute(Activity& activity, const BeginLayer& layer);

    /// Replays the effects of the next statements except on the machine: those of a stretch, as
    /// often as it follows, each time this much later.
    void replay(const RepeatedStatements::Stretch& stretch, Cycles cycles);
    /// As reported in results.
    Cycles time() const { return machine_.counted(now()); }
    /// The times that cycles() adds up.
    std::vector<CountedTime> counted() const;
    std::string awaited_interrupts() const;
    /// An id that is not raised yet, and the interrupt that is to raise it, if one is awaited.
    std::string awaited_id(const std::string& id) const;
    /// Waits until fewer than `limit` jobs are running.
    void wait_for_jobs(Activity& activity, std::size_t limit);
    void job_ended(const LaunchJob& launch);
    void wait_for_interrupts(Activity& activity);
    void work(const HostWork& work);
    /// For a program that uses registers. ConfigError if the NPU has none.
    const Machine::Registers& registers() const;

    /// One access of the bus. Writes run ahead of time; call catch_up() before anything that
    /// depends on time.
    std::uint32_t access(tlm::tlm_command command, std::uint32_t address, std::uint32_t value,
                         PollExtension* poll = nullptr);
    void catch_up(Activity& activity);
    /// A check of bytes: which operations wrote them, where they are wrong.
    void keep_comparison(CheckResult check, const ByteRun& region);

    struct KeptBytes {
        ByteRun run;
        std::string after;
        std::vector<std::uint8_t> bytes;
    };
    /// Performs the reads that wait for this id or job.
    void keep_after(const std::string& event);
    void read_kept(KeptBytes& request);

    const std::span<const Statement> program_;
    bool values_ = true;
    Machine& machine_;
    Memory& memory_;
    const std::optional<Machine::Registers> registers_;
    tlm_utils::simple_initiator_socket_optional<Host> bus_{"bus"};
    SyncBoard board_;
    std::vector<CheckResult> checks_;
    Diagnostics findings_;  ///< from checks
    std::vector<KeptBytes> requests_;
    std::optional<Cycles> first_op_enable_;
    std::optional<Cycles> last_awaited_;  // when the newest of them was raised
    std::optional<HostShare> share_;
    std::deque<std::string> launched_;    // names of running jobs
    Cycles jobs_since_;                   // when the first of them was launched
    std::vector<CountedTime> job_times_;  // while any was running
    std::vector<LayerRecord> layers_;
    struct HostOperation {
        std::size_t after;  ///< after this many of the machine's operations
        OperationRecord record;
    };
    std::vector<HostOperation> operators_;
    Recorder* recorder_ = nullptr;
    std::shared_ptr<Meeting> meeting_;
    std::size_t meetings_ = 0;
    std::optional<RepeatedStatements> repeated_;
    std::size_t statement_ = 0;  // being executed
    Cycles ahead_;               // of simulated time
    bool executed_ = false;
    bool finished_ = false;
    sc_core::sc_event board_changed_;
    sc_core::sc_event job_ended_;
};

}  // namespace npuscope
