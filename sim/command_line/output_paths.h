// SPDX-License-Identifier: Apache-2.0
// Where a command writes: every output has a file of its own, and none of them is an input.
#pragma once

#include <span>
#include <string>

namespace npuscope {

enum class OutputKind {
    Text,  ///< a file; `-` is standard output
    File,
    Folder
};

/// What an option names; an empty path names nothing.
struct OutputPath {
    std::string option;
    std::string path;
    OutputKind kind = OutputKind::File;
};

/// ConfigError if an output would replace another one or an input, or cannot go to standard output.
/// Several folders may be one. A command calls this before all work, so that nothing is lost.
void require_separate(std::span<const OutputPath> outputs, std::span<const std::string> inputs);

}  // namespace npuscope
