// SPDX-License-Identifier: Apache-2.0
// What `run` and `plan` do where the preset names an NPU of layer patterns.
#pragma once

#include <string>

#include "sim/command_line/command.h"
#include "sim/command_line/system_arguments.h"

namespace npuscope {

/// Whether a preset, by name or file, is of the family tinpu.
bool names_layer_npu(const std::string& npu);

struct LayerArguments {
    std::string network;  ///< .onnx
    SystemArguments system;
    std::string inputs;   ///< folder of .npy files
    std::string outputs;  ///< likewise
    std::string out;
    std::string json{};
    bool values = true;
    std::string timeline{};  ///< file
    Cycles max_cycles{100'000'000'000};
};

ExitCode run_layer_network(const LayerArguments& arguments, const Console& console);
ExitCode plan_layer_network(const LayerArguments& arguments, const Console& console);

}  // namespace npuscope
