// SPDX-License-Identifier: Apache-2.0
// A TINPU: fetches a layer's operands from memory, computes, and writes the result there; one layer
// at a time, as its host launches them. Time is counted, not simulated event by event: nothing else
// runs beside a layer.
#pragma once

#include "models/memory/sparse_memory.h"
#include "models/tinpu/tinpu_config.h"
#include "models/tinpu/tinpu_job.h"
#include "models/tinpu/tinpu_timing.h"

namespace npuscope {

/// What became of one launch.
struct TinpuRecord {
    Cycles start;
    TinpuCycles cycles;
    TinpuTraffic traffic;
    ClipCounters clipped;

    Cycles end() const { return start + cycles.total(); }
};

class Tinpu {
 public:
    Tinpu(const TinpuConfig& config, SparseMemory& memory) : config_(config), memory_(memory) {}

    /// Runs a layer behind the last one. With `values` false only time passes.
    TinpuRecord launch(const TinpuJob& job, bool values = true);
    /// When the last layer ended.
    Cycles now() const { return now_; }

 private:
    Tensor<std::int32_t> fetch(const MapSurface& surface) const;
    Kernels<std::int8_t> fetch(const WeightSurface& surface) const;
    BnormStage fetch_constants(const TinpuJob& job) const;
    Tensor<std::int32_t> compute(const TinpuJob& job, ClipCounters& clipped) const;

    TinpuConfig config_;
    SparseMemory& memory_;
    Cycles now_;
};

/// The table of constants as it lies in memory.
std::vector<std::uint8_t> store_constants(const std::vector<BnormChannel>& channels);

}  // namespace npuscope
