// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp.h"

#include <algorithm>

#include "models/base/check.h"

namespace npuscope {
namespace {

PoolingShape shape_of(const PdpJob& job) {
    return {.in_height = job.input.height,
            .out_height = job.output.height,
            .kernel_height = job.pooling.kernel_height,
            .stride_y = job.pooling.stride_y,
            .pad_top = job.pooling.pad_top};
}

}  // namespace

Pdp::Pdp(const sc_core::sc_module_name& name, const PdpConfig& config,
         const DatapathConfig& datapath)
    : Unit(name), config_(config), datapath_(datapath) {
    repeat("pool", [this](Activity& activity) { run_operation(activity); });
    repeat("read", [this](Activity& activity) { reader.read_cube(activity); });
}

void Pdp::start_reading(Activity& activity, const PdpWork& work) {
    CubeRead read{.cube = *work.job.source,
                  .parts = {},
                  .purpose = {"input", work.name, work.job.source_in_sram},
                  .values = nullptr};
    read.values = std::make_shared<const Tensor<std::int8_t>>(
        fetch_cube<std::int8_t>(reader.port, read.cube, read.purpose));
    for (const PdpPart& part : work.job.pooling.parts) {
        read.parts.push_back({part.in_begin, part.in_width});
    }
    reader.jobs.give(activity, std::move(read));
}

void Pdp::run_operation(Activity& activity) {
    const std::shared_ptr<PdpWork> work = launches.take(activity, WaitKind::Idle);
    const PdpJob& job = work->job;
    if (!job.flying()) {
        start_reading(activity, *work);
    }
    Channel<AtomRun<std::int8_t>>& input = job.flying() ? flying : reader.lines;
    writer_.reset();
    last_response_ = now();
    bool more = true;
    while (more) {
        const AtomRun<std::int8_t> run = input.take(activity);
        if (!writer_) {
            work->record.causes[Cause::StartUp] += now() - work->record.start;
            writer_.emplace(job.destination, compute_pdp(job.pooling, *run.values));
        }
        consume(activity, run);
        write_finished_lines(activity, *work, run);
        more = !run.last;
    }
    activity.wait_until(last_response_ + config_.tail, WaitKind::Blocked, "write response");
    done_(*work);
}

void Pdp::consume(Activity& activity, const AtomRun<std::int8_t>& run) {
    activity.wait_until(run.first_ready, WaitKind::Starved, "input");
    const std::uint64_t elements = datapath_.memory_atom.value;
    activity.spend(pooling_atom_cycles(elements, config_.throughput) * run.count);
    if (run.credits != nullptr) {
        run.credits->add_at(now() + run.credit_delay, run.count);
    }
}

void Pdp::write_finished_lines(Activity& activity, const PdpWork& work,
                               const AtomRun<std::int8_t>& run) {
    const PdpJob& job = work.job;
    const std::uint64_t width = job.input.width;
    const PdpPart& part = job.pooling.parts[run.part];
    // lines of this surface that were complete before this run, and that are now
    const std::uint64_t before = run.first_pixel / width;
    const std::uint64_t complete =
        job.flying() ? (run.first_pixel + run.count) / width : before + 1;
    const PoolingShape shape = shape_of(job);
    const Purpose purpose{"output", work.name, job.destination_in_sram};
    for (std::uint32_t y = 0; y < job.output.height; ++y) {
        const std::uint64_t needed = last_input_line(shape, y) + 1ULL;
        if (needed > before && needed <= complete) {
            const PixelRun line{run.surface, std::uint64_t{y} * job.output.width + part.out_begin,
                                part.out_width};
            last_response_ = writer_->write(activity, write_port, line, purpose);
        }
    }
}

}  // namespace npuscope
