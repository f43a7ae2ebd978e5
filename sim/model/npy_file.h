// SPDX-License-Identifier: Apache-2.0
// Tensors as .npy files, as NumPy writes them: versions 1 to 3, little-endian, C order.
// source: NumPy Enhancement Proposal 1
#pragma once

#include <filesystem>
#include <string>

#include "sim/model/graph.h"

namespace npuscope {

/// `file` is how messages name it. ConfigError for text that is no .npy of numbers we know.
GraphValue parse_npy(const std::string& bytes, const std::string& file);
GraphValue read_npy(const std::filesystem::path& path);
/// Stored as `value.type` says; numbers must fit.
std::string npy_bytes(const GraphValue& value);

}  // namespace npuscope
