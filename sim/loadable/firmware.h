// SPDX-License-Identifier: Apache-2.0
// The kernel-mode firmware's scheduler: what a task's dependency graph makes it program, enable and
// wait for, as statements of a program. Every unit has two register groups; the next operation of a
// unit is programmed into the other one while the first runs. An operation is enabled when
// everything that it waits for has happened: that others are programmed, enabled or completed, or
// that a convolution has read its weights or data. One that passes its result on the fly is enabled
// by the unit that receives it.
//
// The firmware handles interrupts as they arrive; here their order is predicted: of the running
// operations, the one that would end first by its size. The program waits for each interrupt before
// it does what that interrupt allows, so another order costs cycles but never changes a result.
// Reads of status registers are left out, and statistics are not written back.
// source: NVDLA sw, kmd/firmware: scheduler.c, engine.c, engine_isr.c, cache.c
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/npu/npu_config.h"
#include "sim/loadable/descriptors.h"
#include "sim/loadable/firmware_registers.h"

namespace npuscope {

/// A task's descriptors.
struct DlaTask {
    std::string name;  ///< `task 1`
    std::string tag;   ///< of ids and layers, `_task_1`; empty where it is the NPU's only task
    std::string file;
    DlaNetwork network;
    std::vector<DlaCommonOperation> graph;  ///< for each ROI all operations, as below
    std::vector<DlaOperation> operations;
};

/// Which of the two groups a unit uses next. It continues from task to task.
struct UnitPointers {
    unsigned group = 0;
    unsigned rdma_group = 0;
};
using FirmwarePointers = std::array<UnitPointers, dla_units>;

/// The addresses of a task.
struct TaskAddresses {
    /// Address of an index and offset, where this many bytes are available. Throws a ConfigError
    /// whose sentence begins with `who`.
    std::function<Address(const std::string& who, std::int16_t index, std::uint64_t offset,
                          std::uint64_t bytes, const std::string& what)>
        find;
    /// Whether the memory of an index that `find` accepts is SRAM.
    std::function<bool(std::int16_t index)> in_sram;
};

/// Appends to the script what the firmware does for the task. ConfigError where it would refuse an
/// operation, or where operations wait for each other forever.
void run_firmware(const DlaTask& task, const NpuConfig& npu, const TaskAddresses& addresses,
                  FirmwarePointers& pointers, RegisterScript& script);

}  // namespace npuscope
