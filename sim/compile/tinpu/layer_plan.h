// SPDX-License-Identifier: Apache-2.0
// A graph planned for an NPU of layer patterns: which layers it runs, where weights, constants and
// feature maps lie, and what is there before the first layer starts.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/quantity.h"
#include "models/layout/feature_cube.h"
#include "models/tinpu/tinpu_job.h"
#include "sim/compile/model_program.h"
#include "sim/compile/partition.h"
#include "sim/compile/tinpu/restrictions.h"
#include "sim/config/system_config.h"
#include "sim/model/graph.h"

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

// From when to when feature maps that an NPU reads or writes are needed, and where they can lie so
// that none disturbs another.

/// A map is alive from the node that makes it to the last that reads it.
struct LiveRange {
    std::string tensor;
    Bytes bytes;
    std::size_t first = 0;  ///< node; 0 where none makes it
    std::size_t last = 0;
    std::string layer;  ///< the first that uses it
};

/// In the order in which layers name them. A layer holds what it reads until its last node.
std::vector<LiveRange> live_ranges(const Graph& graph, const Partition& partition);

/// Most bytes alive at a time.
Bytes peak_bytes(const std::vector<LiveRange>& ranges);

/// Offsets at multiples of `alignment`, by tensor; maps that are alive together lie apart.
std::map<std::string, Bytes> place_maps(const std::vector<LiveRange>& ranges, Bytes alignment);

// A graph planned for an NPU of layer patterns, as the host's program: load weights and constants,
// launch layers, compute the rest.
//
// Layers that follow each other directly are launched ahead, as far as the NPU's queue has room. A
// map that the host made is stored right before its first reader is launched; what a layer wrote is
// read back when it has ended. Whether such a map is signed may depend on its numbers, so that a
// layer's job is completed when it is launched.

/// `graph` must outlive the program. Without `inputs` for its time alone. ConfigError where an
/// input does not fit the graph, or the host cannot run an operator.
ModelProgram layer_program(const Graph& graph, LayerPlan plan, const LayerNpuConfig& config,
                           const HostConfig& host, const GraphInputs* inputs);

}  // namespace npuscope
