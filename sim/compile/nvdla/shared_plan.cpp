// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/shared_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "models/base/error.h"
#include "sim/compile/nvdla/plan_context.h"
#include "sim/config/text_table.h"

namespace npuscope {
namespace {

/// An operation as parts of nearly equal numbers of rows; unchanged if it has one row, or its input
/// comes from the accumulators.
std::vector<Operation> parts_of(const Operation& operation, std::size_t instances) {
    const auto* sdp = std::get_if<SdpJob>(&operation.job);
    const auto* pdp = std::get_if<PdpJob>(&operation.job);
    const std::uint32_t rows = sdp != nullptr   ? sdp->shape.height
                               : pdp != nullptr ? pdp->output.height
                                                : 1;
    const std::size_t count = std::min<std::size_t>(instances, rows);
    const bool flies = (sdp != nullptr && sdp->flying()) || (pdp != nullptr && pdp->flying());
    if (count < 2 || flies || (sdp != nullptr && (sdp->batches > 1 || sdp->to_pdp))) {
        return {operation};
    }
    std::vector<Operation> parts;
    for (std::size_t i = 0; i < count; ++i) {
        const auto begin = static_cast<std::uint32_t>(rows * i / count);
        const auto end = static_cast<std::uint32_t>(rows * (i + 1) / count);
        Operation part = operation;
        part.name += rows_text(begin, end - begin);
        if (sdp != nullptr) {
            keep_rows(std::get<SdpJob>(part.job), begin, end - begin);
        } else {
            keep_rows(std::get<PdpJob>(part.job), begin, end - begin);
        }
        parts.push_back(std::move(part));
    }
    return parts;
}

/// The amount of work of an operation, relative to others of its layer.
std::uint64_t work_of(const Operation& operation) {
    const auto size = [](const Shape& shape) {
        return std::uint64_t{shape.channels} * shape.height * shape.width;
    };
    if (const auto* conv = std::get_if<ConvOperation>(&operation.job)) {
        return size(conv->conv.csc.output);
    }
    return size(operation.destination().shape);
}

/// One NPU's part, while it is built.
class Part {
 public:
    explicit Part(const Plan& plan, const NpuConfig& npu) : npu_(npu), plan_(plan) {
        plan_.operations.clear();
        plan_.layers.clear();
        new_index_.resize(plan.operations.size());
    }

    void meet() { ++plan_.meetings; }
    void begin(PlannedLayer layer) {
        layer.first_operation = plan_.operations.size();
        layer.operations = 0;
        layer.last_reader = 0;
        plan_.layers.push_back(std::move(layer));
    }
    /// Operation `index` of the plan, or a part of it. Those of preceding layers have synchronised.
    void add(Operation operation, std::size_t index, std::size_t first_of_layer) {
        operation.meetings = std::exchange(plan_.meetings, 0);
        std::erase_if(operation.after, [&](std::size_t before) {
            return before < first_of_layer || !new_index_[before];
        });
        for (std::size_t& before : operation.after) {
            before = *new_index_[before];
        }
        if (auto* conv = std::get_if<ConvOperation>(&operation.job)) {
            join(*conv, index, operation);
            last_convolution_ = {index, plan_.operations.size()};
        }
        new_index_[index] = plan_.operations.size();
        plan_.operations.push_back(std::move(operation));
        ++plan_.layers.back().operations;
    }
    void end(std::uint64_t work, std::uint64_t all_work) {
        PlannedLayer& layer = plan_.layers.back();
        if (layer.operations == 0) {
            plan_.layers.pop_back();
            return;
        }
        layer.macs = all_work == 0
                         ? layer.macs
                         : layer.macs / all_work * work + layer.macs % all_work * work / all_work;
    }
    Plan take() {
        release_weights();
        return std::move(plan_);
    }

 private:
    /// Weights are in the buffer only where the preceding convolution was this NPU's.
    void join(ConvOperation& conv, std::size_t index, Operation& operation) {
        const bool follows = last_convolution_ && last_convolution_->first + 1 == index;
        if (!follows) {
            conv.conv.cdma.reuse.weight_reuse = conv.conv.csc.reuse.weight_reuse = false;
            release_weights();
        }
        if (last_convolution_ && ends_may_meet(conv, plan_.precision, npu_)) {
            operation.after.push_back(last_convolution_->second);
            std::ranges::sort(operation.after);
            operation.after.erase(std::unique(operation.after.begin(), operation.after.end()),
                                  operation.after.end());
        }
    }
    void release_weights() {
        if (last_convolution_) {
            auto& last = std::get<ConvOperation>(plan_.operations[last_convolution_->second].job);
            last.conv.cdma.reuse.skip_weight_release = false;
            last.conv.csc.reuse.skip_weight_release = false;
        }
    }

