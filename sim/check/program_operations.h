// SPDX-License-Identifier: Apache-2.0
// The operations of a program, followed without time: an operation starts when the launch engine
// lets it, and ends when the program has learnt of its end. The registers behave as on the bus,
// including both groups and both pointers.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/csb/register_file.h"
#include "models/npu/launch_engine.h"
#include "models/npu/npu_config.h"
#include "sim/check/operation_surfaces.h"
#include "sim/check/value_rules.h"
#include "sim/program/program.h"

namespace npuscope {

struct PipelineRow;

class ProgramOperations {
 public:
    explicit ProgramOperations(const NpuConfig& npu);

    /// From now on operations keep the registers that define how they compute.
    void keep_settings() { keeps_settings_ = true; }
    /// From now on operations keep the job that they compute.
    void keep_jobs() { keeps_jobs_ = true; }
    /// Launches what the write triggers; returns whether there was something. `place` must outlive
    /// this.
    bool write(const WriteRegister& write, const Place& place, DiagnosticLog& log);
    /// A register that the program expects to differ from what was written to it. Only registers of
    /// operations that hold what is written: no enables, no status.
    void expect(const ReadRegister& read, const Place& place, DiagnosticLog& log);
    const std::deque<CheckedOperation>& all() const { return operations_; }
    CheckedOperation& at(std::size_t index) { return operations_[index]; }
    /// First operation of the chain that passes its results on the fly to this one.
    std::size_t head_of(std::size_t index) const;
    /// Whether it may start: what it takes on the fly has a producer.
    bool is_fed(std::size_t index) const { return !operations_[head_of(index)].takes; }
    /// Whether its end raises an interrupt: of the commands in one launch of the BDMA, the last.
    bool interrupts(std::size_t index) const {
        return operations_[index].launched && !amid_launch_.contains(index);
    }
    /// nullptr if there is none.
    const CheckedOperation* named(std::string_view name) const;
    /// Oldest operation that raises the interrupt and is not `done` yet: finished, or notified.
    std::optional<std::size_t> oldest_without(bool CheckedOperation::*done, Interrupt interrupt);
    /// The program knows that the operation, and all earlier ones on its units, are over.
    void finish(std::size_t index);
    void finish_all();
    std::uint32_t interrupt_mask() const;
    /// Blocks that are enabled but never start, and on-the-fly results without a consumer.
    void report_stuck(DiagnosticLog& log) const;
    /// Units that were programmed but never enabled: those that raise an interrupt, or any.
    Diagnostics unenabled(std::optional<Interrupt> wanted) const;

 private:
    /// A command of BDMA.
    void add_copy(const RegisterFile& file, const Place& place, DiagnosticLog& log);
    /// Commands that were added since the last launch belong to a group now. The last one ends the
    /// launch with its interrupt.
    void launch_copies(unsigned group, const Place& place, DiagnosticLog& log);
    void keep_write(const RegisterFile& file, const RegisterRow& row, const RegisterWrite& write);
    void add_writes(const RegisterFile& file, unsigned group, CheckedOperation& operation) const;
    /// Blocks of a pipeline that are enabled but never start; whether there are any.
    bool report_waiting(const PipelineRow& row, DiagnosticLog& log) const;
    /// A read DMA that is enabled for an operation that started without it.
    bool report_idle_dma(const PipelineRow& row, std::string_view block, DiagnosticLog& log) const;
    /// An SDP that waits for a read DMA without a source, while a convolution waits for an SDP.
    std::optional<Diagnostic> not_flying(unsigned group) const;
    /// On-the-fly operations without a producer or a consumer.
    void report_single_ends(DiagnosticLog& log) const;
    /// The block was enabled in the other group than `next`.
    Diagnostic wrong_group(std::string_view block, unsigned next) const;
    /// Look-up tables that are not loaded, operands that are fetched but not used.
    void add_value_findings(const Launch& launch, CheckedOperation& operation);
    void launch_ready(const Place& place, DiagnosticLog& log);
    void launch(Launch launch, const Place& place, DiagnosticLog& log);
    /// The order in which several batches pass from the one to the other.
    void check_batches(const CheckedOperation& conv, const CheckedOperation& sdp,
                       DiagnosticLog& log);
    std::size_t index_of(const std::string& name) const;
    RegisterFile& file(std::string_view name);
    const RegisterFile& file(std::string_view name) const;
    /// Where the program wrote a register of a group last; nullptr: nowhere.
    const Place* written_place(std::string_view block, unsigned group, std::string_view name) const;
    RegisterFile* file_at(std::uint32_t address);

    const NpuConfig& npu_;
    std::deque<RegisterFile> files_;
    LaunchEngine engine_;
    std::deque<CheckedOperation> operations_;
    std::size_t copies_ = 0;
    std::set<std::size_t>
        amid_launch_;  ///< commands of the BDMA that others follow in their launch
    bool keeps_settings_ = false;
    bool keeps_jobs_ = false;
    std::map<std::string_view, LoadedTables> luts_;  ///< by block
    std::map<std::string_view, Place> enabled_at_;   ///< by block, the newest
    /// By block and group: the last write since the group was enabled.
    std::map<std::pair<std::string_view, unsigned>, Place> programmed_at_;
    /// By block and group: the last write of each of its rows.
    std::map<std::pair<std::string_view, unsigned>, std::vector<RegisterWrite>> written_at_;
    std::map<std::string, std::size_t, std::less<>> by_name_;  ///< index of an operation
    /// By the arguments of oldest_without(): operations before this one are no longer candidates.
    std::map<std::tuple<bool, InterruptSource, unsigned>, std::size_t> passed_;
};

// What the order of operations leaves open: surfaces that share bytes, within one chain of units
// and between operations that may run at the same time, bytes of a running operation that the host
// writes, and short convolutions that do not wait for the previous one, so that their ends may
// overlap in the accumulator's delivery buffer (models/conv/conv_findings.h). Units of one kind work
// in order: what the last of them writes comes after everything that the previous operation did.
// Operation `index` has just started.
void check_host_write(const ProgramOperations& operations, const ByteRun& run, const Place& place,
                      DiagnosticLog& log);
void check_overlaps(const ProgramOperations& operations, std::size_t index, DiagnosticLog& log);
void check_delivery(const ProgramOperations& operations, std::size_t index, DiagnosticLog& log);

}  // namespace npuscope
