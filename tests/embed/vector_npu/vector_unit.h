// SPDX-License-Identifier: Apache-2.0
// The vector unit: processes jobs in launch order, one at a time. One thread reads and computes,
// another writes, so that pieces of one job overlap.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "models/base/statistics.h"
#include "models/link/channel.h"
#include "models/link/surface_port.h"
#include "models/link/unit.h"
#include "vector_config.h"
#include "vector_job.h"
#include "vector_timing.h"

namespace vector_npu {

/// A job on its way through the unit.
struct VectorLaunch {
    std::shared_ptr<const VectorJob> job;
    bool values = true;  ///< false: only time is simulated, and the output is zeros
    std::function<void(const npuscope::OperationRecord&)> ended{};
    std::vector<std::uint8_t> result{};  ///< of the computing thread
};

class VectorUnit : public npuscope::Unit {
 public:
    VectorUnit(const sc_core::sc_module_name& name, const VectorConfig& config,
               npuscope::Bytes bus_width);

    npuscope::RunReader a{"vector_maps", "vector", "vector_a"};
    npuscope::RunReader b{"vector_maps", "vector", "vector_b"};
    npuscope::DmaPort output{"vector_maps", "vector", "vector_output"};

    void launch(VectorLaunch launch);

 private:
    struct Written {
        std::shared_ptr<const VectorLaunch> launch;
        VectorPiece piece;
    };
    void compute(npuscope::Activity& activity);
    void write(npuscope::Activity& activity);
    void fetch_values(VectorLaunch& launch);
    void open_readers(const VectorLaunch& launch);
    /// Reads, computes and passes on all pieces; returns the cycles of the work.
    npuscope::Cycles work_through(npuscope::Activity& activity,
                                  const std::shared_ptr<const VectorLaunch>& launch);

    const VectorConfig config_;
    const npuscope::Bytes bus_width_;
    npuscope::Channel<std::shared_ptr<VectorLaunch>> launches_{"vector.launches"};
    npuscope::Channel<Written> pieces_{"vector.pieces", 2};
    npuscope::Channel<npuscope::WriteResponse> responses_{"vector.responses", 1};
};

}  // namespace vector_npu
