// SPDX-License-Identifier: Apache-2.0
#include "sim/run/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <span>
#include <systemc>
#include <thread>
#include <utility>

#include "models/base/error.h"
#include "models/link/clock.h"
#include "models/memory/memory.h"
#include "models/npu/machine.h"
#include "models/npu/npu_config.h"
#include "sim/config/diagnostic_report.h"
#include "sim/run/driven_machine.h"
#include "sim/run/host.h"
#include "sim/run/kernel_scope.h"
#include "sim/run/machine_counts.h"
#include "sim/run/static_check.h"
#include "sim/run/timeline_recorder.h"
#include "sim/run/traffic_sampler.h"

namespace npuscope {
namespace {

bool leaves_out_repeats(const RunOptions& options) {
    return !options.repeats && !options.timeline && options.instances == 1;
}

/// Everything of one NPU's simulation. The kernel requires that modules are gone before its reset.
struct Simulation {
    /// `first`: the instance whose memory this one shares; null for the first.
    Simulation(std::span<const Statement> program, const SystemConfig& system,
               const RunOptions& options, const Simulation* first, std::size_t instance)
        : machine(system.family->build(system.npu, log)),
          memory_config(memory_beside(system.memory, system.clock())),
          timing(first != nullptr ? first->timing
                                  : timing_beside(*machine, memory_config, options.instances)),
          memory(name_of("memory", instance).c_str(), memory_config, log, timing, instance),
          sampler(recorder, *machine),
          host(name_of("host", instance).c_str(), program, *machine, memory) {
        machine->bind_memory(memory);
        spawn_method_at(end_threads, name_of("end_of_threads", instance).c_str(),
                        [this] { kill_threads(host, *machine); });
        log.locate_by([this](const Diagnostic& finding) {
            return host.written_at(finding).value_or(Place{});
        });
        apply(options);
    }
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    static std::string name_of(const char* module, std::size_t instance) {
        return instance == 0 ? module : fmt::format("{}_{}", module, instance);
    }

    void apply(const RunOptions& options) {
        if (!options.values) {
            memory.leave_out_values();
            machine->leave_out_values();
            host.leave_out_values();
        } else if (options.value_thread && options.instances == 1 &&
                   std::thread::hardware_concurrency() > 1) {
            machine->work_values_out_beside(memory, *options.value_thread);
        }
        for (const MemoryRequest& request : options.keep) {
            host.keep(request.run, request.after);
        }
        if (leaves_out_repeats(options) && timing->is_uniform()) {
            machine->leave_out_repeats(
                {.at_rest = [this] { return host.at_rest(); },
                 .add_memory_state = [this](Fingerprint& state) { timing->add_state(state); },
                 .at_moment =
                     [this](RepeatedOperations& operations) {
                         return host.leave_out_repeated(operations);
                     }});
        }
        if (options.timeline) {
            machine->record_to(&sampler);
            host.record_operators_to(&recorder);
        }
    }

