// SPDX-License-Identifier: Apache-2.0
#include "sim/run/session.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <systemc>

#include "models/base/error.h"
#include "models/memory/memory.h"
#include "models/npu/npu.h"
#include "sim/run/host.h"

namespace npuscope {
namespace {

/// What belongs to one simulation. The kernel demands that modules are gone before it is reset.
struct Machine {
    Machine(const Program& program, const SystemConfig& system)
        : memory("memory", system.memory, log),
          npu("npu", system.npu, log),
          host("host", program, memory, npu.glb) {
        host.bus.bind(npu.csb.socket);
        npu.mcif.memory.bind(memory.socket);
        if (npu.cvif) {
            npu.cvif->memory.bind(memory.socket);
        }
        sc_core::sc_spawn_options options;
        options.spawn_method();
        options.set_sensitivity(&end_threads);
        options.dont_initialize();
        sc_core::sc_spawn([this] { kill_threads(); }, "end_of_threads", &options);
    }

    void kill_threads() {
        host.kill_threads();
        for (const Npu::UnitEntry& entry : npu.units()) {
            entry.unit->kill_threads();
        }
    }

    FindingLog log;
    Memory memory;
    Npu npu;
    Host host;
    /// Threads end while the kernel runs, so that what they hold is freed.
    sc_core::sc_event end_threads{"end_threads"};
};

/// Resets the kernel behind the machine, however the session ends.
struct KernelScope {
    KernelScope() = default;
    KernelScope(const KernelScope&) = delete;
    KernelScope& operator=(const KernelScope&) = delete;
    ~KernelScope() { sc_core::sc_get_curr_simcontext()->reset(); }
};

void rethrow_failure(const std::exception_ptr& failure, const Host& host) {
    if (!failure) {
        return;
    }
    try {
        std::rethrow_exception(failure);
    } catch (const ConfigError& error) {
        if (!error.place().file.empty()) {
            throw;
        }
        const Place place = host.written_at(error.sentence()).value_or(host.place());
        throw ConfigError(place, error.sentence(), error.remedy());
    }
}

std::string describe_waits(Machine& machine) {
    std::string text;
    for (const Npu::UnitEntry& entry : machine.npu.units()) {
        for (const Activity& activity : entry.unit->activities()) {
            if (activity.waiting() && !activity.idle()) {
                text += fmt::format("\n  {} waits for {} since cycle {}", activity.name(),
                                    activity.waits_for(), activity.waits_since().value);
            }
        }
    }
    return text.empty() ? "\n  no unit has work: was everything enabled that the operation needs?"
                        : text;
}

void stop_if_unfinished(Machine& machine, const RunOptions& options) {
    if (machine.host.finished()) {
        return;
    }
    const bool limit = sc_core::sc_pending_activity() || now() >= options.max_cycles;
    throw MachineStopped(fmt::format("{} at cycle {}: the host waits for {}{}",
                                     limit ? "cycle limit" : "deadlock", now().value,
                                     machine.host.waits_for(), describe_waits(machine)));
}

void simulate(Machine& machine, const RunOptions& options) {
    // without pending events the kernel returns at once, so that a deadlock takes no time
    sc_core::sc_start(to_time(options.max_cycles), sc_core::SC_EXIT_ON_STARVATION);
    std::exception_ptr failure = machine.host.failure();
    for (const Npu::UnitEntry& entry : machine.npu.units()) {
        failure = failure ? failure : entry.unit->failure();
    }
    try {
        rethrow_failure(failure, machine.host);
        stop_if_unfinished(machine, options);
    } catch (...) {
        machine.end_threads.notify(sc_core::SC_ZERO_TIME);
        sc_core::sc_start(to_time(Cycles(1)));
        throw;
    }
}

Result gather(Machine& machine, const Program& program, const SystemConfig& system) {
    Result result;
    result.program = program.name;
    result.cycles = machine.host.cycles();
    result.simulated_cycles = now();
    result.checks = machine.host.checks();
    for (const Mcif::Traffic& entry : machine.npu.traffic()) {
        result.traffic.push_back({entry.client, entry.moved});
    }
    result.operations = machine.npu.operations();
    for (const Npu::UnitEntry& entry : machine.npu.units()) {
        result.units.push_back({entry.name, entry.unit->statistics()});
    }
    result.findings = machine.log.findings();
    result.config = system;
    return result;
}

}  // namespace

Result run_program(const Program& program, const SystemConfig& system, const RunOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    const KernelScope kernel;
    Machine machine(program, system);
    simulate(machine, options);
    Result result = gather(machine, program, system);
    machine.end_threads.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start(to_time(Cycles(1)));
    result.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

}  // namespace npuscope
