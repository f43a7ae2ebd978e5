// SPDX-License-Identifier: Apache-2.0
// Configuration of an NPU that runs layer patterns (family tinpu): the engine, what it takes, and
// the host beside it that runs the rest.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/describe.h"
#include "models/base/quantity.h"
#include "models/mcif/mcif_config.h"
#include "models/memory/memory_config.h"
#include "models/tinpu/tinpu_config.h"
#include "sim/compile/tinpu/restrictions.h"
#include "sim/config/host_config.h"

namespace npuscope {

/// Kinds of NPU that presets describe; each has fields of its own.
enum class NpuFamily { Nvdla, Tinpu };
template <>
struct EnumNames<NpuFamily> {
    static constexpr std::array names{std::pair{NpuFamily::Nvdla, std::string_view("nvdla")},
                                      std::pair{NpuFamily::Tinpu, std::string_view("tinpu")}};
};

struct LayerNpuConfig {
    NpuFamily family = NpuFamily::Tinpu;
    std::string name = "unnamed";
    Hertz clock{150'000'000};
    std::string memory;
    McifConfig mcif;
    TinpuConfig engine;
    HostConfig host;
    Restrictions restrictions;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("family", self.family, "kind of NPU: tinpu runs layer patterns");
        visit.field("name", self.name, "name of the preset, as results show it");
        visit.field("clock", self.clock,
                    "clock of engine and host; reports use it, and a DRAM with a clock of its own");
        visit.field("memory", self.memory,
                    "preset of the memory behind it, where the command line names none");
        visit.field("mcif", self.mcif, "memory interface");
        visit.field("engine", self.engine, "the layer engine");
        visit.field("host", self.host, "the CPU that runs what the engine does not take");
        visit.field("restrictions", self.restrictions, "what the engine takes");
    }
};

/// So that overrides are named as everywhere: npu.engine.input_lanes=8.
struct LayerSystem {
    LayerNpuConfig npu;
    MemoryConfig memory{};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("npu", self.npu, "the NPU");
        visit.field("memory", self.memory, "the memory behind it");
    }
};

/// Presets of an NPU and of its memory; without a name of the latter, the one that the NPU's preset
/// names.
LayerSystem read_layer_system(const std::filesystem::path& configs, const std::string& npu,
                              const std::string& memory = {});

/// The family that a preset's text names; nvdla where it names none.
NpuFamily family_of(const std::string& text, const std::string& file);

}  // namespace npuscope
