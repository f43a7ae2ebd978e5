// SPDX-License-Identifier: Apache-2.0
// A plan for humans: its layers as a table, the reasons behind them, and the memory map as YAML;
// and its program as files: program.cfg in the format of read_program.h, and next to it the memory
// images that it loads, as text packets (see memory_image.h). Any player of NVDLA's traces can run
// programs without jobs.
#pragma once

#include <filesystem>
#include <string>

#include "sim/compile/nvdla/plan.h"
#include "sim/config/output_folder.h"
#include "sim/program/program.h"

namespace npuscope {

std::string plan_table(const Plan& plan, std::size_t width);
/// Layer by layer: what was chosen, its predicted cycles, and the alternatives.
std::string plan_reasons(const Plan& plan);
/// Every image and every result: address, bytes, strides, first and last operation that needs it.
std::string memory_map_yaml(const Plan& plan, const std::string& npu);

std::string trace_text(const Program& program);
std::string image_text(const MemoryImage& image);

/// Into `folder` of the output: images first, program.cfg last.
void save_program(const Program& program, OutputFolder& out, const std::filesystem::path& folder);

}  // namespace npuscope