    const NpuConfig& npu_;
    Plan plan_;
    std::vector<std::optional<std::size_t>> new_index_;  ///< by the plan's
    /// In the plan, and in this part.
    std::optional<std::pair<std::size_t, std::size_t>> last_convolution_;
};

/// A layer's operations, cut where there is only one, each with its index in the plan.
std::vector<std::pair<std::size_t, Operation>> operations_of(const Plan& plan,
                                                             const PlannedLayer& layer,
                                                             std::size_t instances) {
    std::vector<std::pair<std::size_t, Operation>> all;
    for (std::size_t i = layer.first_operation; i <= layer.last_operation(); ++i) {
        for (Operation& part : parts_of(plan.operations[i], instances)) {
            all.emplace_back(i, std::move(part));
        }
    }
    return all;
}

/// Operations depend on each other only for the accumulators: NPUs may run them in parallel.
bool are_independent(const Plan& plan, const PlannedLayer& layer) {
    const auto convolves = [&](std::size_t i) {
        return std::holds_alternative<ConvOperation>(plan.operations[i].job);
    };
    for (std::size_t i = layer.first_operation; i <= layer.last_operation(); ++i) {
        for (const std::size_t before : plan.operations[i].after) {
            if (before >= layer.first_operation && !(convolves(i) && convolves(before))) {
                return false;
            }
        }
    }
    return true;
}

/// How many parts are needed where none may exceed `most`.
std::size_t parts_within(std::span<const Cycles> cycles, Cycles most) {
    std::size_t parts = 1;
    Cycles sum;
    for (const Cycles one : cycles) {
        if (sum + one > most) {
            ++parts;
            sum = Cycles(0);
        }
        sum += one;
    }
    return parts;
}

/// The least possible maximum with this many parts.
Cycles least_largest(std::span<const Cycles> cycles, std::size_t parts) {
    Cycles low = *std::ranges::max_element(cycles);
    Cycles high;
    for (const Cycles one : cycles) {
        high += one;
    }
    while (low < high) {
        const Cycles middle(low.value + (high.value - low.value) / 2);
        if (parts_within(cycles, middle) <= parts) {
            high = middle;
        } else {
            low = middle + Cycles(1);
        }
    }
    return low;
}

}  // namespace

std::vector<Plan> share_rows(const Plan& plan, std::size_t instances, const NpuConfig& npu) {
    std::vector<Part> parts(instances, Part(plan, npu));
    for (const PlannedLayer& layer : plan.layers) {
        const bool shared = are_independent(plan, layer);
        const auto operations = operations_of(plan, layer, shared ? instances : 1);
        std::uint64_t all_work = 0;
        for (const auto& [index, operation] : operations) {
            all_work += work_of(operation);
        }
        std::vector<std::uint64_t> works(instances);
        // only the first NPUs take part, where there are not enough operations for all
        const std::uint64_t takers = std::min<std::uint64_t>(instances, operations.size());
        std::uint64_t before = 0;
        for (Part& part : parts) {
            part.begin(layer);
        }
        for (const auto& [index, operation] : operations) {
            const std::uint64_t work = work_of(operation);
            const std::uint64_t middle = before + work / 2;
            const std::uint64_t whose =
                shared ? std::min(middle * takers / all_work, takers - 1) : 0;
            parts[whose].add(operation, index, layer.first_operation);
            works[whose] += work;
            before += work;
        }
        for (std::size_t i = 0; i < instances; ++i) {
            parts[i].end(works[i], all_work);
            parts[i].meet();
        }
    }
    std::vector<Plan> plans;
    plans.reserve(parts.size());
    for (Part& part : parts) {
        plans.push_back(part.take());
    }
    return plans;
}

std::vector<Plan> share_layers(const Plan& plan, std::span<const Cycles> cycles,
                               std::size_t instances) {
    if (plan.layers.size() < instances) {
        throw ConfigError(fmt::format("'{}' has {} for {} instances", plan.name,
                                      counted(plan.layers.size(), "layer"), instances),
                          "use at most as many instances as there are layers");
    }
    const Cycles most = least_largest(cycles, instances);
    std::vector<Plan> plans;
    std::size_t next = 0;
    for (std::size_t i = 0; i < instances; ++i) {
        Plan part = plan;
        part.operations.clear();
        part.layers.clear();
        const std::size_t first = plan.layers[next].first_operation;
        const std::size_t left = instances - i - 1;  // each gets a layer
        Cycles sum;
        while (next < plan.layers.size() && plan.layers.size() - next > left &&
               (part.layers.empty() || sum + cycles[next] <= most || left == 0)) {
            PlannedLayer layer = plan.layers[next];
            for (std::size_t j = layer.first_operation; j <= layer.last_operation(); ++j) {
                Operation operation = plan.operations[j];
                std::erase_if(operation.after, [&](std::size_t one) { return one < first; });
                for (std::size_t& one : operation.after) {
                    one -= first;
                }
                part.operations.push_back(std::move(operation));
            }
            layer.first_operation -= first;
            layer.last_reader -= std::min(layer.last_reader, first);
            part.layers.push_back(std::move(layer));
            sum += cycles[next++];
        }
        part.name = part.layers.front().result_name();
        if (part.layers.size() > 1) {
            part.name += " to " + part.layers.back().result_name();
        }
        plans.push_back(std::move(part));
    }
    return plans;
}

}  // namespace npuscope
