// SPDX-License-Identifier: Apache-2.0
// The launch engine in simulated time: an op-enable that arrives starts the operations that can
// start, and hands their jobs to the units; from there on no register is read. In the other
// direction, units that finish free their group, fill their counters and raise their interrupt.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/statistics.h"
#include "models/bdma/bdma.h"
#include "models/conv/cacc.h"
#include "models/conv/cdma.h"
#include "models/conv/csc.h"
#include "models/csb/csb.h"
#include "models/glb/glb.h"
#include "models/link/clock.h"
#include "models/npu/launch_engine.h"
#include "models/sdp/sdp.h"

namespace npuscope {

class Dispatcher : public CsbListener {
 public:
    struct Rooms {
        Csb& csb;
        Glb& glb;
        Cdma& cdma;
        Csc& csc;
        Cacc& cacc;
        Sdp& sdp;
        ValueThread& values;
    };
    Dispatcher(const NpuConfig& config, DiagnosticLog& log, const Rooms& rooms);

    void register_written(RegisterFile& file, const WriteEffect& effect, Cycles time) override;
    void register_about_to_be_read(RegisterFile& file) override;
    Cycles register_holds_until(const RegisterFile& file, const RegisterRow& row,
                                Cycles time) const override;

    /// From now on the unit runs what its registers launch.
    template <class Unit>
    void add(Unit& unit);
    void add(Bdma& bdma);
    /// Operations launched from now on have no values: timing only.
    void leave_out_values() { values_ = false; }
    const std::vector<OperationRecord>& operations() const { return operations_; }
    /// `complete` is called with each record when its operation has ended, before cycles that no
    /// unit accounts for become latency.
    void complete_records_by(std::function<void(OperationRecord&)> complete) {
        complete_ = std::move(complete);
    }
    // Operations that are left out because they repeat others, see models/npu/repeated_operations.

    struct Counted {
        std::uint64_t launched = 0;
        std::size_t ended = 0;  ///< of operations()
    };
    Counted counted() const { return {engine_.launched(), operations_.size()}; }
    /// This is the only convolution that has begun, and each SDP operation takes a convolution's
    /// sums.
    bool runs_alone(const ConvWork& work) const;
    /// Counts what was launched and ended in between `times` more times, each `cycles` later; what
    /// is under way belongs to the last time. Returns when the first of it was launched.
    Cycles count_again(const Counted& from, const Counted& to, std::uint64_t times, Cycles cycles);
    /// Groups are counted from `group` on.
    void add_state(Fingerprint& state, unsigned group) const;

    /// A launch of the BDMA's group has not ended.
    bool copies(unsigned group) const { return bdma_queue_.busy(group); }

 private:
    void wire_conv();
    void wire_sdp();
    /// Starts what can start. ConfigError if its registers do not make an operation of this NPU.
    void launch_ready();
    void start_conv(const Launch& launch);
    void start_sdp(const Launch& launch);
    /// Sets what every unit's work takes from its launch.
    template <class Work>
    void begin(Work& work, const Launch& launch);
    void launch_bdma(const std::shared_ptr<BdmaWork>& work);

    void sdp_done(const std::shared_ptr<SdpWork>& of);
    /// What the registers show of a completed operation.
    struct Shown {
        StatusValues statuses;
        const LookupCounters* lookups = nullptr;
        bool taken_on_the_fly = false;
    };
    void unit_done(Pipeline pipeline, UnitWork& work, const Shown& shown);
    LookupTables tables_of(Pipeline pipeline);
    void finish_record(OperationRecord record);
    /// Reports what the end of a convolution met in the delivery buffer.
    void report_ends(const SdpWork& sdp, EndMarks::Meeting meeting);
    /// The convolution that feeds an operation of the SDP.
    const ConvWork& feeding(const SdpWork& work) const;
    void report_early_end(const SdpWork& work, std::uint64_t atoms);
    /// Reports a convolution that is enabled while the buffer is being cleared after reset.
    void report_flush(const Launch& launch);

    const NpuConfig config_;
    DiagnosticLog& log_;
    Rooms rooms_;
    LaunchEngine engine_;
    std::array<std::function<void(Launch&)>, pipeline_rows.size()> starters_;  // by pipeline
    BdmaQueue bdma_queue_;
    Bdma* bdma_ = nullptr;
    bool values_ = true;
    bool data_done_ = false;  // of the CDMA's running operation
    bool weights_done_ = false;
    // operations whose result continues on the fly: their records end with the unit that writes
    std::deque<std::shared_ptr<ConvWork>> awaiting_sdp_;
    std::deque<SdpWork*> fed_;        // SDP operations that they feed, in the same order
    std::size_t sdp_operations_ = 0;  // under way, these and others
    std::deque<OperationRecord> awaiting_pdp_;
    std::deque<std::string> pooled_;  // on the fly, and the operation that feeds them has not ended
    std::vector<OperationRecord> operations_;
    std::function<void(OperationRecord&)> complete_;
};

template <class Work>
void Dispatcher::begin(Work& work, const Launch& launch) {
    work.name = launch.name;
    work.group = launch.group;
    work.values = values_;
    work.uses_rdma = launch.rdma_enabled.has_value();
    work.rdma_enabled = launch.rdma_enabled.value_or(now());
    work.record.unit = row_of(launch.pipeline).name;
    work.record.name = launch.name;
    work.record.start = now();
    if constexpr (requires { work.tables; }) {
        work.tables = tables_of(launch.pipeline);
    }
}

template <class Unit>
void Dispatcher::add(Unit& unit) {
    using Work = typename Unit::Work;
    using Job = decltype(Work::job);
    constexpr Pipeline pipeline = pipeline_of<Job>();
    starters_[static_cast<std::size_t>(pipeline)] = [this, &unit](Launch& launch) {
        const auto work = std::make_shared<Work>();
        work->job = std::move(std::get<Job>(launch.job));
        begin(*work, launch);
        unit.launches.push(work);
    };
    unit.on_done([this](Work& work) {
        Shown shown{work.statuses()};
        if constexpr (requires { work.counters.lut; }) {
            shown.lookups = work.job.count_lookups ? &work.counters.lut : nullptr;
        }
        if constexpr (requires { work.job.flying(); }) {
            shown.taken_on_the_fly = work.job.flying();
        }
        unit_done(pipeline, work, shown);
    });
}

}  // namespace npuscope