    DiagnosticLog log;
    TimelineRecorder recorder;
    std::unique_ptr<Machine> machine;
    MemoryConfig memory_config;
    std::shared_ptr<MemoryTiming> timing;
    Memory memory;
    TrafficSampler sampler;
    Host host;
    /// Threads end while the kernel runs, so that what they hold is freed.
    sc_core::sc_event end_threads;
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
        diagnostic.place = host.written_at(diagnostic).value_or(host.place());
        throw ConfigError(std::move(diagnostic));
    }
}

/// The machine has finished what was launched, and the host still waits: the program's fault.
bool machine_is_idle(Simulation& simulation) {
    return simulation.machine->enabled_groups().empty() && !simulation.host.awaits_jobs();
}

std::string describe_waits(Simulation& simulation, bool limit) {
    std::string text;
    for (const Machine::UnitEntry& entry : simulation.machine->units()) {
        for (const Activity& activity : entry.unit->activities()) {
            if (activity.waiting() && !activity.idle()) {
                text += fmt::format("\n  {} has been waiting for {} since cycle {}",
                                    activity.name(), activity.waits_for(),
                                    simulation.machine->counted(activity.waits_since()).value);
            }
        }
    }
    if (limit) {
        return text + fmt::format("\n  {} (raise --max-cycles to continue)",
                                  !machine_is_idle(simulation) ? "an operation was still running"
                                  : simulation.host.polls()    ? "the host was still polling"
                                                               : "the host was still running");
    }
    return text.empty() && simulation.machine->registers()
               ? "\n  all units are idle: is everything enabled that the operation needs?"
               : text;
}

/// Possible reasons.
std::string describe_findings(const DiagnosticLog& log) {
    Diagnostics findings = log.findings();
    std::erase_if(findings, [](const Diagnostic& one) { return one.severity == Severity::Note; });
    std::string text = findings.empty() ? "" : '\n' + folded_text(findings, false);
    while (text.ends_with('\n')) {
        text.pop_back();
    }
    return text;
}

/// Units that pass a result on the fly end within these cycles of each other.
constexpr Cycles ends_apart{64};

void stop_if_unfinished(Simulation& simulation, const RunOptions& options) {
    const bool more_to_come = sc_core::sc_pending_activity() || now() >= options.max_cycles;
    if (simulation.host.leaves_operations()) {
        advance(to_time(ends_apart));
    }
    if (simulation.host.finished() || (!more_to_come && machine_is_idle(simulation))) {
        for (Diagnostic& open : simulation.host.conclude()) {
            simulation.log.add(std::move(open));
        }
        return;
    }
    const bool limit = sc_core::sc_pending_activity() || now() >= options.max_cycles;
    const std::string when =
        !limit ? fmt::format("deadlock at cycle {}", simulation.machine->counted(now()).value)
        : now() < options.max_cycles
            ? fmt::format("cycle limit at cycle {} (the last event before it was in cycle {})",
                          options.max_cycles.value, now().value)
            : fmt::format("cycle limit at cycle {}", options.max_cycles.value);
    throw MachineStopped(fmt::format("{}: the host waits for {}{}{}", when,
                                     simulation.host.waits_for(), describe_waits(simulation, limit),
                                     describe_findings(simulation.log)));
}

using Simulations = std::deque<Simulation>;

/// Threads end while the kernel runs.
void end_threads(Simulations& simulations) {
    for (Simulation& simulation : simulations) {
        simulation.end_threads.notify(sc_core::SC_ZERO_TIME);
    }
    advance(to_time(Cycles(1)));
}

std::exception_ptr failure_of(const Simulation& simulation) {
    return failure_of(simulation.host, *simulation.machine);
}

void simulate(Simulations& simulations, const RunOptions& options) {
    // the kernel pauses when a host has finished or a unit has failed; without pending events it
    // returns at once, so that a deadlock takes no time
    const auto has_failed = [](const Simulation& one) { return failure_of(one) != nullptr; };
    const auto goes_on = [](const Simulation& one) { return !one.host.finished(); };
    do {
        advance(to_time(options.max_cycles - now()));
    } while (std::ranges::none_of(simulations, has_failed) &&
             std::ranges::any_of(simulations, goes_on) && sc_core::sc_pending_activity() &&
             sc_core::sc_time_stamp() + sc_core::sc_time_to_pending_activity() <
                 to_time(options.max_cycles));
    try {
        for (Simulation& simulation : simulations) {
            simulation.memory.settle();
            rethrow_failure(failure_of(simulation), simulation.host);
            stop_if_unfinished(simulation, options);
        }
    } catch (...) {
        end_threads(simulations);
        throw;
    }
}

Result gather(Simulation& simulation, const RunOptions& options) {
    Result result;
    if (options.timeline) {
        result.timeline = simulation.recorder.take();
        result.timeline->moved = simulation.sampler.take();
    }
    const Host& host = simulation.host;
    result.cycles = host.cycles();
    result.first_op_enable = host.first_op_enable().value_or(Cycles(0));
    result.simulated_cycles = simulation.machine->counted(now());
    result.repeated_cycles = result.simulated_cycles - now();
    result.checks = host.checks();
    result.operations = host.operations();
    result.layers = host.layers();
    fill_layers(result.layers, result.operations);
    if (host.share()) {
        result.model = ModelShare{.host = *host.share()};
    }
    count_machine(*simulation.machine, simulation.memory, result);
    result.kept = simulation.host.take_kept();
    result.findings = simulation.log.findings();
    return result;
}

/// Adds the data of all instances, of which `result` is that of `described`; checks and findings name
/// their instance.
void add_instances(Simulations& simulations, const Simulation& described, const RunOptions& options,
                   Result& result) {
    std::vector<CheckResult> checks;
    Diagnostics findings;
    for (std::size_t i = 0; i < simulations.size(); ++i) {
        const Result own = &simulations[i] == &described ? result : gather(simulations[i], options);
        const std::string whose = fmt::format("instance {}", i + 1);
        InstanceRecord record{{}, own.cycles, own.total_traffic(), 0};
        for (CheckResult check : own.checks) {
            record.failed_checks += check.pass ? 0U : 1U;
            check.subject = check.subject.empty() ? whose : check.subject + ", " + whose;
            checks.push_back(std::move(check));
        }
        for (Diagnostic finding : own.findings) {
            finding.operation =
                finding.operation.empty() ? whose : finding.operation + ", " + whose;
            findings.push_back(std::move(finding));
        }
        result.instances.push_back(record);
    }
    result.checks = std::move(checks);
    result.findings = std::move(findings);
}

/// Of equally slow ones the first.
Simulation& slowest(Simulations& simulations) {
    return *std::ranges::max_element(
        simulations, {}, [](const Simulation& simulation) { return simulation.host.cycles(); });
}

/// What one NPU of a run executes.
struct Instance {
    std::span<const Statement> statements;
    bool zeroed_memory = false;
};

/// Bytes that all instances see.
class SharedBytes : public ByteStore {
 public:
    void write(Address address, std::span<const std::uint8_t> bytes) override {
        bytes_.write(address, bytes);
    }
    void read(Address address, std::span<std::uint8_t> bytes) override {
        bytes_.read(address, bytes);
    }

