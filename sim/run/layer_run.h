// SPDX-License-Identifier: Apache-2.0
// What a run of layers gives: plain values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tinpu/tinpu_timing.h"
#include "sim/compile/tinpu/layer_system.h"
#include "sim/model/graph.h"
#include "sim/run/result.h"

namespace npuscope {

class LayerMachine;

struct LayerRunOptions {
    bool values = true;     ///< false: time alone; inputs are not needed
    bool timeline = false;  ///< keep what every unit did when
    Cycles max_cycles{100'000'000'000};
};

/// One layer or one operator of the host.
struct LayerOperation {
    std::string unit;  ///< tinpu or host
    std::string name;
    std::string pattern;  ///< or the operator
    Cycles start;
    Cycles cycles;
    std::uint64_t macs = 0;
    CauseCycles causes;  ///< all of the cycles
    TinpuTraffic traffic;

    std::string_view bound_by() const;
};

struct LayerRun {
    std::vector<LayerOperation> operations;
    std::map<std::string, GraphValue> outputs;  ///< as they are to be stored
    Cycles npu;
    Cycles host;
    Cycles simulated;
    std::vector<NamedTraffic> traffic;  ///< by client of the memory interface
    std::vector<NamedUnit> units;
    std::vector<NamedDram> drams;  ///< of the regions that have one
    std::vector<Diagnostic> findings;
    std::optional<Timeline> timeline;  ///< where it was asked for

    Cycles cycles() const { return npu + host; }
    /// Fail where a finding is an error.
    RunStatus status() const;
    /// Adds what a machine counted that has run.
    void gather(LayerMachine& machine);
};

/// Launches without a graph, in time alone.
LayerRun time_jobs(const std::vector<TinpuJob>& jobs, const LayerNpuConfig& config,
                   const MemoryConfig& memory);

}  // namespace npuscope
