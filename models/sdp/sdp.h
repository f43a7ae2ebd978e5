// SPDX-License-Identifier: Apache-2.0
// Single-point data processor with its read DMAs: takes atoms from the accumulator or a cube from
// memory, operands of its three stages from memory, and writes the result or sends it on to PDP.
// Not modelled: stalls between the stages; their throughput counts as one.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "models/base/statistics.h"
#include "models/data/datapath.h"
#include "models/link/atom_run.h"
#include "models/link/channel.h"
#include "models/link/cube_reader.h"
#include "models/link/surface_port.h"
#include "models/link/unit.h"
#include "models/sdp/operand_reader.h"
#include "models/sdp/sdp_config.h"
#include "models/sdp/sdp_job.h"
#include "models/sdp/sdp_math.h"
#include "models/sdp/sdp_timing.h"

namespace npuscope {

/// One operation on its way through the unit.
struct SdpWork {
    SdpJob job;
    std::string name;
    unsigned group = 0;
    bool uses_rdma = false;  ///< NVDLA_SDP_RDMA was enabled with it
    LookupTables tables;
    SdpCounters counters;
    OperationRecord record;
};

class Sdp : public Unit {
 public:
    using SourceRun = AtomRun<std::int32_t>;
    using ResultRun = AtomRun<std::int8_t>;
    /// What the unit is wired to.
    struct Wires {
        Channel<SourceRun>& accumulated;
        Channel<ResultRun>& to_pdp;
    };
    Sdp(const sc_core::sc_module_name& name, const SdpConfig& config,
        const DatapathConfig& datapath, const Wires& wires);

    Channel<std::shared_ptr<SdpWork>> launches{"sdp.launches"};
    CubeReader reader{"sdp", "sdp"};
    std::array<OperandReader, 3> operands{OperandReader("sdp_b"), OperandReader("sdp_n"),
                                          OperandReader("sdp_e")};
    DmaPort write_port{"sdp", "sdp", "sdp_write"};

    void on_done(std::function<void(SdpWork&)> listener) { done_ = std::move(listener); }

 private:
    void run_operation(Activity& activity);
    void start_reading(Activity& activity, SdpWork& work);
    void run_flying(Activity& activity, SdpWork& work);
    void run_from_memory(Activity& activity, SdpWork& work);
    /// One run of atoms: wait for it, spend its time, hand the result on.
    template <class T>
    void process(Activity& activity, const SdpWork& work, const AtomRun<T>& run);
    void take_operands(Activity& activity, std::uint64_t atoms, std::uint32_t surface);
    void hand_on(Activity& activity, const SdpWork& work, const ResultRun& result);
    void keep_result(SdpWork& work, SdpResult result);
    Cycles atom_cycles(const SdpJob& job) const;
    Cycles tail(const SdpJob& job) const;

    const SdpConfig config_;
    const DatapathConfig datapath_;
    Wires wires_;
    std::function<void(SdpWork&)> done_;
    SdpOperands fetched_;
    std::shared_ptr<const Tensor<std::int8_t>> result_;
    std::optional<CubeWriter> writer_;
    Cycles last_response_;
};

}  // namespace npuscope
