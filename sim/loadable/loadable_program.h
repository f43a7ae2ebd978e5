// SPDX-License-Identifier: Apache-2.0
// A loadable as a program, ahead of time: memories get addresses and contents, as the driver and
// the runtime assign them; each NPU task becomes the register writes and waits of the firmware,
// each emulator task operators of the host; in the order of the submits. Every memory occupies
// whole pages, zero where nothing is loaded. source: NVDLA sw: Runtime.cpp; nvdla_gem.c
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/npu/npu_config.h"
#include "sim/config/system_config.h"
#include "sim/loadable/loadable.h"
#include "sim/program/program.h"

namespace npuscope {

/// A tensor that a user binds, and its location.
struct BoundTensor {
    LoadableTensor tensor;
    std::size_t bind_id = 0;
    Address address;       ///< of its first byte
    Bytes memory_atom{8};  ///< of the NPU

    /// A name for files and surfaces: the tensor's, or `input_0` where it has none; followed by
    /// `_` and the bind id where an input (output) with a lower one has that name.
    std::string name;
};

struct LoadableProgram {
    Program program;
    std::vector<BoundTensor> inputs;  ///< by bind id
    std::vector<BoundTensor> outputs;
};

/// Bytes of inputs by bind id; a missing one is all zeros, unless the host writes it before a submit.
using LoadableInputs = std::map<std::size_t, std::vector<std::uint8_t>>;

/// What the host does before a submit, by its number; not asked for the first one. The program
/// that is given has its inputs and outputs, but no statements yet.
using BeforeSubmit = std::function<RunNode(std::size_t, const LoadableProgram&)>;

/// ConfigError that names the list or the operation where the loadable is wrong or does not fit
/// this NPU and memory. `file` is how messages name it.
LoadableProgram loadable_program(const Loadable& loadable, const std::string& file,
                                 const SystemConfig& system, const LoadableInputs& inputs,
                                 const BeforeSubmit& before = {});

}  // namespace npuscope
