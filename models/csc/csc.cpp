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

Csc::Csc(const sc_core::sc_module_name& name, const CscConfig& config,
         const DatapathConfig& datapath, const Wires& wires)
    : Unit(name), config_(config), datapath_(datapath), wires_(wires) {
    repeat_from(launches, "sequence", [this](Activity& activity) { run_operation(activity); });
}

StripePlan Csc::plan_of(const ConvJob& job) const {
    StripePlan plan{.outputs = std::uint64_t{job.output().height} * job.output().width,
                    .blocks = weight_blocks(job.weights),
                    .cells = datapath_.atomic_k,
                    .full_stripe = config_.stripe_groups * datapath_.atomic_k};
    if (job.mode() == ConvMode::Image) {
        plan.row = job.output().width;
    }
    return plan;
}

void Csc::run_operation(Activity& activity) {
    const std::shared_ptr<ConvWork> work = launches.take(activity, WaitKind::Idle);
    plan_ = plan_of(work->job);
    stripes_ = stripe_lengths(plan_);
    for (std::uint32_t group = 0; group < work->job.weights.groups(); ++group) {
        run_group(activity, work, group);
    }
    end_ = last_block_ + Cycles(stripes_.back());
    if (!work->job.parts.csc.reuse.skip_data_release) {
        wires_.data.release_at(*end_ + config_.data_release, work->buffer.data);
    }
    done_(*work);
}

void Csc::account_start(ConvWork& work, Cycles weights, Cycles start) const {
    CauseCycles& causes = work.record.causes;
    const Cycles first = std::max(work.data_first, work.record.start);
    const Cycles data = std::max(work.data_complete, first);
    const Cycles complete = std::max(data, weights);
    causes[Cause::StartUp] += (first - work.record.start) + (start - complete);
    causes[Cause::DataFetch] += data - first;
    causes[Cause::WeightFetch] += complete - data;
}

Cycles Csc::wait_for_group(Activity& activity, ConvWork& work, std::uint32_t group) {
    const ConvJob& job = work.job;
    GroupInputs inputs;
    inputs.kernels = job.weights.kernels_of_group(group);
    if (group == 0) {
        if (!job.parts.cdma.reuse.data_reuse) {
            inputs.data = wires_.data.take_filled(activity, work.buffer.data);
        }
        inputs.floor = end_ ? *end_ + config_.next_operation : Cycles(0);
    }
    if (job.parts.cdma.reuse.weight_reuse) {
        inputs.weights = group == 0 ? now() : Cycles(0);
    } else {
        inputs.weights =
            wires_.weights.take_filled(activity, work.buffer.weights(job.weights, group));
    }
    const Cycles start = group_start(config_, inputs);
    if (group == 0) {
        account_start(work, inputs.weights, start);
    } else if (start > next_block_) {
        const Cause cause = work.weights_waited[group] ? Cause::CbufCapacity : Cause::WeightFetch;
        work.record.causes[cause] += start - next_block_;
    }
    return start;
}

void Csc::run_group(Activity& activity, const std::shared_ptr<ConvWork>& work,
                    std::uint32_t group) {
    const Cycles start = wait_for_group(activity, *work, group);
    next_block_ = group == 0 ? start : std::max(start, next_block_);
    activity.wait_until(next_block_, WaitKind::Starved, "loading of weights");
    if (group == 0) {
        work->first_mac = next_block_;
        work->record.first_mac = next_block_;
        if (work->values) {
            work->weights = std::make_shared<const Kernels<std::int8_t>>(
                sequenced_kernels(work->job, *work->weights));
        }
    }
    StripePackage package{.work = work, .kernel_group = group};
    for (std::size_t i = 0; i < stripes_.size(); ++i) {
        package.length = stripes_[i];
        const bool last = i + 1 == stripes_.size();
        package.last = last && group + 1 == work->job.weights.groups();
        if (last) {
            // the last block's weights leave the buffer when the block before enters the cells
            const Cycles block = block_cycles(plan_, package.length);
            release_weights(
                *work, group,
                plan_.blocks > 1 ? next_block_ + block * (plan_.blocks - 2) : last_block_);
        }
        run_stripe(activity, package);
        package.first_output += package.length;
    }
}

void Csc::release_weights(const ConvWork& work, std::uint32_t group, Cycles last_load) {
    if (work.job.parts.csc.reuse.skip_weight_release) {
        return;
    }
    const Cycles load(datapath_.atomic_k);
    const Cycles free = std::max(last_load + load + config_.weight_release, now());
    wires_.weights.release_at(free, work.buffer.weights(work.job.weights, group));
}

void Csc::run_stripe(Activity& activity, StripePackage& package) {
    const Cycles block = block_cycles(plan_, package.length);
    const Cycles work_cycles = block * plan_.blocks;
    const Cycles called = now();
    const Cycles unhindered = next_block_ + block * (plan_.blocks - 1);
    const Cycles credits =
        wires_.credits.take_announced(activity, package.length, WaitKind::Blocked);
    const Cycles waited = now() - called;
    last_block_ = std::max(unhindered, credits);
    next_block_ = last_block_ + block;
    const Cycles stalled = last_block_ - unhindered;
    package.last_block_start = last_block_;
    package.work->record.causes[Cause::SdpDrain] += stalled;
    package.work->record.causes[Cause::Mac] += work_cycles;
    activity.count_busy({next_block_ - stalled - work_cycles, unhindered});
    activity.count_blocked({last_block_ - (stalled - std::min(stalled, waited)), last_block_},
                           "cacc.credits");
    activity.count_busy({last_block_, next_block_});
    if (package.last) {
        activity.pass_until(last_block_);
    }
    wires_.stripes.accept(activity, package);
    activity.pass_until(next_block_);
}

}  // namespace npuscope
