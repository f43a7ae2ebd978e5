// SPDX-License-Identifier: Apache-2.0
// The launch engine in time: an op-enable that arrives starts the operations that can start, and
// hands their jobs to the units; from there on no one reads a register. In the other direction,
// units that finish free their group, fill their counters and raise their interrupt.
#pragma once

#include <deque>
#include <memory>
#include <variant>
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
#include "models/npu/launch_engine.h"
#include "models/npu/npu_config.h"
#include "models/pdp/pdp.h"
#include "models/rubik/rubik.h"
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
    /// A launch of the BDMA's group has not ended.
    bool copies(unsigned group) const { return bdma_queue_.busy(group); }

 private:
    void wire_conv();
    void wire_others();
    /// Starts what can start. ConfigError where its registers do not make an operation of this NPU.
    void launch_ready();
    void start(const Launch& launch, ConvJob& job);
    void start(const Launch& launch, SdpJob& job);
    void start(const Launch& launch, PdpJob& job);
    void start(const Launch& launch, CdpJob& job);
    void start(const Launch& launch, RubikJob& job);
    void start(const Launch& launch, std::monostate job);
    void launch_bdma(const std::shared_ptr<BdmaWork>& work);

    void sdp_done(SdpWork& work);
    void pdp_done(PdpWork& work);
    void cdp_done(CdpWork& work);
    void finish_record(OperationRecord record);
    /// What the end of a convolution met in the delivery buffer.
    void report_ends(EndMarks::Meeting meeting);
    void report_early_end(const SdpWork& work, std::uint64_t atoms);

    const NpuConfig config_;
    DiagnosticLog& log_;
    Rooms rooms_;
    LaunchEngine engine_;
    BdmaQueue bdma_queue_;
    Bdma* bdma_ = nullptr;
    Rubik* rubik_ = nullptr;
    bool values_ = true;
    bool data_done_ = false;  // of the CDMA's running operation
    bool weights_done_ = false;
    // operations whose result goes on on the fly: their records end with the unit that writes
    std::deque<std::shared_ptr<ConvWork>> awaiting_sdp_;
    std::deque<OperationRecord> awaiting_pdp_;
    std::vector<OperationRecord> operations_;
};

}  // namespace npuscope