 private:
    SparseMemory bytes_;
};

Result run_instances(std::span<const Instance> instances, const BeginSegment* segment,
                     const SystemConfig& system, RunOptions options, NetworkSplit split) {
    const KernelScope kernel;
    options.instances = instances.size();
    const auto meeting = std::make_shared<Meeting>(instances.size());
    SharedBytes shared;
    Simulations simulations;
    for (std::size_t i = 0; i < instances.size(); ++i) {
        simulations.emplace_back(instances[i].statements, system, options,
                                 simulations.empty() ? nullptr : &simulations.front(), i);
        Simulation& simulation = simulations.back();
        simulation.host.meet_at(meeting);
        if (split == NetworkSplit::Rows) {
            simulation.memory.back_by(shared);
        }
        if (!options.shadow) {
            simulation.memory.leave_out_shadow();
        }
        if (instances[i].zeroed_memory) {
            simulation.memory.start_zeroed();
        }
    }
    simulate(simulations, options);
    Simulation& described =
        split == NetworkSplit::Batch ? simulations.front() : slowest(simulations);
    Result result = gather(described, options);
    if (simulations.size() > 1) {
        add_instances(simulations, described, options, result);
    }
    if (segment != nullptr) {
        result.model->segments.push_back({segment->name, result.first_op_enable,
                                          described.host.register_cycles(), segment->inputs,
                                          segment->outputs});
    }
    end_threads(simulations);
    return result;
}

Result run_part(const ProgramPart& part, const Program& program, const SystemConfig& system,
                const RunOptions& options) {
    const std::vector<Instance> instances(options.instances,
                                          {part.statements, program.zeroed_memory});
    return run_instances(instances, part.segment, system, options, NetworkSplit::Batch);
}

/// Operation numbers restart in each segment.
void name_operations(Result& part, std::size_t segment) {
    for (OperationRecord& operation : part.operations) {
        if (operation.unit != "host") {
            operation.name = fmt::format("segment {} {}", segment, operation.name);
        }
    }
}

/// If repeats are left out, too much may count as a race, and bytes were written at other times. So
/// reports about values come from a run that simulates everything.
Result run_as_told(const ProgramPart& part, const Program& program, const SystemConfig& system,
                   RunOptions options) {
    if (options.values && leaves_out_repeats(options)) {
        try {
            Result result = run_part(part, program, system, options);
            if (result.repeated_cycles == Cycles(0) || result.is_good()) {
                return result;
            }
        } catch (const MachineStopped&) {
            // reported below
        }
        options.repeats = true;
    }
    return run_part(part, program, system, options);
}

/// A stopped machine is reported with its likely causes.
Result run_or_explain(const ProgramPart& part, const Program& program, const SystemConfig& system,
                      const RunOptions& options) {
    try {
        return run_as_told(part, program, system, options);
    } catch (const MachineStopped& stopped) {
        throw MachineStopped(stopped.what() + likely_causes(program, system, options));
    }
}

/// Indices of the requests for this part.
std::vector<std::size_t> requests_of(const RunOptions& options, std::size_t segment, bool is_last) {
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < options.keep.size(); ++i) {
        const std::size_t asked = options.keep[i].segment;
        if (asked == segment || (is_last && asked == MemoryRequest::last_segment)) {
            which.push_back(i);
        }
    }
    return which;
}

