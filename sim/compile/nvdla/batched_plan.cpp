// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/batched_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "sim/compile/nvdla/conv_tiling.h"
#include "sim/compile/nvdla/plan_context.h"

namespace npuscope {
namespace {

constexpr std::uint32_t most_released = 4096;  // source: NVDLA_CSC.rdl, RLS_SLICES of 12 bits

/// How many inputs each operation of a layer computes, and the banks that it needs for them.
struct Sharing {
    std::uint32_t inputs = 1;
    BankSplit banks;
};

/// Whether an operation may compute several inputs.
bool may_share(const Operation& operation) {
    const auto* conv = std::get_if<ConvOperation>(&operation.job);
    if (conv == nullptr || conv->pdp || !conv->sdp.destination || !operation.table.empty()) {
        return false;
    }
    const bool per_element =
        std::ranges::any_of(conv->sdp.operands, [](const std::optional<SdpOperandFetch>& operand) {
            return operand && operand->surface.spread == OperandSpread::PerElement;
        });
    return conv->conv.cdma.mode == ConvMode::Direct && !per_element;
}

/// For the layer's inputs one after the other, as the layer is cut.
Cycles predicted_alone(const ConvChoice& cut, std::uint32_t inputs, const TilingCosts& costs) {
    ConvProblem problem = cut.problem;
    problem.slices = inputs;
    const auto tiling = tiling_with(problem, costs, cut.key);
    return tiling ? tiling->estimate : Cycles(cut.predicted.value * inputs);
}

/// For operations on `inputs` inputs, cut into the same tiles; nothing where they do not fit.
std::optional<ConvTiling> shared_tiling(const ConvChoice& cut, std::uint32_t inputs,
                                        std::uint32_t operations, const TilingCosts& costs) {
    ConvProblem problem = cut.problem;
    problem.settled = cut.key.form;
    problem.batches = inputs;
    problem.slices = operations;
    for (const ConvTiling& tiling : tiling_candidates(problem, costs)) {  // fastest first
        if (tiling.tiles.size() == cut.key.tiles && tiling.resident == cut.key.resident) {
            return tiling;
        }
    }
    return std::nullopt;
}

/// The sharing that is predicted to be fastest; one input per operation where none is faster.
Sharing sharing_of(const Plan& plan, const PlannedLayer& layer, std::uint32_t inputs,
                   const PlanTarget& target) {
    Sharing best;
    const auto begin = plan.operations.begin() + static_cast<std::ptrdiff_t>(layer.first_operation);
    const auto end = begin + static_cast<std::ptrdiff_t>(layer.operations);
    if (!layer.cut || layer.cut->problem.slices > 1 || !std::all_of(begin, end, may_share)) {
        return best;
    }
    const TilingCosts costs = costs_of(target);
    const std::uint32_t rows = layer.cut->problem.input.height;
    Cycles least = predicted_alone(*layer.cut, inputs, costs);
    std::uint32_t before = 1;
    for (std::uint32_t operations = inputs; operations > 0; --operations) {
        const auto each = static_cast<std::uint32_t>(divide_up(inputs, operations));
        if (each == before || each > most_batches(target.npu) || each * rows > most_released) {
            continue;
        }
        before = each;
        const auto tiling = shared_tiling(*layer.cut, each, operations, costs);
        if (tiling && tiling->estimate < least) {
            least = tiling->estimate;
            best = {each, tiling->banks};
        }
    }
    return best;
}

/// The same operation for `count` inputs; it has the addresses of the first one.
Operation of_several(Operation operation, const Sharing& sharing, std::uint32_t count,
                     Bytes distance) {
    auto& conv = std::get<ConvOperation>(operation.job);
    CdmaJob& cdma = conv.conv.cdma;
    CscJob& csc = conv.conv.csc;
    cdma.banks = csc.banks = sharing.banks;
    if (count == 1) {
        return operation;
    }
    cdma.batches = csc.batches = conv.conv.cacc.batches = conv.sdp.batches = count;
    cdma.feature.batch_lines = cdma.input.height;
    cdma.feature.batch_stride = distance;
    cdma.feature.shape.height *= count;
    csc.release_slices *= count;
    conv.sdp.batch_stride = distance;
    for (std::optional<SdpOperandFetch>& operand : conv.sdp.operands) {
        if (operand) {
            operand->surface.shape.height *= count;
        }
    }
    return operation;
}

class Batching {
 public:
    Batching(Plan plan, std::uint32_t inputs, Bytes distance, const PlanTarget& target)
        : target_(target), batched_{.plan = {}, .distance = distance} {
        std::vector<PlannedImage> images = std::exchange(plan.images, {});  // they may be large
        Plan& all = batched_.plan = plan;
        all.images = std::move(images);
        all.operations.clear();
        all.layers.clear();
        new_index_.resize(plan.operations.size());
        const Address first = first_map(plan);
        for (std::uint32_t input = 0; input < inputs; ++input) {
            move_results(places_.emplace_back(plan), first, first + distance * input);
        }
        add_images(first);
    }

