// SPDX-License-Identifier: Apache-2.0
// The files in which a model keeps weights that are too large for its own: a result depends on them
// as it does on the model's file. source: onnx.proto, TensorProto; ONNX, ExternalData
#pragma once

#include <filesystem>
#include <vector>

namespace npuscope {

/// Paths of the files that an ONNX model's tensors name, sorted; some may not exist. Nothing if the
/// file is not a model, which its reader reports.
std::vector<std::filesystem::path> external_files(const std::filesystem::path& model);

}  // namespace npuscope
