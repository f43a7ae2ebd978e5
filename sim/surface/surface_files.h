// SPDX-License-Identifier: Apache-2.0
// A network's input and output images in files, in the layouts that network and NPU declare:
//
//     DIR/input.bin   bytes in the declared layout      DIR/input.npy   int8, channels x rows x
//     columns DIR/<last layer>.bin and .npy                     likewise, written when the run is
//     over
//
// The layout is the network's own (`input: {.., layout: 4W4C8B}`, `output_layout:`), else the first
// of the NPU's that can hold the shape, else row-major. Arrays have the input's type.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "models/data/byte_run.h"
#include "models/data/layout.h"
#include "models/npu/npu_config.h"
#include "sim/plan/plan.h"
#include "sim/workload/network.h"

namespace npuscope {

struct NetworkSurfaces {
    Layout input_file;
    Layout input_memory;     ///< of the planned image `input`
    std::string input_type;  ///< `int8`, or `uint8` for pixels
    Layout output_file;
    Layout output_memory;
    ByteRun output;  ///< where the last layer's result lies
    std::string input_name = "input";
    std::string output_name;
    std::vector<std::uint64_t> output_extents{};  ///< of the array; empty: one, channels, rows..
};

/// ConfigError where a declared layout is not one of the NPU's or cannot hold the shape.
NetworkSurfaces network_surfaces(const Network& network, const Plan& plan,
                                 const SurfaceConfig& config);

/// Replaces the made-up values of the plan's image `input` by those of DIR/input.bin or .npy; lanes
/// that belong to no channel become 0. ConfigError with the numbers where the file does not fit.
void load_input(const NetworkSurfaces& surfaces, const std::filesystem::path& folder, Plan& plan);

/// Writes both files of the output. `memory` is what lies at surfaces.output.
void save_output(const NetworkSurfaces& surfaces, std::span<const std::uint8_t> memory,
                 const std::filesystem::path& folder);

}  // namespace npuscope
