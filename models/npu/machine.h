// SPDX-License-Identifier: Apache-2.0
// What a host sees of an NPU's assembly, whatever its family: ports towards memory, registers and
// interrupts if it has them, or direct launches if it has none; and its counters. Each family
// implements it with one assembly.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/base/check.h"
#include "models/base/statistics.h"
#include "models/base/unit_job.h"
#include "models/csb/csb.h"
#include "models/glb/glb.h"
#include "models/link/unit.h"
#include "models/mcif/mcif.h"
#include "models/memory/memory.h"
#include "models/npu/register_blocks.h"

namespace npuscope {

class RepeatedOperations;

class Machine {
 public:
    Machine() = default;
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    virtual ~Machine() = default;

    /// Binds every port towards memory.
    virtual void bind_memory(Memory& memory) = 0;

    /// How a host reaches the registers.
    struct Registers {
        Csb& bus;
        Glb& interrupts;
        AddressMap map;
    };
    /// Nothing if the NPU has no public registers.
    virtual std::optional<Registers> registers() { return std::nullopt; }

    /// Jobs that a host may launch before the first of them has ended; 0 if it launches only by
    /// registers.
    virtual std::size_t launch_queue() const { return 0; }
    using Ended = std::function<void(const OperationRecord&)>;
    /// Launches a job of this NPU; jobs end in the order of their launch.
    virtual void launch(const std::shared_ptr<const UnitJob>& /*job*/,
                        Ended /*ended*/) {  // NOLINT(performance-unnecessary-value-param): kept
        NPU_CHECK(false, "this NPU takes no jobs");
    }

    struct UnitEntry {
        const char* name;
        Unit* unit;
    };
    /// The units with their own threads.
    virtual std::vector<UnitEntry> units() = 0;
    /// A register group that is enabled for an operation that has not ended.
    struct EnabledGroup {
        std::string_view block;
        unsigned group = 0;
    };
    virtual std::vector<EnabledGroup> enabled_groups() { return {}; }
    /// Operations in the order of their end.
    virtual const std::vector<OperationRecord>& operations() const = 0;
    /// Traffic of all ports, one entry per client.
    virtual std::vector<Mcif::Traffic> traffic() const = 0;
    /// A port towards memory, what passed it, and the bytes of its beats: at most one per cycle.
    struct PortTraffic {
        std::string port;
        ClientTraffic moved;
        Bytes beat;
    };
    virtual std::vector<PortTraffic> ports() const = 0;
    /// What its parts did, in addition to what the ports moved.
    virtual std::vector<ActionCount> actions() const { return {}; }
    /// What each operation moved, by client and port.
    struct OperationTraffic {
        std::string operation;
        NamedTraffic traffic;
    };
    virtual std::vector<OperationTraffic> operation_traffic() const = 0;
    /// Reports to `recorder` what the units do.
    virtual void record_to(Recorder* recorder) = 0;
    /// What acts on the machine from outside.
    struct Surroundings {
        /// Nothing outside acts at a time of its own choosing.
        std::function<bool()> at_rest;
        /// Adds all that memory's later answers depend on.
        std::function<void(Fingerprint&)> add_memory_state;
        /// Operations can be left out now if the host leaves out what starts them; returns whether
        /// it waits.
        std::function<bool(RepeatedOperations&)> at_moment;
    };
    /// Simulates timing only: nothing is fetched or computed, and what is written is zeros.
    virtual void leave_out_values() = 0;
    /// After `operations` operations a second thread computes values in parallel with the
    /// simulation; `memory`, which the ports are bound to and which lives no longer than the
    /// machine, supplies their bytes. Values and cycles are the same.
    virtual void work_values_out_beside(Memory& /*memory*/, std::size_t /*operations*/) {}
    /// From now on parts of operations that repeat earlier ones may be left out: values, cycles and
    /// counts are those of all of them. When a byte was written or claimed is then not reported
    /// exactly; too many writes count as races, never too few. Not together with a recorder.
    virtual void leave_out_repeats(const Surroundings& /*surroundings*/) {}
    /// `simulated`, plus what had been left out before it.
    virtual Cycles counted(Cycles simulated) const { return simulated; }
};

/// Adds what operations moved over one port.
inline void add_operation_traffic(std::vector<Machine::OperationTraffic>& all, const Mcif& mcif,
                                  const char* port) {
    for (const Mcif::OperationTraffic& one : mcif.operation_traffic()) {
        all.push_back({one.operation, {one.client, one.moved, port}});
    }
}

}  // namespace npuscope
