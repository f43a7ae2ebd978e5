// SPDX-License-Identifier: Apache-2.0
// A graph that is ready to be matched: read, typed, folded, in integer form.
#pragma once

#include <filesystem>

#include "sim/model/graph.h"

namespace npuscope {

/// From an ONNX file. ConfigError for whatever is wrong with it.
Graph load_graph(const std::filesystem::path& path);
/// The same for a graph that somebody built.
Graph finish_graph(Graph graph);

}  // namespace npuscope
