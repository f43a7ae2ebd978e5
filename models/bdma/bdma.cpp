// SPDX-License-Identifier: Apache-2.0
#include "models/bdma/bdma.h"

#include "models/link/clock.h"

namespace npuscope {

Bdma::Bdma(const sc_core::sc_module_name& name, const BdmaConfig& config, Bytes atom,
           Bytes bus_width)
    : Unit(name), config_(config), atom_(atom), bus_width_(bus_width) {
    repeat_from(launches, "copy", [this](Activity& activity) { run_group(activity); });
}

void Bdma::run_group(Activity& activity) {
    const std::shared_ptr<BdmaWork> work = launches.take(activity, WaitKind::Idle);
    work->record.start = now();
    for (const BdmaJob& job : work->jobs) {
        ++begun_;
        run_command(activity, *work, job);
    }
    activity.spend(config_.tail);
    work->record.causes[Cause::StartUp] = config_.start_up;
    done_(*work);
}

MovedBlock Bdma::fetch(const BdmaWork& work, const BdmaJob& job, std::uint64_t number) {
    const auto surface = static_cast<std::uint32_t>(number / job.lines);
    const auto line = static_cast<std::uint32_t>(number % job.lines);
    const ByteRun from{job.source.line(line, surface), job.line};
    std::vector<std::uint8_t> bytes(job.line.value);
    if (work.values) {
        read_port.fetch(from.address, bytes,
                        {"source", work.name, job.source.in_sram, work.values});
    }
    return {{from}, {{job.destination.line(line, surface), std::move(bytes)}}};
}

void Bdma::run_command(Activity& activity, BdmaWork& work, const BdmaJob& job) {
    const BlockMoverSetup setup{
        {.first = now() + config_.start_up,
         .limits = {config_.read_ahead, 1, config_.read_runs, config_.read_again},
         .atom = atom_,
         .beat = bus_width_},
        config_.forward};
    const MovedBlocks lines{std::uint64_t{job.lines} * job.surfaces,
                            [&](std::uint64_t number) { return fetch(work, job, number); }};
    const Cycles response =
        mover_.move(activity, setup, lines,
                    {{"source", work.name, job.source.in_sram, work.values},
                     {"destination", work.name, job.destination.in_sram, work.values}});
    activity.wait_until(response, WaitKind::Blocked, "write response");
}

}  // namespace npuscope
