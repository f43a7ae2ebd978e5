// SPDX-License-Identifier: Apache-2.0
// A TINPU: runs layers as its host launches them. Each passes four stages, which may hold different
// layers at the same time:
//
//     launch -> set-up -> load (weights, constants) -> compute (input, residual) -> write -> done
//
// All bytes move through memory ports in simulated time. How many layers are under way is up to the
// host and to the number of weight buffers; the MACs of one layer begin when the previous layer has
// been written. Not modelled: limits of the stores for weights and lines except read_buffer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/statistics.h"
#include "models/link/channel.h"
#include "models/link/surface_port.h"
#include "models/link/timed_counter.h"
#include "models/link/unit.h"
#include "models/tinpu/tinpu_job.h"
#include "models/tinpu/tinpu_math.h"

namespace npuscope {

/// A layer on its way through the unit.
struct TinpuLaunch {
    TinpuJob job;
    bool values = true;      ///< false: timing only
    OperationRecord record;  ///< `start`: of the launch, or the end of the previous layer
    ClipCounters clipped;
    std::function<void(const OperationRecord&)> ended{};  ///< called at the end; may be empty
    // of the stages
    Cycles launched;
    Cycles set_up;
    TinpuOperands operands;
};

class Tinpu : public Unit {
 public:
    /// `bus_width`: of the ports. ConfigError if the engine could not work at all.
    Tinpu(const sc_core::sc_module_name& name, const TinpuConfig& config, Bytes bus_width,
          DiagnosticLog& log);

    Channel<std::shared_ptr<TinpuLaunch>> launches{"tinpu.launches"};
    RunReader weights{"tinpu_weights", "tinpu", "tinpu_weights"};
    RunReader constants{"tinpu_constants", "tinpu", "tinpu_constants"};
    RunReader input{"tinpu_maps", "tinpu", "tinpu_input"};
    RunReader residual{"tinpu_maps", "tinpu", "tinpu_residual"};
    DmaPort output{"tinpu_maps", "tinpu", "tinpu_output"};

    /// Launches a layer now; `ended` is called at its end, before on_done.
    void launch(const TinpuJob& job, bool values = true,
                std::function<void(const OperationRecord&)> ended = {});
    void on_done(std::function<void(TinpuLaunch&)> listener) { done_ = std::move(listener); }

 private:
    /// Bytes of an output that are complete, up to `end`; without a launch, the layer is complete.
    struct Complete {
        const TinpuLaunch* launch = nullptr;
        Bytes end;
    };
    void set_up(Activity& activity);
    void load(Activity& activity);
    void compute(Activity& activity);
    void write(Activity& activity);

    void load_weights(Activity& activity, TinpuLaunch& launch);
    void fetch_maps(TinpuLaunch& launch);
    /// The MACs of a layer; returns the cycles that they took.
    Cycles work_through(Activity& activity, const TinpuLaunch& launch);
    ByteStreamSetup stream_setup() const;

    const TinpuConfig config_;
    const Bytes bus_width_;
    DiagnosticLog& log_;
    std::function<void(TinpuLaunch&)> done_;
    Channel<std::shared_ptr<TinpuLaunch>> ready_{"tinpu.ready", 1};
    Channel<std::shared_ptr<TinpuLaunch>> loaded_{"tinpu.loaded", 1};
    Channel<Complete> results_{"tinpu.results", 2};
    Channel<WriteResponse> written_{"tinpu.written", 1};
    TimedCounter weight_buffers_;
    // of the layer that is being computed
    std::vector<std::uint8_t> result_;
    Bytes sent_;  // to memory
    WriteResponse response_;
    Cycles last_end_;
};

}  // namespace npuscope
