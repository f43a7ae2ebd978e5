// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/streamed_plan.h"

#include <algorithm>
#include <array>

#include "models/base/error.h"
#include "sim/compile/nvdla/plan_context.h"

namespace npuscope {
namespace {

/// The last operations that end in each unit; those of one end in order.
std::vector<std::size_t> last_operations(const Plan& plan) {
    std::vector<std::size_t> last;
    for (const InterruptSource unit :
         {InterruptSource::Sdp, InterruptSource::Pdp, InterruptSource::Cdp}) {
        const auto found =
            std::find_if(plan.operations.rbegin(), plan.operations.rend(),
                         [&](const Operation& operation) { return operation.last_unit() == unit; });
        if (found != plan.operations.rend()) {
            last.push_back(static_cast<std::size_t>(plan.operations.rend() - found) - 1);
        }
    }
    return last;
}

bool convolves(const Operation& operation) {
    return std::holds_alternative<ConvOperation>(operation.job);
}

class Streaming {
 public:
    Streaming(const Plan& plan, const NpuConfig& npu) : npu_(npu), stream_(plan) {
        stream_.operations.clear();
        stream_.layers.clear();
        frame_operations_ = plan.operations.size();
        last_ = last_operations(plan);
        const auto last = std::find_if(plan.operations.rbegin(), plan.operations.rend(), convolves);
        if (last != plan.operations.rend()) {
            last_convolution_ = static_cast<std::size_t>(plan.operations.rend() - last) - 1;
        }
    }

    /// Inputs of the second place, which begins at `second`, in addition to the images of the plan.
    void add_inputs(const Plan& moved, Address second) {
        for (std::size_t i = 0; i < moved.images.size(); ++i) {
            if (moved.images[i].address >= second) {
                inputs_[0].push_back(i);
                inputs_[1].push_back(stream_.images.size());
                stream_.images.push_back(moved.images[i]);
                stream_.images.back().name += "_second";
            }
        }
    }

    void add_frame(const Plan& plan, std::size_t frame) {
        const std::size_t first = frame * frame_operations_;
        for (Operation operation : plan.operations) {
            for (std::size_t& before : operation.after) {
                before += first;
            }
            stream_.operations.push_back(std::move(operation));
        }
        for (PlannedLayer layer : plan.layers) {
            layer.first_operation += first;
            layer.last_reader += first;
            stream_.layers.push_back(std::move(layer));
        }
        wait_for_earlier(frame);
    }
    Plan take() { return std::move(stream_); }

 private:
    /// For the place that the frame uses, whose maps overwrote the inputs, and the accumulator.
    void wait_for_earlier(std::size_t frame) {
        const std::size_t first = frame * frame_operations_;
        if (frame >= 2) {
            stream_.operations[first].loads = inputs_[frame % 2];
            for (const std::size_t last : last_) {
                stream_.operations[first].after.push_back(first - 2 * frame_operations_ + last);
            }
        }
        const auto begin = stream_.operations.begin() + static_cast<std::ptrdiff_t>(first);
        const auto next = std::find_if(begin, stream_.operations.end(), convolves);
        if (frame >= 1 && next != stream_.operations.end() &&
            ends_may_meet(std::get<ConvOperation>(next->job), stream_.precision, npu_)) {
            next->after.push_back(first - frame_operations_ + last_convolution_);
        }
    }

    const NpuConfig& npu_;
    Plan stream_;
    std::size_t frame_operations_ = 0;
    std::array<std::vector<std::size_t>, 2> inputs_;  ///< images of each place
    std::vector<std::size_t> last_;                   ///< of a frame
    std::size_t last_convolution_ = 0;
};

}  // namespace

Plan streamed_plan(const Plan& plan, std::size_t frames, const PlanTarget& target) {
    if (plan.sram > Bytes(0)) {
        throw ConfigError(
            "a stream double-buffers every feature map, but the SRAM holds one copy of each",
            "leave `surfaces` out of the memory's second region");
    }
    constexpr std::uint64_t alignment = 4096;
    const Address begin = target.memory.regions.front().base;
    const Address from = first_map(plan);
    const Address to = begin + Bytes(round_up(plan.memory.value, alignment));
    const Bytes memory = (to - begin) + (begin + plan.memory - from);
    if (const auto problem = memory_problem(target, memory)) {
        throw ConfigError(*problem);
    }
    Plan second = plan;
    move_results(second, from, to);
    Streaming streaming(plan, target.npu);
    streaming.add_inputs(second, to);
    for (std::size_t frame = 0; frame < frames; ++frame) {
        streaming.add_frame(frame % 2 == 0 ? plan : second, frame);
    }
    Plan stream = streaming.take();
    stream.memory = memory;
    return stream;
}

}  // namespace npuscope
