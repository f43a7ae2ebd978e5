// SPDX-License-Identifier: Apache-2.0
// What the layers of a network must give, one by one: of a shape table on an NPU with registers by
// plain loops (sim/compile/nvdla/plain_network.h), of a model or on any other NPU by ONNX's operators
// as the host computes them (sim/model/operators.h).
#pragma once

#include <vector>

#include "sim/command_line/surface_queries.h"
#include "sim/compile/model_program.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/model/network.h"

namespace npuscope {

/// Of a shape table and a plan of it, whose images are there where `given` is set: then its inputs
/// are those of the images, else synthetic. Layers that `surfaces` do not name are left out.
/// ConfigError where that are all.
std::vector<LayerExpectation> table_expectations(const Network& table, const Plan& plan,
                                                 const std::vector<NamedSurface>& surfaces,
                                                 bool given);
/// How near the outputs of an NPU whose maps have 16 bits are to those of the host: its sums and its
/// rounding are others.
Diagnostic output_noise(const Graph& graph, const GraphInputs& inputs, const GraphInputs& outputs);
/// Of a model with these inputs. ConfigError where the host has no such operator, or its layers' results
/// are not those of the host.
std::vector<LayerExpectation> model_expectations(const Graph& graph,
                                                 const std::vector<LayerResult>& layers,
                                                 const GraphInputs& inputs);

}  // namespace npuscope
