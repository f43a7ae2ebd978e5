// SPDX-License-Identifier: Apache-2.0
// A graph planned for an NPU of layer patterns: which layers it runs, where weights, constants and
// feature maps lie, and what is there before the first layer starts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/layout/feature_cube.h"
#include "models/tinpu/tinpu_job.h"
#include "sim/compile/partition.h"
#include "sim/compile/tinpu/layer_system.h"

namespace npuscope {

struct MemoryBlock {
    Address base;
    std::vector<std::uint8_t> bytes;
};

/// Addresses of what belongs to one layer.
struct LayerSurfaces {
    std::optional<WeightSurface> weights;
    std::optional<Address> constants;
};

struct LayerPlan {
    Partition partition;
    std::vector<LayerSurfaces> surfaces;  ///< one per group
    std::map<std::string, Address> maps;  ///< feature maps that the NPU reads or writes
    std::vector<MemoryBlock> images;      ///< weights and tables of constants
    Bytes weights;                        ///< all images
    Bytes peak_maps;                      ///< most bytes of feature maps alive at a time
    MemoryConfig memory;                  ///< that addresses are of
    std::vector<Diagnostic> findings;     ///< surfaces that the memory has no room for
};

/// Weights and constants lie at the beginning of the first region; feature maps in the first other
/// region that plans may use, else after them. What has no room is placed after the region's end,
/// and is a finding.
LayerPlan plan_layers(const Graph& graph, const LayerNpuConfig& config,
                      const MemoryConfig& memory = {});

/// Whether feature maps are signed, by tensor.
using Signs = std::map<std::string, bool>;

/// The launch of layer `index`; `signs` knows its input and its residual.
TinpuJob layer_job(const LayerPlan& plan, std::size_t index, const Signs& signs);
/// Whether what a layer writes is signed.
bool output_is_signed(const NodeGroup& layer, const Signs& signs);

}  // namespace npuscope
