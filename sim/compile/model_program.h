// SPDX-License-Identifier: Apache-2.0
// A model as a program, with what is known about it before it runs.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/model/graph.h"
#include "sim/program/program.h"

namespace npuscope {

/// Values of a graph's inputs or outputs, by name.
using GraphInputs = std::map<std::string, GraphValue>;

/// Bytes of a model in an NPU's memory.
struct ModelMemory {
    Bytes weights;    ///< and other constants
    Bytes peak_maps;  ///< most bytes of feature maps alive at a time
};

/// A layer of a model that the NPU does not support, as results list it.
struct RefusedLayer {
    std::string layer;
    std::string pattern;
    Diagnostics problems;         ///< each names its node as the operation
    bool partly_taken = false;    ///< all but its residual runs on the NPU
    std::string configuration{};  ///< sizes and window
};

/// The result of a layer that the NPU runs, and the graph's tensor that it holds.
struct LayerResult {
    NamedSurface surface;
    std::string tensor;
    std::int32_t zero = 0;  ///< memory holds the tensor's values minus this
};

struct ModelProgram {
    Program program;
    bool values = true;                    ///< false: built for timing only
    std::function<GraphInputs()> outputs;  ///< after a run with values: as they are to be stored
    std::vector<RefusedLayer> refused{};
    Diagnostics findings{};  ///< of the plan
    std::optional<ModelMemory> memory{};
    std::vector<LayerResult> layers{};
    std::map<std::string, Deviation> deviations{};  ///< by the layer's name in results
};

}  // namespace npuscope
