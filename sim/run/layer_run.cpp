// SPDX-License-Identifier: Apache-2.0
#include "sim/run/layer_run.h"

#include <algorithm>

#include "models/base/check.h"
#include "sim/run/layer_machine.h"

namespace npuscope {

std::string_view LayerOperation::bound_by() const {
    if (unit == "host") {
        return "host";
    }
    const std::string_view cause = causes.largest();
    return cause == "start_up" ? "set_up" : cause;
}

RunStatus LayerRun::status() const {
    const bool wrong = std::ranges::any_of(
        findings, [](const Diagnostic& finding) { return finding.severity == Severity::Error; });
    return wrong ? RunStatus::Fail : RunStatus::Pass;
}

void LayerRun::gather(LayerMachine& machine) {
    simulated = machine.now();
    traffic = machine.traffic();
    units = machine.units();
    drams = machine.drams();
    const auto& met = machine.findings().findings();
    findings.insert(findings.end(), met.begin(), met.end());
    timeline = machine.timeline();
    NPU_CHECK(cycles() == simulated, "operations together take all of the time");
}

LayerRun time_jobs(const std::vector<TinpuJob>& jobs, const LayerNpuConfig& config,
                   const MemoryConfig& memory) {
    LayerMachine machine(config, memory, {.values = false});
    LayerRun run;
    machine.run([&] {
        for (std::size_t launched = 0; run.operations.size() < jobs.size();) {
            for (; launched < jobs.size() && machine.under_way() < config.engine.launch_queue;
                 ++launched) {
                machine.launch(jobs[launched]);
            }
            const OperationRecord record = machine.await();
            run.operations.push_back({record.unit, record.name, "", record.start, record.cycles(),
                                      record.macs, record.causes,
                                      tinpu_traffic(jobs[run.operations.size()])});
            run.npu += record.cycles();
        }
    });
    run.gather(machine);
    return run;
}

}  // namespace npuscope
