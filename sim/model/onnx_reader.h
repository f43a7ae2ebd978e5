// SPDX-License-Identifier: Apache-2.0
// ONNX models, opset 7 to 21, as graphs. What cannot be a model is refused with what is wrong and
// where: text that is not protobuf, names that no node or two nodes make, cycles, sizes that
// are not fixed and that were not given (but for a batch, which is 1 then), element types and domains that are unknown. Not looked at
// here: what the operators demand of their inputs and attributes (operators.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// Sizes that a file leaves open: `1x3x224x224` of its only input with such sizes, `x=1x3x224x224`
/// of an input, `N=4` of every size of that name.
using OpenSizes = std::vector<std::string>;

/// What a reader may do with a file.
struct ModelReading {
    OpenSizes shapes{};
    /// Time alone is asked for: weights may be missing, and nodes whose results have no known sizes
    /// are left out.
    bool by_shape = false;
};

/// By the file's name: .onnx.
bool is_onnx_file(const std::filesystem::path& path);
/// A model from its bytes; `file` is how messages name it. ConfigError for whatever is wrong.
Graph parse_onnx(const std::string& bytes, const std::string& file,
                 const ModelReading& reading = {});
Graph read_onnx(const std::filesystem::path& path, const ModelReading& reading = {});

}  // namespace npuscope
