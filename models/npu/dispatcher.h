// SPDX-License-Identifier: Apache-2.0
// From op-enable to launch: when all blocks that an operation needs are enabled in the group whose
// turn it is, their registers decode, once, into a job. From there on no one reads a register. The
// other way round, units that finish free their group, fill their counters and raise their
// interrupt.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/statistics.h"
#include "models/cdp/cdp.h"
#include "models/conv/cacc.h"
#include "models/conv/cdma.h"
#include "models/conv/csc.h"
#include "models/csb/csb.h"
#include "models/glb/glb.h"
#include "models/npu/bdma_queue.h"
#include "models/npu/npu_config.h"
#include "models/pdp/left_lines.h"
#include "models/pdp/pdp.h"
#include "models/rubik/rubik.h"
#include "models/sdp/sdp.h"

namespace npuscope {

/// Blocks of registers that launch together, in one of their two groups.
class LaunchGate {
 public:
    explicit LaunchGate(std::vector<RegisterFile*> files) : files_(std::move(files)) {}

    unsigned group() const { return next_group_; }
    /// All blocks are enabled in the group whose turn it is, and were not launched yet.
    bool open() const;
    const RegisterValues& values(std::size_t block) const {
        return files_[block]->values(next_group_);
    }
    RegisterFile& file(std::size_t block) { return *files_[block]; }
    /// When a block of the group whose turn it is was enabled.
    Cycles enabled(std::size_t block) const { return enabled_[block][next_group_]; }
    /// A group of `file`, which may be of another gate, has been enabled.
    void note_enabled(const RegisterFile& file, unsigned group, Cycles time);
    /// The group has been launched; the other one has its turn.
    void pass();
    /// A block has finished its running operation.
    void finish(std::size_t block);

 private:
    std::vector<RegisterFile*> files_;
    std::vector<std::array<bool, 2>> launched_ = std::vector<std::array<bool, 2>>(files_.size());
    std::vector<std::array<Cycles, 2>> enabled_ = std::vector<std::array<Cycles, 2>>(files_.size());
    unsigned next_group_ = 0;
};

class Dispatcher : public CsbListener {
 public:
    struct Rooms {
        Csb& csb;
        Glb& glb;
        Cdma& cdma;
        Csc& csc;
        Cacc& cacc;
        Sdp& sdp;
        Pdp& pdp;
        Cdp& cdp;
    };
    Dispatcher(const NpuConfig& config, DiagnosticLog& log, const Rooms& rooms);

    void register_written(RegisterFile& file, const WriteEffect& effect, Cycles time) override;
    void register_about_to_be_read(RegisterFile& file) override;
    Cycles register_holds_until(const RegisterFile& file, const RegisterRow& row,
                                Cycles time) const override;

    /// Units that not every NPU has.
    void add(Bdma& bdma);
    void add(Rubik& rubik);
    /// Operations launched from now on have no values: time alone is simulated.
    void leave_out_values() { values_ = false; }
    const std::vector<OperationRecord>& operations() const { return operations_; }

 private:
    void wire_conv();
    void wire_others();
    /// Tells of an image that the sequencer miscounts.
    void add_miscount(CombinedConvJob& combined) const;
    void launch_ready();
    bool launch_conv();
    bool launch_sdp();
    bool launch_pdp();
    bool launch_cdp();
    bool launch_rubik();
    void launch_bdma(const std::shared_ptr<BdmaWork>& work);

    void sdp_done(SdpWork& work);
    void pdp_done(PdpWork& work);
    void cdp_done(CdpWork& work);
    void tell_of_lines_left(const PdpWork& work);
    void finish_record(OperationRecord record);
    /// What the end of a convolution met in the delivery buffer.
    void tell_of_ends(EndMarks::Meeting meeting);
    void tell_of_early_end(const SdpWork& work, std::uint64_t atoms);
    /// ConfigError where the ends of a flight cannot go together.
    void note_flight(std::vector<Diagnostic> findings);

    std::string next_name(const std::string& unit) { return unit + " " + std::to_string(count_++); }

    const NpuConfig config_;
    DiagnosticLog& log_;
    Rooms rooms_;
    BufferHistory history_{config_.cbuf.bank_width};
    LaunchGate conv_;
    LaunchGate sdp_;
    LaunchGate sdp_rdma_;
    LaunchGate pdp_;
    LaunchGate pdp_rdma_;
    LaunchGate cdp_;
    LaunchGate rubik_gate_;
    BdmaQueue bdma_queue_;
    Bdma* bdma_ = nullptr;
    Rubik* rubik_ = nullptr;
    unsigned count_ = 0;
    bool values_ = true;
    bool data_done_ = false;  // of the CDMA's running operation
    bool weights_done_ = false;
    // operations whose result flies on: their records end with whoever writes
    std::deque<std::shared_ptr<ConvWork>> awaiting_sdp_;
    std::deque<OperationRecord> awaiting_pdp_;
    std::optional<LinesLeft> lines_left_;  // by the pooling before
    FlightPairs to_sdp_;
    FlightPairs to_pdp_;
    std::vector<OperationRecord> operations_;
};

}  // namespace npuscope
