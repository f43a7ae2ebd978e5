// SPDX-License-Identifier: Apache-2.0
#include "sim/run/session.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <systemc>
#include <utility>

#include "models/base/error.h"
#include "models/link/clock.h"
#include "models/memory/memory.h"
#include "models/npu/npu.h"
#include "sim/run/host.h"
#include "sim/run/kernel_scope.h"
#include "sim/run/timeline_recorder.h"

namespace npuscope {
namespace {

/// What belongs to one simulation. The kernel demands that modules are gone before it is reset.
struct Machine {
    Machine(const Program& program, const SystemConfig& system, const RunOptions& options)
        : memory("memory", memory_beside(system.memory, system.npu.clock), log),
          npu("npu", system.npu, log),
          host("host", program, {memory, npu.glb, system.npu.csb.address_map}) {
        if (program.zeroed_memory) {
            memory.start_zeroed();
        }
        host.bus.bind(npu.csb.socket);
        npu.mcif.memory.bind(memory.socket);
        if (npu.cvif) {
            npu.cvif->memory.bind(memory.socket);
        }
        sc_core::sc_spawn_options spawn;
        spawn.spawn_method();
        spawn.set_sensitivity(&end_threads);
        spawn.dont_initialize();
        sc_core::sc_spawn([this] { kill_threads(); }, "end_of_threads", &spawn);
        apply(options);
    }

    void apply(const RunOptions& options) {
        if (!options.values) {
            memory.leave_out_values();
            npu.leave_out_values();
            host.leave_out_values();
        }
        if (options.timeline) {
            npu.record_to(&recorder);
        }
    }

    void kill_threads() {
        host.kill_threads();
        for (const Npu::UnitEntry& entry : npu.units()) {
            entry.unit->kill_threads();
        }
    }

    DiagnosticLog log;
    TimelineRecorder recorder;
    Memory memory;
    Npu npu;
    Host host;
    /// Threads end while the kernel runs, so that what they hold is freed.
    sc_core::sc_event end_threads{"end_threads"};
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
        Diagnostic diagnostic = error.diagnostic();
        diagnostic.place = host.written_at(diagnostic.register_name).value_or(host.place());
        throw ConfigError(std::move(diagnostic));
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

/// What may have led there.
std::string describe_findings(const DiagnosticLog& log) {
    std::string text;
    for (const Diagnostic& finding : log.findings()) {
        if (finding.severity != Severity::Note) {
            text += fmt::format("\n  {}: {}: {} [{}]", enum_name(finding.severity),
                                finding.operation.empty() ? finding.unit : finding.operation,
                                finding.sentence, finding.id);
        }
    }
    return text;
}

void stop_if_unfinished(Machine& machine, const RunOptions& options) {
    if (machine.host.finished()) {
        return;
    }
    const bool limit = sc_core::sc_pending_activity() || now() >= options.max_cycles;
    throw MachineStopped(fmt::format("{} at cycle {}: the host waits for {}{}{}",
                                     limit ? "cycle limit" : "deadlock", now().value,
                                     machine.host.waits_for(), describe_waits(machine),
                                     describe_findings(machine.log)));
}

void simulate(Machine& machine, const RunOptions& options) {
    // without pending events the kernel returns at once, so that a deadlock takes no time
    advance(to_time(options.max_cycles));
    std::exception_ptr failure = machine.host.failure();
    for (const Npu::UnitEntry& entry : machine.npu.units()) {
        failure = failure ? failure : entry.unit->failure();
    }
    try {
        rethrow_failure(failure, machine.host);
        stop_if_unfinished(machine, options);
    } catch (...) {
        machine.end_threads.notify(sc_core::SC_ZERO_TIME);
        advance(to_time(Cycles(1)));
        throw;
    }
}

Result gather(Machine& machine, const Program& program, const RunOptions& options) {
    Result result;
    result.values = options.values;
    if (options.timeline) {
        result.timeline = machine.recorder.take();
    }
    result.program = program.name;
    result.cycles = machine.host.cycles();
    result.first_op_enable = machine.host.first_op_enable().value_or(Cycles(0));
    result.simulated_cycles = now();
    result.checks = machine.host.checks();
    for (const Mcif::Traffic& entry : machine.npu.traffic()) {
        result.traffic.push_back({entry.client, entry.moved});
    }
    result.operations = machine.npu.operations();
    for (const Npu::UnitEntry& entry : machine.npu.units()) {
        result.units.push_back({entry.name, entry.unit->statistics()});
    }
    for (const Memory::NamedDram& dram : machine.memory.dram_statistics()) {
        result.drams.push_back({dram.region, dram.statistics});
    }
    for (const ByteRun& run : options.keep) {
        result.kept.emplace_back(run.bytes.value);
        machine.memory.read(run.address, result.kept.back());
    }
    result.findings = machine.log.findings();
    return result;
}

}  // namespace

Result run_program(const Program& program, const SystemConfig& system, const RunOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    const KernelScope kernel;
    Machine machine(program, system, options);
    simulate(machine, options);
    Result result = gather(machine, program, options);
    result.config = system;
    machine.end_threads.notify(sc_core::SC_ZERO_TIME);
    advance(to_time(Cycles(1)));
    result.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

}  // namespace npuscope
