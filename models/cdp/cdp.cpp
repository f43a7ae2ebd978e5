// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp.h"

namespace npuscope {

Cdp::Cdp(const sc_core::sc_module_name& name, const CdpConfig& config, const DatapathConfig& datapath)
    : Unit(name), config_(config), datapath_(datapath) {
    repeat("normalise", [this](Activity& activity) { run_operation(activity); });
    repeat("read", [this](Activity& activity) { reader.read_cube(activity); });
}

CubeWriter Cdp::launch(Activity& activity, CdpWork& work) {
    CubeRead read{.cube = work.job.source,
                  .parts = {{0, work.job.source.shape.width}},
                  .purpose = {"input", work.name, work.job.source_in_sram},
                  .values = nullptr};
    read.values = std::make_shared<const Tensor<std::int8_t>>(
        fetch_cube<std::int8_t>(reader.port, read.cube, read.purpose));
    CdpResult result = compute_cdp(work.job.normalization, *read.values, work.tables);
    work.counters = result.counters;
    activity.spend(config_.start_up);
    reader.jobs.give(activity, std::move(read));
    return {work.job.destination, result.values};
}

void Cdp::run_operation(Activity& activity) {
    const std::shared_ptr<CdpWork> work = launches.take(activity, WaitKind::Idle);
    CubeWriter writer = launch(activity, *work);
    const Purpose purpose{"output", work->name, work->job.destination_in_sram};
    const Cycles atom = normalisation_atom_cycles(datapath_.memory_atom.value, config_.throughput);
    Cycles response = now();
    bool more = true;
    while (more) {
        const AtomRun<std::int8_t> run = reader.lines.take(activity);
        activity.wait_until(run.first_ready, WaitKind::Starved, "input");
        activity.spend(atom * run.count);
        response =
            writer.write(activity, write_port, {run.surface, run.first_pixel, run.count}, purpose);
        more = !run.last;
    }
    activity.wait_until(response + config_.tail, WaitKind::Blocked, "write response");
    done_(*work);
}

}  // namespace npuscope
