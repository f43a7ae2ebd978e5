// SPDX-License-Identifier: Apache-2.0
// What a run is configured with: one NPU of some family, the memory, and the host beside it. Fields
// are `npu.*`, which the family describes, `memory.*` and `host.*`.
#pragma once

#include "models/memory/memory_config.h"
#include "sim/config/host_config.h"
#include "sim/config/npu_family.h"

namespace npuscope {

struct SystemConfig {
    const NpuFamily* family = nullptr;
    AnyConfig npu{};
    MemoryConfig memory{};
    HostConfig host{};

    std::string npu_name() const { return family == nullptr ? "" : family->npu_name(npu); }
    Hertz clock() const { return family == nullptr ? Hertz(0) : family->clock(npu); }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("npu", self.npu, "the NPU");
        visit.field("memory", self.memory, "the memory");
        visit.field("host", self.host, "the CPU that runs what the NPU does not take of a model");
    }
};

/// The families that a command line knows; they outlive what is made of them.
using NpuFamilies = std::span<const NpuFamily* const>;

/// A preset's NPU with the host that the preset may name beside it, and no memory yet. Every preset
/// may have `family`, nvdla where it is left out, and `host`. ConfigError with its place.
SystemConfig parse_system(const std::string& text, const std::string& file, NpuFamilies families);

}  // namespace npuscope
