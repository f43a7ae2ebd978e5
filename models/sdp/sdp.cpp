// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp.h"

#include <algorithm>

namespace npuscope {

Sdp::Sdp(const sc_core::sc_module_name& name, const SdpConfig& config,
         const DatapathConfig& datapath, const Wires& wires)
    : Unit(name), config_(config), datapath_(datapath), wires_(wires) {
    repeat("process", [this](Activity& activity) { run_operation(activity); });
    repeat("read", [this](Activity& activity) { reader.read_cube(activity); });
    for (OperandReader& operand : operands) {
        repeat(operand.port.client(),
               [&operand](Activity& activity) { operand.read_surface(activity); });
    }
}

Cycles Sdp::atom_cycles(const SdpJob& job) const {
    std::uint32_t throughput = config_.output_throughput;
    if (!job.stages.bs.bypass) {
        throughput = std::min(throughput, config_.bs_throughput);
    }
    if (!job.stages.bn.bypass) {
        throughput = std::min(throughput, config_.bn_throughput);
    }
    if (!job.stages.ew.bypass) {
        throughput = std::min(throughput, config_.element_wise_throughput);
    }
    return sdp_atom_cycles({.elements = datapath_.memory_atom.value,
                            .throughput = throughput,
                            .flying = job.flying()});
}

Cycles Sdp::tail(const SdpJob& job) const {
    Cycles cycles = config_.tail;
    if (!job.stages.bs.bypass) {
        cycles += config_.bs_latency;
    }
    if (!job.stages.bn.bypass) {
        cycles += config_.bn_latency;
    }
    return cycles;
}

void Sdp::start_reading(Activity& activity, SdpWork& work) {
    const SdpJob& job = work.job;
    const std::array fetches{&job.bs_operand, &job.bn_operand, &job.ew_operand};
    const std::array results{&fetched_.bs, &fetched_.bn, &fetched_.ew};
    const std::array<const char*, 3> names{"BS operands", "BN operands", "EW operands"};
    for (std::size_t i = 0; i < operands.size(); ++i) {
        *results[i] = {};
        operands[i].idle();
        if (const std::optional<SdpOperandFetch>& fetch = *fetches[i]) {
            *results[i] =
                operands[i].launch(activity, *fetch, {names[i], work.name, fetch->in_sram});
        }
    }
    if (!job.source) {
        return;
    }
    CubeRead read{.cube = *job.source,
                  .parts = {{0, job.source->shape.width}},
                  .purpose = {"input", work.name, job.source_in_sram},
                  .values = nullptr};
    read.values = std::make_shared<const Tensor<std::int8_t>>(
        fetch_cube<std::int8_t>(reader.port, read.cube, read.purpose));
    keep_result(work, compute_sdp(job.stages, *read.values, fetched_, work.tables));
    reader.jobs.give(activity, std::move(read));
}

void Sdp::keep_result(SdpWork& work, SdpResult result) {
    work.counters = result.counters;
    result_ = std::make_shared<const Tensor<std::int8_t>>(std::move(result.values));
    if (work.job.destination) {
        writer_.emplace(*work.job.destination, *result_);
    }
}

void Sdp::run_operation(Activity& activity) {
    const std::shared_ptr<SdpWork> work = launches.take(activity, WaitKind::Idle);
    writer_.reset();
    result_.reset();
    start_reading(activity, *work);
    activity.spend(config_.start_up);
    last_response_ = now();
    if (work->job.flying()) {
        run_flying(activity, *work);
    } else {
        run_from_memory(activity, *work);
    }
    activity.wait_until(last_response_ + tail(work->job), WaitKind::Blocked, "write response");
    done_(*work);
}

void Sdp::run_flying(Activity& activity, SdpWork& work) {
    bool more = true;
    while (more) {
        const SourceRun run = wires_.accumulated.take(activity);
        if (!result_) {
            keep_result(work, compute_sdp(work.job.stages, *run.values, fetched_, work.tables));
        }
        process(activity, work, run);
        more = !run.last;
    }
}

void Sdp::run_from_memory(Activity& activity, SdpWork& work) {
    bool more = true;
    while (more) {
        const ResultRun run = reader.lines.take(activity);
        process(activity, work, run);
        more = !run.last;
    }
}

template <class T>
void Sdp::process(Activity& activity, const SdpWork& work, const AtomRun<T>& run) {
    activity.wait_until(run.first_ready, WaitKind::Starved, "input");
    take_operands(activity, run.count, run.surface);
    const Cycles started = now();
    activity.spend(atom_cycles(work.job) * run.count);
    if (run.credits != nullptr) {
        run.credits->add_at(now() + run.credit_delay, run.count);
    }
    ResultRun result{.values = result_, .surface = run.surface, .first_pixel = run.first_pixel};
    result.count = run.count;
    result.first_ready = started;
    result.last = run.last;
    hand_on(activity, work, result);
}

void Sdp::take_operands(Activity& activity, std::uint64_t atoms, std::uint32_t surface) {
    for (OperandReader& operand : operands) {
        operand.take(activity, atoms, surface);
    }
}

void Sdp::hand_on(Activity& activity, const SdpWork& work, const ResultRun& result) {
    if (work.job.to_pdp) {
        wires_.to_pdp.give(activity, result);
    }
    if (writer_) {
        last_response_ =
            writer_->write(activity, write_port, {result.surface, result.first_pixel, result.count},
                           {"output", work.name, work.job.destination_in_sram});
    }
}

}  // namespace npuscope
