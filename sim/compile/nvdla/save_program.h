// SPDX-License-Identifier: Apache-2.0
// A program as files: program.cfg in the form that read_program.h has, and beside it the memory
// images it loads, as packets of text (see memory_image.h). Any player of NVDLA's traces can run
// those without jobs.
#pragma once

#include <filesystem>
#include <string>

#include "sim/program/program.h"

namespace npuscope {

std::string trace_text(const Program& program);
std::string image_text(const MemoryImage& image);

/// Makes the folder where it is missing.
void save_program(const Program& program, const std::filesystem::path& folder);

}  // namespace npuscope
