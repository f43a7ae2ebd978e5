// SPDX-License-Identifier: Apache-2.0
// Cross-channel data processor: normalises a cube from memory by its neighbours in channel
// direction. Not modelled: the order in which the hardware walks channels of a pixel; only its
// time.
#pragma once

#include <functional>
#include <memory>

#include "models/base/statistics.h"
#include "models/cdp/cdp_config.h"
#include "models/cdp/cdp_job.h"
#include "models/cdp/cdp_timing.h"
#include "models/data/datapath.h"
#include "models/link/channel.h"
#include "models/link/cube_reader.h"
#include "models/link/surface_port.h"
#include "models/link/unit.h"

namespace npuscope {

/// One normalisation on its way through the unit.
struct CdpWork {
    CdpJob job;
    std::string name;
    unsigned group = 0;
    LookupTables tables;
    CdpCounters counters;
    OperationRecord record;
};

class Cdp : public Unit {
 public:
    Cdp(const sc_core::sc_module_name& name, const CdpConfig& config, const DatapathConfig& datapath);

    Channel<std::shared_ptr<CdpWork>> launches{"cdp.launches"};
    CubeReader reader{"cdp", "cdp"};
    DmaPort write_port{"cdp", "cdp", "cdp_write"};

    void on_done(std::function<void(CdpWork&)> listener) { done_ = std::move(listener); }

 private:
    void run_operation(Activity& activity);
    CubeWriter launch(Activity& activity, CdpWork& work);

    const CdpConfig config_;
    const DatapathConfig datapath_;
    std::function<void(CdpWork&)> done_;
};

}  // namespace npuscope