using Moment = std::chrono::steady_clock::time_point;

/// What ran, on what, and how long that took since `begin`.
void describe(Result& result, const std::string& program, const SystemConfig& system,
              const RunOptions& options, Moment begin) {
    result.program = program;
    result.values = options.values;
    result.config = system;
    result.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Result run_program(const Program& program, const SystemConfig& system, const RunOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<ProgramPart> parts = parts_of(program);
    const auto segments = std::ranges::count_if(
        parts, [](const ProgramPart& part) { return part.segment != nullptr; });
    Result result;
    std::vector<std::vector<std::uint8_t>> kept(options.keep.size());
    std::future<CheckReport> check = begin_check(program, system, options);
    std::size_t segment = 0;
    for (const ProgramPart& part : parts) {
        RunOptions left = options;
        left.repeats = options.repeats || options.max_cycles < RunOptions{}.max_cycles;
        left.max_cycles =
            options.max_cycles - std::min(result.simulated_cycles, options.max_cycles);
        segment += part.segment != nullptr ? 1U : 0U;
        const std::vector<std::size_t> asked =
            requests_of(options, segment, &part == &parts.back());
        left.keep.clear();
        for (const std::size_t request : asked) {
            left.keep.push_back(options.keep[request]);
        }
        Result one = run_or_explain(part, program, system, left);
        for (std::size_t i = 0; i < asked.size(); ++i) {
            kept[asked[i]] = std::move(one.kept[i]);
        }
        one.kept.clear();
        if (segments > 1 && part.segment != nullptr) {
            name_operations(one, segment);
        }
        if (&part == &parts.front()) {
            result = std::move(one);
        } else {
            append(result, std::move(one));
        }
    }
    if (result.model) {
        result.units.push_back({"host", {result.model->host.cycles, Cycles(0), Cycles(0)}});
    }
    std::optional<CheckReport> checked;
    if (check.valid()) {
        checked = check.get();
    }
    if (!result.model) {
        explain(program, system, checked, result);
    }
    if (options.map) {
        result.memory_map =
            checked ? checked->map.entries() : check_on(system, program, true).mapped_bytes();
    }
    result.kept = std::move(kept);
    describe(result, program.name, system, options, begin);
    return result;
}

Result run_together(std::span<const Program> programs, const SystemConfig& system,
                    const RunOptions& options, NetworkSplit split) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Instance> instances;
    std::string names;
    for (const Program& program : programs) {
        if (parts_of(program).front().segment != nullptr) {
            throw ConfigError(fmt::format("'{}' has more than one segment", program.name),
                              "several NPUs can run only programs of one segment");
        }
        instances.push_back({program.statements, program.zeroed_memory});
        names += fmt::format("{}{}", names.empty() ? "" : ", ", program.name);
    }
    Result result = run_instances(instances, nullptr, system, options, split);
    for (std::size_t i = 0; i < result.instances.size(); ++i) {
        result.instances[i].program = programs[i].name;
    }
    describe(result, names, system, options, begin);
    return result;
}

ModelResult run_model(const ModelProgram& model, const SystemConfig& system, RunOptions options) {
    options.values = options.values && model.values;
    options.check = false;
    ModelResult run{run_program(model.program, system, options), {}};
    Result& result = run.result;
    ModelShare& share = result.model ? *result.model : result.model.emplace();
    share.refused = model.refused;
    share.memory = model.memory;
    result.findings.insert(result.findings.begin(), model.findings.begin(), model.findings.end());
    for (LayerRecord& layer : result.layers) {
        if (const auto found = model.deviations.find(layer.name);
            found != model.deviations.end() && !layer.on_host) {
            layer.deviation = found->second;
        }
    }
    if (options.values) {
        run.outputs = model.outputs();
    }
    return run;
}

}  // namespace npuscope
