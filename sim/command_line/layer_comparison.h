// SPDX-License-Identifier: Apache-2.0
// Expected results of a network's layers, one by one: for a shape table on an NPU with registers by
// simple loops (sim/compile/nvdla/plain_network.h), for a model or on any other NPU by ONNX's
// operators as the host computes them (sim/model/operators.h).
#pragma once

#include <vector>

#include "sim/command_line/surface_queries.h"
#include "sim/compile/model_program.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/model/network.h"

namespace npuscope {

/// For a shape table and a plan of it, whose images exist if `given` is set: then its inputs are
/// those of the images, else synthetic. Layers that `surfaces` do not name are left out.
/// ConfigError if none is left.
std::vector<LayerExpectation> table_expectations(const Network& table, const Plan& plan,
                                                 const std::vector<NamedSurface>& surfaces,
                                                 bool given);
/// How close the outputs of an NPU with 16-bit maps are to those of the host, whose sums and
/// rounding differ.
Diagnostic output_noise(const Graph& graph, const GraphInputs& inputs, const GraphInputs& outputs);
/// For a model with these inputs. ConfigError if the host lacks an operator, or the layers' results
/// are not those of the host.
std::vector<LayerExpectation> model_expectations(const Graph& graph,
                                                 const std::vector<LayerResult>& layers,
                                                 const GraphInputs& inputs);

}  // namespace npuscope
