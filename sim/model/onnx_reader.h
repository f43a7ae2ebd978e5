// SPDX-License-Identifier: Apache-2.0
// ONNX models, opset 7 to 24, as graphs. What cannot be a model is rejected with the reason and
// location: input that is not protobuf, names produced by no node or by two, cycles, dynamic sizes
// that neither the user nor an array gives (except a batch, which is then 1), unknown element types
// and domains. Not checked here: what the operators require of their inputs and attributes
// (operators.h).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// Values for the dynamic sizes of a file: `1x3x224x224` for its only input with such sizes,
/// `x=1x3x224x224` for one input, `N=4` for every size of that name.
using OpenSizes = std::vector<std::string>;

/// An array that is given as one of a model's inputs.
struct GivenArray {
    std::string input;
    std::string file;
    Sizes sizes;
};
/// The arrays given for these inputs; called only where they determine dynamic sizes.
using FindArrays = std::function<std::vector<GivenArray>(const std::vector<std::string>& inputs)>;

/// What a reader may do with a file.
struct ModelReading {
    OpenSizes shapes{};
    /// Timing only: weights may be missing, and nodes whose result sizes are unknown are left out.
    bool by_shape = false;
    /// Dynamic sizes that `shapes` does not give are those of arrays; may be null.
    FindArrays arrays{};
};

/// By file name: .onnx.
bool is_onnx_file(const std::filesystem::path& path);
/// A model from its bytes; `file` is the name used in messages. ConfigError for any error.
Graph parse_onnx(const std::string& bytes, const std::string& file,
                 const ModelReading& reading = {});
Graph read_onnx(const std::filesystem::path& path, const ModelReading& reading = {});

}  // namespace npuscope
