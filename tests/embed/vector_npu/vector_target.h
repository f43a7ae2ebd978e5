// SPDX-License-Identifier: Apache-2.0
// What a vector NPU supports of a model: float Add, Mul by a constant and Relu, up to one of each
// in this order as one job. Map values are rounded to fp16; constants must be fp16 already.
#pragma once

#include <string>
#include <utility>

#include "models/arith/float16.h"
#include "models/memory/memory_config.h"
#include "sim/compile/partition.h"
#include "vector_config.h"
#include "vector_job.h"

namespace vector_npu {

/// What a group's lowered form is.
struct VectorLayer {
    std::string a;    ///< tensors
    std::string b{};  ///< empty: a constant
    npuscope::Fp16 constant = 0;
    npuscope::Fp16 scale = fp16_one;
    bool relu = false;
};
/// Of a group that this target made.
const VectorLayer& vector_layer(const npuscope::NodeGroup& group);

class VectorTarget final : public npuscope::Target {
 public:
    explicit VectorTarget(VectorNpuConfig config, npuscope::MemoryConfig memory = {})
        : config_(std::move(config)), memory_(std::move(memory)) {}

    std::unique_ptr<npuscope::ModelPlan> plan(const npuscope::Graph& graph,
                                              const npuscope::ValueRanges& given) const override;

    std::optional<npuscope::NodeGroup> group_at(const npuscope::GraphView& model,
                                                std::size_t anchor,
                                                bool with_residual) const override;
    npuscope::Diagnostics lower(const npuscope::GraphView& model,
                                npuscope::NodeGroup& group) const override;
    bool joins_segments() const override { return false; }
    std::string unit_of(const npuscope::NodeGroup& /*group*/, std::size_t /*node*/) const override {
        return "vector";
    }
    std::string configuration(const npuscope::NodeGroup& group) const override;

 private:
    VectorNpuConfig config_;
    npuscope::MemoryConfig memory_;
};

}  // namespace vector_npu
