// SPDX-License-Identifier: Apache-2.0
// Planar data processor: pools what SDP sends, or a cube from memory, and writes the result line by
// line. Not modelled: stalls of the line buffer when windows overlap widely.
#pragma once

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
#include "models/pdp/pdp_config.h"
#include "models/pdp/pdp_job.h"
#include "models/pdp/pdp_timing.h"

namespace npuscope {

/// One pooling on its way through the unit.
struct PdpWork {
    PdpJob job;
    std::string name;
    unsigned group = 0;
    bool uses_rdma = false;  ///< NVDLA_PDP_RDMA was enabled with it
    OperationRecord record;
};

class Pdp : public Unit {
 public:
    Pdp(const sc_core::sc_module_name& name, const PdpConfig& config,
        const DatapathConfig& datapath);

    Channel<std::shared_ptr<PdpWork>> launches{"pdp.launches"};
    Channel<AtomRun<std::int8_t>> flying{"pdp.flying", 8};
    CubeReader reader{"pdp", "pdp"};
    DmaPort write_port{"pdp", "pdp", "pdp_write"};

    void on_done(std::function<void(PdpWork&)> listener) { done_ = std::move(listener); }

 private:
    void run_operation(Activity& activity);
    void start_reading(Activity& activity, const PdpWork& work);
    void consume(Activity& activity, const AtomRun<std::int8_t>& run);
    void write_finished_lines(Activity& activity, const PdpWork& work,
                              const AtomRun<std::int8_t>& run);
    const PdpPart& part_of(const PdpWork& work, std::uint64_t column) const;

    const PdpConfig config_;
    const DatapathConfig datapath_;
    std::function<void(PdpWork&)> done_;
    std::optional<CubeWriter> writer_;
    Cycles last_response_;
};

}  // namespace npuscope
