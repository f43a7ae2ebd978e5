// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cacc.h"

#include "models/conv/cacc_math.h"

namespace npuscope {
namespace {

/// Extra cycles of an fp16 sum compared with an integer sum.
constexpr Cycles float_sum{2};  // source: nv_full RTL, simulated

/// Sums of several batches leave in pairs of neighbouring pixels of a batch: the first ones wait
/// for those of the next pixel. source: NV_NVDLA_CACC_delivery_ctrl.v of nvdlav1, is_push_skip
Cycles pairing(const ConvJob& job) {
    return Cycles(job.batches() > 1 && job.output().width > 1 ? job.batches() : 0);
}

}  // namespace

Cacc::Cacc(const CaccConfig& config, const DatapathConfig& datapath, ValueThread& values)
    : credits("cacc.credits", config.depth(datapath.atomic_k)),
      config_(config),
      datapath_(datapath),
      values_(values),
      marks_(config.depth(datapath.atomic_k), config.delivery_latency) {}

AccumulatedSums Cacc::sums_of(ConvWork& work, const WeightKernels& kernels) const {
    const ConvJob& job = work.job;
    const bool bytes = job.precision() == Precision::Int8;
    const MacOrder order{.block_channels = datapath_.atomic_c,
                         .columns_are_channels = job.mode() == ConvMode::Image,
                         .row_group = job.weights.row_group};
    const Accumulation accumulation{
        .convolution = work.met.value_or(job.convolution),
        .accumulator = {order, bytes ? config_.partial_sum_bits : config_.partial_sum_bits_int16},
        .clip_truncate = job.parts.cacc.clip_truncate,
        .precision = job.precision(),
        .winograd = job.mode() == ConvMode::Winograd,
        .patch_truncate = job.parts.csc.patch_truncate,
        .batches = job.batches(),
        .arranged = &work.arranged};
    return accumulate(*work.data, kernels, accumulation);
}

void Cacc::compute(const std::shared_ptr<ConvWork>& work) const {
    work->accumulated = std::make_shared<Tensor<std::int32_t>>();
    values_.post([this, work] {
        AccumulatedSums sums = sums_of(*work, *work->weights->kernels);
        // lanes beyond the last kernel leave the accumulator as zeros
        Shape& shape = sums.values.shape;
        const std::uint32_t atom = datapath_.atom_channels(work->job.precision());
        shape.channels = static_cast<std::uint32_t>(round_up(shape.channels, atom));
        sums.values.values.resize(shape.elements());
        work->saturated = sums.saturated;
        *work->accumulated = std::move(sums.values);
    });
}

void Cacc::compute_group(ConvWork& work) const {
    const std::uint32_t group = work.groups_accumulated++;
    const AccumulatedSums sums = sums_of(work, *work.arrived_groups[group]);
    const Shape& shape = sums.values.shape;
    if (!work.accumulated) {
        const std::uint32_t atom = datapath_.atom_channels(work.job.precision());
        const auto channels =
            static_cast<std::uint32_t>(round_up(work.job.weights.shape.kernels, atom));
        work.accumulated =
            std::make_shared<Tensor<std::int32_t>>(Shape{channels, shape.height, shape.width});
    }
    paste(sums.values, {group * work.job.weights.group_kernels, 0, 0, shape}, *work.accumulated);
    work.saturated += sums.saturated;
}

void Cacc::add_state(Fingerprint& state) const {
    credits.add_state(state);
    atoms.add_state(state, [&](const AtomRun<std::int32_t>& run) {
        state.add(run.first_ready);
        state.add(run.count);
    });
}

bool Cacc::accept(Activity& giver, const StripePackage& package) {
    if (package.work->values && !package.work->arrived_groups.empty()) {
        while (package.work->groups_accumulated <= package.kernel_group) {
            compute_group(*package.work);
        }
    } else if (package.work->values && !package.work->accumulated) {
        compute(package.work);
    }
    const bool floats = package.work->job.precision() == Precision::Fp16;
    const Cycles first_ready = package.last_block_start + config_.fill_latency +
                               (floats ? float_sum : Cycles(0)) + pairing(package.work->job);
    if (config_.stale_end_marks) {
        marks_.enter(first_ready + package.interval * (package.length - 1), package.last);
    }
    const auto offer = atoms.give(giver,
                                  {.values = package.work->accumulated,
                                   .surface = package.kernel_group,
                                   .first_pixel = package.first_output,
                                   .count = package.length,
                                   .first_ready = first_ready,
                                   .interval = package.interval,
                                   .last = package.last,
                                   .credits = &credits,
                                   .credit_delay = config_.credit_return,
                                   .marks = config_.stale_end_marks ? &marks_ : nullptr},
                                  WaitKind::Ahead);
    if (package.last) {
        values_.post([work = package.work] { work->arranged = {}; });
        ++ended_;
        done_(package.work);
    }
    return offer == Channel<AtomRun<std::int32_t>>::Offer::Ahead;
}

}  // namespace npuscope
