// SPDX-License-Identifier: Apache-2.0
// A loadable as a program, ahead of time: memories get addresses and contents, as the driver and
// the runtime give them; each task of the NPU becomes the register writes and waits of the firmware,
// each task of the emulator operators of the host; in the order of the submits. Every memory takes
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

/// A tensor that a user binds, and where it lies.
struct BoundTensor {
    LoadableTensor tensor;
    std::size_t bind_id = 0;
    Address address;       ///< of its first byte
    Bytes memory_atom{8};  ///< of the NPU

    /// A name for files and surfaces: the tensor's, or `input_0` where it has none.
    std::string name;
};

struct LoadableProgram {
    Program program;
    std::vector<BoundTensor> inputs;  ///< by bind id
    std::vector<BoundTensor> outputs;
};

/// Bytes of inputs by bind id; one that is missing is all zeros.
using LoadableInputs = std::map<std::size_t, std::vector<std::uint8_t>>;

/// What the host does before a submit, by its number; before the first one nothing is asked for.
using BeforeSubmit = std::function<void(std::size_t, HostMemory&)>;

/// ConfigError that names the list or the operation where the loadable is wrong or is none for this
/// NPU and memory. `file` is how messages name it.
LoadableProgram loadable_program(const Loadable& loadable, const std::string& file,
                                 const SystemConfig& system, const LoadableInputs& inputs,
                                 const BeforeSubmit& before = {});

/// Tensors that users bind, without places in memory.
std::vector<BoundTensor> bound_tensors(const Loadable& loadable, bool inputs, Bytes memory_atom);

}  // namespace npuscope
