// SPDX-License-Identifier: Apache-2.0
// What every simulation of a machine needs around it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <systemc>
#include <vector>

#include "models/memory/memory.h"
#include "models/memory/memory_config.h"
#include "models/npu/machine.h"

namespace npuscope {

/// Standard output belongs to results.
inline void quieten_kernel() {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
}

/// Resets the kernel after the machine, however the session ends. The machine's modules must be
/// destroyed by then: declare this one first.
struct KernelScope {
    KernelScope() { quieten_kernel(); }
    KernelScope(const KernelScope&) = delete;
    KernelScope& operator=(const KernelScope&) = delete;
    ~KernelScope() { sc_core::sc_get_curr_simcontext()->reset(); }
};

/// A DRAM counts in its own clocks, a bandwidth in seconds: both need the clock in whose cycles
/// they answer.
inline MemoryConfig memory_beside(MemoryConfig memory, Hertz npu_clock) {
    for (MemoryRegionConfig& region : memory.regions) {
        region.npu_clock = npu_clock;
        if (region.dram) {
            region.dram->npu_clock = npu_clock;
        }
    }
    return memory;
}

/// The memory timing that all instances share, which knows the ports of the first one.
inline std::shared_ptr<MemoryTiming> timing_beside(const Machine& machine,
                                                   const MemoryConfig& memory,
                                                   std::size_t instances) {
    MemorySharing sharing{.instances = instances};
    if (const std::vector<Machine::PortTraffic> ports = machine.ports(); !ports.empty()) {
        sharing.beat = ports.front().beat;
    }
    return std::make_shared<MemoryTiming>(memory, sharing);
}

}  // namespace npuscope