    BatchedPlan run() {
        for (const PlannedLayer& layer : places_.front().layers) {
            add(layer);
        }
        return std::move(batched_);
    }

 private:
    /// The images of inputs, which are placed among the maps, once per place.
    void add_images(Address first) {
        std::vector<PlannedImage>& images = batched_.plan.images;
        const std::size_t own = images.size();
        for (std::size_t i = 0; i < own; ++i) {
            images[i].last_reader.reset();
            for (std::size_t input = 1; images[i].address >= first && input < places_.size();
                 ++input) {
                PlannedImage image = images[i];
                image.address = image.address + batched_.distance * input;
                image.name += fmt::format("_{}", input + 1);
                images.push_back(std::move(image));
            }
        }
    }

    void add(PlannedLayer layer) {
        const auto inputs = static_cast<std::uint32_t>(places_.size());
        const Sharing sharing = sharing_of(places_.front(), layer, inputs, target_);
        batched_.shared_layers += sharing.inputs > 1 ? 1 : 0;
        const std::size_t first = layer.first_operation;
        layer.first_operation = batched_.plan.operations.size();
        layer.macs *= inputs;
        for (std::uint32_t input = 0; input < inputs; input += sharing.inputs) {
            const std::uint32_t count = std::min(sharing.inputs, inputs - input);
            for (std::size_t i = 0; i < layer.operations; ++i) {
                const Operation& single = places_[input].operations[first + i];
                add(sharing.inputs > 1 ? of_several(single, sharing, count, batched_.distance)
                                       : single,
                    first + i, {input, count});
            }
        }
        layer.operations = batched_.plan.operations.size() - layer.first_operation;
        batched_.plan.layers.push_back(std::move(layer));
    }

    struct InputSpan {
        std::uint32_t first = 0;
        std::uint32_t count = 1;
    };

    /// Operation `index` of the plan for one input.
    void add(Operation operation, std::size_t index, const InputSpan& inputs) {
        std::set<std::size_t> after;
        for (const std::size_t before : operation.after) {
            for (std::uint32_t i = 0; i < inputs.count; ++i) {
                after.insert(new_index_[before][inputs.first + i]);
            }
        }
        const std::size_t added = batched_.plan.operations.size();
        if (const auto* conv = std::get_if<ConvOperation>(&operation.job)) {
            if (last_convolution_ && ends_may_meet(*conv, batched_.plan.precision, target_.npu)) {
                after.insert(*last_convolution_);
            }
            last_convolution_ = added;
        }
        const auto last = inputs.first + inputs.count;
        if (places_.size() > 1) {
            operation.name += inputs.count == 1
                                  ? fmt::format(" of input {}", last)
                                  : fmt::format(" of inputs {}..{}", inputs.first + 1, last);
        }
        operation.after.assign(after.begin(), after.end());
        new_index_[index].resize(places_.size());
        std::fill_n(new_index_[index].begin() + inputs.first, inputs.count, added);
        batched_.plan.operations.push_back(std::move(operation));
    }

    const PlanTarget& target_;
    BatchedPlan batched_;
    std::vector<Plan> places_;                         ///< the plan at the place of each input
    std::vector<std::vector<std::size_t>> new_index_;  ///< by the plan's, for each input
    std::optional<std::size_t> last_convolution_;
};

}  // namespace

std::uint32_t most_batches(const NpuConfig& npu) {
    return std::min(npu.cdma.max_batch, npu.sdp.max_batch);
}

std::optional<BatchedPlan> batched_plan(Plan plan, std::uint32_t inputs, const PlanTarget& target) {
    constexpr std::uint64_t alignment = 4096;
    if (plan.sram > Bytes(0)) {
        return std::nullopt;
    }
    const Address begin = target.memory.regions.front().base;
    const Bytes maps = begin + plan.memory - first_map(plan);
    const Bytes distance(round_up(maps.value, alignment));
    const Bytes memory = plan.memory + distance * (inputs - 1);
    if (memory_problem(target, memory)) {
        return std::nullopt;
    }
    BatchedPlan batched = Batching(std::move(plan), inputs, distance, target).run();
    batched.plan.memory = memory;
    return batched;
}

std::optional<SegmentedPlan> batched_segments(SegmentedPlan plan, std::uint32_t inputs,
                                              const PlanTarget& target) {
    for (PlannedSegment& segment : plan.segments) {
        auto batched = batched_plan(std::move(segment.plan), inputs, target);
        if (!batched) {
            return std::nullopt;
        }
        plan.shared_layers += batched->shared_layers;
        segment.plan = std::move(batched->plan);
        segment.distance = batched->distance;
    }
    plan.inputs = inputs;
    return plan;
}

}  // namespace npuscope
