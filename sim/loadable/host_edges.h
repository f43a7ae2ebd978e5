// SPDX-License-Identifier: Apache-2.0
// What the host does before and after a loadable that was planned from a model, and between its
// tasks, e.g. quantising its inputs. A real driver leaves that to its user. For runs here the
// loadable contains it as an ONNX model in a blob that no memory loads: the host's nodes, the
// loadable's outputs as additional inputs of the graph, its inputs as additional outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/loadable/loadable.h"
#include "sim/model/graph.h"

namespace npuscope {

/// A tensor between host and loadable.
struct EdgeTensor {
    std::string tensor;     ///< of the edges' graph
    std::int32_t zero = 0;  ///< the loadable holds its values minus this
};

struct HostEdges {
    Graph graph;                     ///< without the additional inputs and outputs
    std::vector<EdgeTensor> inputs;  ///< of the loadable, by bind id
    std::vector<EdgeTensor> outputs;
    /// For each submit the number of inputs and outputs up to its end, by bind id.
    std::vector<std::pair<std::size_t, std::size_t>> ends;
    ValueRanges ranges;  ///< of the model's outputs, as far as they decide types
};

/// For a model whose segments are the loadable's submits.
LoadableBlob host_edges_blob(const Graph& graph, const SegmentedPlan& plan,
                             const std::string& version);
/// Nothing where the loadable has no such blob. ConfigError where it is corrupt.
std::optional<HostEdges> read_host_edges(const Loadable& loadable, const std::string& file);

}  // namespace npuscope
