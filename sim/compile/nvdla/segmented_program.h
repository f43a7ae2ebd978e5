// SPDX-License-Identifier: Apache-2.0
// A model that was planned for an NPU with registers, as the host's program: the register programs
// of its segments one after the other, each on an NPU and a memory as after reset, and the host's
// operators between them, in graph order.
#pragma once

#include <span>
#include <string>

#include "sim/compile/model_program.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/config/system_config.h"

namespace npuscope {

/// `graph` must outlive the program. Without `inputs` segments run with synthetic ones, and only
/// the host's time is counted. ConfigError where an input does not fit the graph.
ModelProgram segmented_program(const Graph& graph, SegmentedPlan plan, const HostConfig& host,
                               const GraphInputs* inputs);
/// For a plan for several inputs: one element per input, or none for timing only. Outputs are those
/// of all inputs, one after the other along the first dimension.
ModelProgram segmented_program(const Graph& graph, SegmentedPlan plan, const HostConfig& host,
                               std::span<const GraphInputs> inputs);

// As files: the order of the programs of a model's segments, which tensors each reads and leaves,
// and which operators the host computes before, between and after them.
//
//     model: name
//     npu: nv_small
//     steps:
//       - segment: segment_1
//         program: segment_1/program.cfg
//         inputs:
//           - {tensor: "x", image: input.dat, shape: 1x3x32x32}
//         outputs:
//           - {tensor: "a_y", result: conv1, shape: 1x16x32x32, zero: 0}
//       - host: {node: "soft", operator: Softmax, inputs: ["a_y"], outputs: ["y"]}
//
// Each segment's memory_map.yaml lists where images and results are.

/// The folder of segment `index`, counted from 0.
std::string segment_folder(std::size_t index);

/// What a segment's program reads and leaves: tensors by image or result, and the zero that is
/// subtracted from each when stored. Lines after `indent`.
std::string tensors_yaml(const PlannedSegment& segment, const std::string& indent);

std::string segments_yaml(const Graph& graph, const SegmentedPlan& plan, const std::string& npu);

}  // namespace npuscope
