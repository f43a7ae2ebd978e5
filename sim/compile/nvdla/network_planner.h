// SPDX-License-Identifier: Apache-2.0
// A network to a plan: layer by layer in the table's order, an add joined to the preceding
// convolution where nothing else needs that convolution's result. Pure: the same network, NPU and
// memory produce the same plan. Values are synthetic (see synthetic_values.h).
#pragma once

#include <optional>
#include <variant>

#include "models/base/diagnostic.h"
#include "models/memory/memory_config.h"
#include "models/npu/npu_config.h"
#include "sim/compile/nvdla/conv_tiling.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/model/network.h"

namespace npuscope {

/// Limits of the convolution's registers.
struct WindowLimits {
    std::uint32_t kernel = 32;    // source: NVDLA_CSC.rdl, WEIGHT_WIDTH_EXT, ZERO_PADDING
    std::uint32_t stride = 8;     // source: NVDLA_CSC.rdl, CONV_X_STRIDE_EXT
    std::uint32_t dilation = 32;  // source: NVDLA_CSC.rdl, X_DILATION_EXT
};
WindowLimits window_limits(const NpuConfig& npu);
/// Why no map of these sizes can be read or written.
std::optional<Diagnostic> cube_problem(const std::string& subject, std::int64_t channels,
                                       std::int64_t height, std::int64_t width);

struct PlanTarget {
    NpuConfig npu;
    MemoryConfig memory;
    bool images = true;                 ///< false: no values, images stay empty
    std::optional<TilingKey> forced{};  ///< for every layer that can be cut that way
    CompressionChoice compression = CompressionChoice::ByCycles;
    bool winograd = false;     ///< 3 x 3 kernels may be transformed, which rounds their results
    bool describable = false;  ///< stages are what a loadable's descriptors can express
    std::uint32_t parts = 1;   ///< NPUs that share every convolution by its rows
    bool pixels = true;        ///< an input of few channels may be laid out as pixels
    bool alternatives = true;  ///< the plan lists how else its layers could be cut
};

/// Costs of a layer's tilings on this target.
TilingCosts costs_of(const PlanTarget& target);

/// Why the first region, which holds everything that does not go to SRAM, has no room for `bytes`;
/// nothing where it has.
std::optional<Diagnostic> memory_problem(const PlanTarget& target, Bytes bytes);

/// The plan, or the first problem, which names its layer as the operation.
std::variant<Plan, Diagnostic> try_plan_network(const Network& network, const PlanTarget& target);

/// ConfigError with that problem.
Plan plan_network(const Network& network, const PlanTarget& target);

}  // namespace npuscope
