// SPDX-License-Identifier: Apache-2.0
// One simulation of an NPU that runs layers, with its memory and the thread of its host. One at a
// time in a process; a second may follow the first.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/link/unit.h"
#include "models/memory/memory.h"
#include "models/npu/layer_npu.h"
#include "sim/run/kernel_scope.h"
#include "sim/run/layer_run.h"
#include "sim/run/timeline_recorder.h"

namespace npuscope {

class LayerMachine {
 public:
    LayerMachine(const LayerNpuConfig& config, const MemoryConfig& memory,
                 const LayerRunOptions& options);
    ~LayerMachine();
    LayerMachine(const LayerMachine&) = delete;
    LayerMachine& operator=(const LayerMachine&) = delete;

    /// Runs what the host does, from the beginning of time until it returns. Throws what the host
    /// or a unit threw, and MachineStopped for a deadlock or when the limit of cycles has passed.
    void run(const std::function<void()>& program);

    // For the host's program.
    Memory& memory() { return memory_; }
    /// Work of the host's own.
    void spend(Cycles cycles) { host_.activity->spend(cycles); }
    void launch(const TinpuJob& job);
    /// The layers that were launched and not awaited yet.
    std::size_t under_way() const { return launched_.size(); }
    /// Waits for the end of the first of them.
    OperationRecord await();

    // When it is over.
    Cycles now() const { return end_; }
    const DiagnosticLog& findings() const { return log_; }
    std::vector<NamedTraffic> traffic() const;
    std::vector<NamedUnit> units() const;
    std::vector<NamedDram> drams() const;
    std::optional<Timeline> timeline();

 private:
    struct Host : Unit {
        explicit Host(const std::function<void()>& program);
        Activity* activity = nullptr;
        const std::function<void()>& program;
        bool finished = false;
        sc_core::sc_event never;
    };
    void simulate();
    void stop_if_unfinished() const;
    std::string describe_waits() const;

    KernelScope kernel_;
    LayerRunOptions options_;
    DiagnosticLog log_;
    TimelineRecorder recorder_;
    std::function<void()> program_;
    Memory memory_;
    LayerNpu npu_;
    Host host_;
    std::deque<std::string> launched_;   // names
    std::deque<OperationRecord> ended_;  // and were not awaited yet
    sc_core::sc_event layer_ended_;
    /// Threads end while the kernel runs, so that what they hold is freed.
    sc_core::sc_event end_threads_;
    Cycles end_;
};

}  // namespace npuscope
