// SPDX-License-Identifier: Apache-2.0
#include "models/conv/csc.h"

#include <algorithm>
#include <utility>

#include "models/conv/csc_math.h"
#include "models/layout/weight_layout.h"

namespace npuscope {
namespace {

/// Loads of the MAC cells that one kernel group takes: channel cubes x rows x columns.
std::uint64_t weight_blocks(const WeightLayout& weights) {
    const std::uint64_t cubes = divide_up(weights.shape.channels, weights.cube_channels);
    if (weights.winograd) {
        return cubes;
    }
    return cubes * divide_up(weights.shape.rows, weights.row_group) * weights.shape.columns;
}

/// Entries that a group adds to the mask's surface.
std::uint64_t mask_entries(const WeightLayout& weights, Bytes entry, std::uint32_t group) {
    const auto end = [&](std::uint32_t groups) -> std::uint64_t {
        if (groups == weights.groups()) {
            return divide_up(stored_mask_bytes(weights).value, entry.value);
        }
        const std::uint64_t bits = weights.group_offset(groups) / weights.element;
        return divide_up(divide_up(bits, 8), entry.value);
    };
    return end(group + 1) - end(group);
}

}  // namespace

Csc::Csc(const sc_core::sc_module_name& name, const CscConfig& config,
         const DatapathConfig& datapath, const Wires& wires)
    : Unit(name), config_(config), datapath_(datapath), wires_(wires) {
    repeat_from(launches, "sequence", [this](Activity& activity) { run_operation(activity); });
}

StripePlan Csc::plan_of(const ConvWork& work) const {
    const ConvJob& job = work.job;
    const std::uint32_t loading = loading_cycles(job, datapath_, work.buffer.entry);
    StripePlan plan{
        .outputs = std::uint64_t{job.output().height} * job.output().width * job.batches(),
        .blocks = weight_blocks(job.weights),
        .cells = loading,
        .full_stripe = config_.stripe_groups * loading,
        .batches = job.batches(),
        .most_outputs = wires_.most_credits,
        .reads = reading_cycles(job, datapath_, work.buffer.entry)};
    if (job.mode() == ConvMode::Image) {
        plan.row = job.output().width;
        plan.rows_together = job.weights.row_group;
        plan.full_stripe = config_.image_stripe_groups * loading;
    } else if (job.mode() == ConvMode::Winograd) {
        plan.outputs_per_cycle = 4;  // source: nv_full C model, a 4 x 4 patch yields 2 x 2
        plan.full_stripe *= plan.outputs_per_cycle;  // counted in patches, like the shortest one
    }
    // a stripe that the accumulator cannot hold would never end
    plan.full_stripe = std::min(plan.full_stripe, wires_.most_credits);
    return plan;
}

void Csc::drop_left(const ConvWork& work) {
    if (!work.start.keeps_data()) {
        wires_.data.release_at(now(), std::exchange(left_data_, 0));
    }
    if (!work.start.weights_reused) {
        wires_.masks.release_at(now(), std::exchange(left_masks_, 0));
        wires_.weights.release_at(now(), std::exchange(left_weights_, 0));
    }
}

void Csc::release_data(ConvWork& work) {
    const std::uint64_t all = left_data_ + (work.start.data_reused ? 0 : work.buffer.data);
    const std::uint64_t released = std::min(all, work.buffer.line * released_lines(work.job));
    left_data_ = left_lines(work.job) == 0 ? 0 : all - released;
    work.passed = *end_ + config_.data_release;
    wires_.data.release_at(*work.passed, all - left_data_);
}

void Csc::run_operation(Activity& activity) {
    const std::shared_ptr<ConvWork> work = launches.take(activity, WaitKind::Idle);
    drop_left(*work);
    array_ = {};
    plan_ = plan_of(*work);
    stripes_ = stripe_lengths(plan_);
    for (std::uint32_t group = 0; group < work->job.weights.groups(); ++group) {
        group = run_group(activity, work, group);
    }
    end_ = last_block_ + passing_cycles(plan_, stripes_.back());
    account_array(*work);
    count_actions(*work);
    release_data(*work);
    done_(*work);
}

void Csc::account_start(ConvWork& work, Cycles weights, Cycles start) const {
    OperationRecord& record = work.record;
    const auto pass = [&](Cycles until, Cause cause) {
        record.pass(std::min(until, start), cause);
    };
    pass(end_.value_or(Cycles(0)), Cause::WaitsForPrevious);
    pass(work.data_first, Cause::StartUp);
    pass(work.data_complete, Cause::DataFetch);
    pass(weights, Cause::WeightFetch);
    pass(start, Cause::StartUp);
}

/// The array was occupied by the operation from its first MAC on.
void Csc::account_array(ConvWork& work) const {
    OperationRecord& record = work.record;
    record.parts.push_back({record.accounted(), next_block_, array_, true});
    record.causes += array_;
}

std::uint32_t Csc::group_load(const ConvJob& job, std::uint32_t group) const {
    return static_cast<std::uint32_t>(
        divide_up(std::uint64_t{job.weights.kernels_of_group(group)} * plan_.cells,
                  job.weights.group_kernels));
}

void Csc::add_next_state(Fingerprint& state) const {
    state.add(next_block_);
    state.add(end_.value_or(Cycles(0)));
    state.add(left_data_);
    state.add(left_weights_);
    state.add(left_masks_);
}

void Csc::count_again(const Actions& from, const Actions& to, std::uint64_t times) {
    for (std::size_t i = 0; i < actions_.products.size(); ++i) {
        actions_.products[i] += (to.products[i] - from.products[i]) * times;
    }
    actions_.partial_sums += (to.partial_sums - from.partial_sums) * times;
    actions_.buffer_read += (to.buffer_read - from.buffer_read) * times;
    actions_.buffer_written += (to.buffer_written - from.buffer_written) * times;
}

void Csc::count_actions(const ConvWork& work) {
    const ConvJob& job = work.job;
    const BufferUse& buffer = work.buffer;
    std::uint64_t atoms = 0;  // that enter the cells with one group of kernels
    for (const std::uint32_t stripe : stripes_) {
        atoms += divide_up(stripe, plan_.outputs_per_cycle) * plan_.blocks;
    }
    const auto type = static_cast<std::size_t>(job.precision());
    const Bytes atom(std::uint64_t{datapath_.atomic_c} * bytes_of(job.precision()));
    std::uint64_t written = work.start.data_reused ? 0 : buffer.data;
    for (std::uint32_t group = 0; group < job.weights.groups(); ++group) {
        const std::uint64_t sums = atoms * job.weights.kernels_of_group(group);
        const std::uint64_t masks = buffer.mask_ends.empty() ? 0 : buffer.masks(group);
        actions_.products[type] += sums * datapath_.atomic_c;
        actions_.partial_sums += sums;
        actions_.buffer_read +=
            atom * atoms + buffer.entry * (buffer.taken_weights(group) + masks) * stripes_.size();
        written += work.start.weights_reused ? 0 : buffer.weights(group) + masks;
    }
    actions_.buffer_written += buffer.entry * written;
}

Cycles Csc::wait_for_group(Activity& activity, ConvWork& work, std::uint32_t group) {
    const ConvJob& job = work.job;
    GroupInputs inputs;
    inputs.load = group_load(job, group);
    if (group == 0) {
        if (!work.start.data_reused) {
            inputs.data = wires_.data.take_filled(activity, work.buffer.data);
        }
        inputs.previous = end_;
    }
    if (work.start.weights_reused) {
        inputs.weights = group == 0 ? now() : Cycles(0);
    } else {
        if (job.parts.cdma.compression) {
            // the mask's entries follow from the layer, so the wait ends after the DMA's launch
            const std::uint64_t masks = mask_entries(job.weights, work.buffer.entry, group);
            inputs.weights = wires_.masks.take_filled(activity, masks);
        }
        inputs.weights = std::max(inputs.weights,
                                  wires_.weights.take_filled(activity, work.buffer.weights(group)));
    }
    const Cycles start = group_start(config_, inputs);
    if (group == 0) {
        account_start(work, inputs.weights, start);
    } else if (start > next_block_) {
        const Cause cause = work.weights_waited[group] ? Cause::CbufCapacity : Cause::WeightFetch;
        array_[cause] += start - next_block_;
    }
    return start;
}

void Csc::meet_pixels(const std::shared_ptr<ConvWork>& of, std::uint32_t group) const {
    ConvWork& work = *of;
    const auto image = miscounted_image(work.job, config_, datapath_, work.buffer.entry);
    if (!image && work.arrived_groups.empty()) {
        auto sequenced = std::make_shared<LateKernels>();
        wires_.values.post([sequenced, of, stored = work.weights] {
            sequenced->kernels =
                std::make_shared<const WeightKernels>(sequenced_kernels(of->job, *stored->kernels));
        });
        work.weights = std::move(sequenced);
        return;
    }
    if (!image) {
        std::shared_ptr<const WeightKernels>& kernels = work.arrived_groups[group];
        kernels = std::make_shared<const WeightKernels>(sequenced_kernels(work.job, *kernels));
        return;
    }
    if (work.met) {
        return;
    }
    auto met = std::make_shared<ElementTensor>();
    wires_.values.post([met, of, data = work.data, image = *image] {
        *met = met_pixels(std::get<Tensor<std::int8_t>>(*data), of->job, image);
    });
    work.data = std::move(met);
    work.met = met_geometry(work.job);
}

void Csc::shorten_blocks(const ConvJob& job, std::uint32_t group) {
    if (config_.shortest_stripe != 0) {
        plan_.shortest = std::max(config_.shortest_stripe, group_load(job, group));
    }
}

bool Csc::ends_group(const StripePackage& package) const {
    const ConvWork& work = *package.work;
    const std::uint64_t end = package.first_output + package.length;
    return end == plan_.outputs && package.kernel_group + 1 < work.job.weights.groups();
}

std::uint32_t Csc::run_group(Activity& activity, const std::shared_ptr<ConvWork>& work,
                             std::uint32_t group) {
    shorten_blocks(work->job, group);
    const Cycles start = wait_for_group(activity, *work, group);
    next_block_ = group == 0 ? start : std::max(start, next_block_);
    activity.wait_until(next_block_, WaitKind::Starved, "loading of weights");
    if (group == 0) {
        work->first_mac = next_block_;
        work->record.first_mac = next_block_;
    } else if (group_begins_) {
        group += group_begins_(*work, group, array_);
    }
    if (work->values && work->job.mode() == ConvMode::Image &&
        (group == 0 || !work->arrived_groups.empty())) {
        meet_pixels(work, group);
    }
    StripePackage package{.work = work, .kernel_group = group};
    for (std::size_t i = 0; i < stripes_.size(); ++i) {
        package.length = stripes_[i];
        const bool last = i + 1 == stripes_.size();
        package.last = last && group + 1 == work->job.weights.groups();
        if (last) {
            // the last block's weights leave the buffer when the previous block enters the cells
            const Cycles block = block_cycles(plan_, package.length);
            release_weights(
                *work, group,
                plan_.blocks > 1 ? next_block_ + block * (plan_.blocks - 2) : last_block_);
        }
        if (!run_stripe(activity, package) || last) {
            // nothing is loaded behind the very last block: it takes only the time of its outputs
            activity.pass_until(package.last ? last_block_ + passing_cycles(plan_, package.length)
                                             : next_block_);
        }
        package.first_output += package.length;
    }
    return group;
}

void Csc::release_weights(const ConvWork& work, std::uint32_t group, Cycles last_load) {
    const bool compressed = work.job.parts.cdma.compression.has_value();
    const std::uint64_t masks = compressed ? work.buffer.masks(group) : 0;
    if (work.job.parts.csc.reuse.skip_weight_release) {
        if (!work.start.weights_reused) {
            left_weights_ += work.buffer.weights(group);
            left_masks_ += masks;
        }
        return;
    }
    const Cycles free =
        std::max({last_load + Cycles(plan_.cells) + config_.weight_release, next_block_, now()});
    wires_.masks.release_at(free, masks);
    wires_.weights.release_at(free, work.buffer.taken_weights(group));
    left_weights_ = 0;
    left_masks_ = 0;
}

bool Csc::run_stripe(Activity& activity, StripePackage& package) {
    const Cycles block = block_cycles(plan_, package.length);
    const Cycles first_blocks = block * (plan_.blocks - 1);
    const Cycles unhindered = next_block_ + first_blocks;
    const Cycles credits = wires_.credits.take_announced(activity, package.length, WaitKind::Ahead);
    last_block_ = std::max(unhindered, credits);
    next_block_ = last_block_ + block;
    if (ends_group(package)) {  // while it passes, the next group's first weights are loaded
        shorten_blocks(package.work->job, package.kernel_group + 1);
        next_block_ = last_block_ + block_cycles(plan_, package.length);
    }
    package.last_block_start = last_block_;
    package.interval = Cycles(divide_up(plan_.reads, plan_.outputs_per_cycle));
    array_[Cause::SdpDrain] += last_block_ - unhindered;
    array_[Cause::Mac] += first_blocks + (next_block_ - last_block_);
    activity.count_busy({unhindered - first_blocks, unhindered});
    activity.count_blocked({unhindered, last_block_}, "cacc.credits");
    activity.count_busy({last_block_, next_block_});
    if (package.last) {
        activity.pass_until(last_block_);
    }
    return wires_.stripes.accept(activity, package);
}

}  // namespace npuscope
