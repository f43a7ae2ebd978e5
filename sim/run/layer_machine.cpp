// SPDX-License-Identifier: Apache-2.0
#include "sim/run/layer_machine.h"

#include <fmt/format.h>

#include "models/base/error.h"
#include "models/link/clock.h"

namespace npuscope {

LayerMachine::Host::Host(const std::function<void()>& the_program)
    : Unit("host"), program(the_program) {
    repeat("operator", [this](Activity& own) {
        activity = &own;
        program();
        finished = true;
        sc_core::sc_pause();
        own.wait_for(never, WaitKind::Idle, "nothing");
    });
}

LayerMachine::LayerMachine(const LayerNpuConfig& config, const MemoryConfig& memory,
                           const LayerRunOptions& options)
    : options_(options),
      memory_("memory", memory_beside(memory, config.clock), log_),
      npu_("npu", {config.mcif, config.engine}, log_),
      host_(program_) {
    npu_.mcif.memory.bind(memory_.socket);
    npu_.tinpu.on_done([this](const TinpuLaunch& launch) {
        ended_.push_back(launch.record);
        layer_ended_.notify(sc_core::SC_ZERO_TIME);
    });
    sc_core::sc_spawn_options spawn;
    spawn.spawn_method();
    spawn.set_sensitivity(&end_threads_);
    spawn.dont_initialize();
    const auto kill = [this] {
        host_.kill_threads();
        npu_.tinpu.kill_threads();
    };
    sc_core::sc_spawn(kill, "end_of_threads", &spawn);
    if (!options.values) {
        memory_.leave_out_values();
    }
    if (options.timeline) {
        npu_.tinpu.record_to(&recorder_);
        host_.record_to(&recorder_);
    }
}

LayerMachine::~LayerMachine() {
    end_threads_.notify(sc_core::SC_ZERO_TIME);
    advance(to_time(Cycles(1)));
}

void LayerMachine::run(const std::function<void()>& program) {
    program_ = program;
    simulate();
    end_ = npuscope::now();
}

void LayerMachine::simulate() {
    // without pending events the kernel returns at once, so that a deadlock takes no time
    advance(to_time(options_.max_cycles));
    for (const Unit* unit :
         {static_cast<const Unit*>(&host_), static_cast<const Unit*>(&npu_.tinpu)}) {
        if (unit->failure()) {
            std::rethrow_exception(unit->failure());
        }
    }
    stop_if_unfinished();
}

std::string LayerMachine::describe_waits() const {
    std::string text;
    for (const Activity& activity : npu_.tinpu.activities()) {
        if (activity.waiting() && !activity.idle()) {
            text += fmt::format("\n  {} waits for {} since cycle {}", activity.name(),
                                activity.waits_for(), activity.waits_since().value);
        }
    }
    return text;
}

void LayerMachine::stop_if_unfinished() const {
    if (host_.finished) {
        return;
    }
    const bool limit = sc_core::sc_pending_activity() || npuscope::now() >= options_.max_cycles;
    throw MachineStopped(fmt::format(
        "{} at cycle {}: the host {}{}", limit ? "cycle limit" : "deadlock", npuscope::now().value,
        launched_.empty() ? std::string("works")
                          : fmt::format("waits for layer '{}'", launched_.front()),
        describe_waits()));
}

void LayerMachine::launch(const TinpuJob& job) {
    launched_.push_back(job.name);
    npu_.tinpu.launch(job, options_.values);
}

OperationRecord LayerMachine::await() {
    while (ended_.empty()) {
        host_.activity->wait_for(layer_ended_, WaitKind::Idle, "the NPU");
    }
    OperationRecord record = std::move(ended_.front());
    ended_.pop_front();
    launched_.pop_front();
    return record;
}

std::vector<NamedTraffic> LayerMachine::traffic() const {
    std::vector<NamedTraffic> all;
    for (const Mcif::Traffic& entry : npu_.traffic()) {
        all.push_back({entry.client, entry.moved});
    }
    return all;
}

std::vector<NamedUnit> LayerMachine::units() const {
    return {{"tinpu", npu_.tinpu.statistics()}, {"host", host_.statistics()}};
}

std::vector<NamedDram> LayerMachine::drams() const {
    std::vector<NamedDram> all;
    for (const Memory::NamedDram& dram : memory_.dram_statistics()) {
        all.push_back({dram.region, dram.statistics});
    }
    return all;
}

std::optional<Timeline> LayerMachine::timeline() {
    return options_.timeline ? std::optional(recorder_.take()) : std::nullopt;
}

}  // namespace npuscope
