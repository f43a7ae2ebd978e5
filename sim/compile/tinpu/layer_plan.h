// SPDX-License-Identifier: Apache-2.0
// A graph planned for an NPU of layer patterns: which layers it runs, where weights, constants and
// feature maps are, and what memory holds before the first layer starts.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
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
    MemoryConfig memory;                  ///< that the addresses refer to
    ValueRanges ranges;                   ///< of the graph's tensors
    std::vector<Diagnostic> findings;     ///< surfaces that the memory has no room for
};

/// Weights and constants are at the beginning of the first region; feature maps in the first other
/// region that plans may use, otherwise after them. What does not fit is placed after the region's
/// end, and is a finding. `given`: what is known about inputs beyond their types.
LayerPlan plan_layers(const Graph& graph, const LayerNpuConfig& config,
                      const MemoryConfig& memory = {}, const ValueRanges& given = {});

/// Whether feature maps are signed, by tensor.
using Signs = std::map<std::string, bool>;

/// The sign of a map that the model's own type determines; nothing for other types.
std::optional<bool> stated_sign(const Graph& graph, const std::string& tensor);
/// The sign of a map that the host provides, as far as it is known before a run: from its type, else
/// from its value range.
bool expected_sign(const Graph& graph, const LayerPlan& plan, const std::string& tensor);

/// The launch of layer `index`; `signs` contains its input and its residual.
TinpuJob layer_job(const LayerPlan& plan, std::size_t index, const Signs& signs);

// When feature maps that an NPU reads or writes are needed, and where they can be placed so that
// none overwrites another.

/// A map is alive from the node that produces it to the last one that reads it.
struct LiveRange {
    std::string tensor;
    Bytes bytes;
    std::size_t first = 0;  ///< node; 0 where none produces it
    std::size_t last = 0;
    std::string layer;  ///< the first that uses it
};

/// In the order in which layers name them. A layer keeps its inputs until its last node.
std::vector<LiveRange> live_ranges(const Graph& graph, const Partition& partition);

/// Most bytes alive at a time.
Bytes peak_bytes(const std::vector<LiveRange>& ranges);

/// Offsets at multiples of `alignment`, by tensor; maps alive at the same time do not overlap.
std::map<std::string, Bytes> place_maps(const std::vector<LiveRange>& ranges, Bytes alignment);

// A graph planned for an NPU of layer patterns, as the host's program: load weights and constants,
// launch layers, compute the rest.
//
// Layers that directly follow each other are launched ahead, as far as the NPU's queue has room. A
// map that the host computed is stored right before its first reader is launched; a layer's output
// is read back when the layer has ended. Whether such a map is signed may depend on its values, so
// a layer's job is completed when it is launched.

/// `graph` must outlive the program. Without `inputs` for timing only. ConfigError where an input
/// does not fit the graph, or the host cannot run an operator.
ModelProgram layer_program(const Graph& graph, LayerPlan plan, const LayerNpuConfig& config,
                           const HostConfig& host, const GraphInputs* inputs);

}  // namespace npuscope
