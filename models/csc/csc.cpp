// SPDX-License-Identifier: Apache-2.0
#include "models/csc/csc.h"

#include <algorithm>

#include "models/csc/csc_math.h"

namespace npuscope {
namespace {

/// Loads of the MAC cells that one kernel group takes: channel cubes x rows x columns.
std::uint64_t weight_blocks(const WeightLayout& weights) {
    const std::uint64_t cubes = divide_up(weights.shape.channels, weights.cube_channels);
    return cubes * divide_up(weights.shape.rows, weights.row_group) * weights.shape.columns;
}

}  // namespace

Csc::Csc(const sc_core::sc_module_name& name, const CscConfig& config, const DatapathConfig& datapath,
         const Wires& wires)
    : Unit(name), config_(config), datapath_(datapath), wires_(wires) {
    repeat("sequence", [this](Activity& activity) { run_operation(activity); });
}

void Csc::account(ConvWork& work, Cause cause, Cycles since) const {
    work.record.causes[cause] += now() - since;
}

void Csc::wait_for_data(Activity& activity, ConvWork& work) {
    const Cycles since = now();
    if (!work.job.parts.cdma.reuse.data_reuse) {
        wires_.data.take_filled(activity, work.buffer.data);
    }
    account(work, Cause::DataFetch, since);
    const Cycles filled = now();
    activity.wait_until(filled + config_.data_to_mac, WaitKind::Starved, "data");
    account(work, Cause::StartUp, filled);
}

void Csc::run_operation(Activity& activity) {
    const std::shared_ptr<ConvWork> work = launches.take(activity, WaitKind::Idle);
    const ConvJob& job = work->job;
    plan_ = {.outputs = std::uint64_t{job.output().height} * job.output().width,
             .blocks = weight_blocks(job.weights),
             .cells = datapath_.atomic_k,
             .full_stripe = config_.full_stripe,
             .image = job.mode() == ConvMode::Image};
    stripes_ = stripe_lengths(plan_);
    wait_for_data(activity, *work);
    work->weights =
        std::make_shared<const Kernels<std::int8_t>>(sequenced_kernels(job, *work->weights));
    for (std::uint32_t group = 0; group < job.weights.groups(); ++group) {
        run_group(activity, work, group);
    }
    if (!job.parts.csc.reuse.skip_data_release) {
        wires_.data.release_at(now(), work->buffer.data);
    }
    done_(*work);
}

void Csc::run_group(Activity& activity, const std::shared_ptr<ConvWork>& work,
                    std::uint32_t group) {
    const ConvJob& job = work->job;
    const std::uint64_t entries = work->buffer.weights(job.weights, group);
    const Cycles since = now();
    if (!job.parts.cdma.reuse.weight_reuse) {
        wires_.weights.take_filled(activity, entries);
    }
    account(*work, Cause::WeightFetch, since);
    if (group == 0) {
        work->first_mac = now();
    }
    StripePackage package{.work = work, .kernel_group = group};
    for (const std::uint32_t length : stripes_) {
        package.length = length;
        package.last =
            group + 1 == job.weights.groups() && package.first_output + length == plan_.outputs;
        run_stripe(activity, package);
        package.first_output += length;
    }
    if (!job.parts.csc.reuse.skip_weight_release) {
        wires_.weights.release_at(now() + config_.release_to_refill, entries);
    }
}

void Csc::run_stripe(Activity& activity, StripePackage& package) {
    const Cycles block = block_cycles(plan_, package.length);
    ConvWork& work = *package.work;
    activity.spend(block * (plan_.blocks - 1));
    const Cycles waiting = now();
    wires_.credits.take(activity, package.length, WaitKind::Blocked);
    account(work, Cause::SdpDrain, waiting);
    package.last_block_start = now();
    wires_.stripes.accept(activity, package);
    activity.spend(block);
    work.record.causes[Cause::Mac] += block * plan_.blocks;
}

}  // namespace npuscope
