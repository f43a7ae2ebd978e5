// SPDX-License-Identifier: Apache-2.0
#include "sim/report/measured_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/base/error.h"
#include "sim/config/preset.h"
#include "sim/config/yaml_writer.h"

namespace npuscope {
namespace {

constexpr auto measured = std::to_array<MeasuredError>({
#include "sim/report/measured_errors.inc"
});

/// Whether the NPU equals the bundled preset of its name, field by field.
bool is_bundled(const SystemConfig& system) {
    try {
        const PresetFile preset = find_preset(configs_folder(), "npu", system.npu_name());
        const SystemConfig bundled =
            parse_system(read_preset_text(preset), preset.shown, {&system.family, 1});
        return write_yaml(bundled.npu) == write_yaml(system.npu);
    } catch (const ConfigError&) {
        return false;  // the presets are not available for comparison
    }
}

/// The RTL ran with memories of one latency, and a separate bus for each port.
bool has_measured_memory(const MemoryConfig& memory) {
    return std::ranges::none_of(memory.regions, [&](const MemoryRegionConfig& region) {
        return region.dram || region.bandwidth ||
               region.latency_spread.value_or(memory.latency_spread) > Cycles(0);
    });
}

}  // namespace

std::span<const MeasuredError> measured_errors() { return measured; }

const MeasuredError* measured_error(const SystemConfig& system) {
    const auto found = std::ranges::find(measured, system.npu_name(), &MeasuredError::npu);
    return found != measured.end() && is_bundled(system) ? &*found : nullptr;
}

std::string measured_line(const SystemConfig& system, std::size_t instances) {
    const MeasuredError* error = measured_error(system);
    if (error == nullptr) {
        return "cycles: not measured against an RTL";
    }
    const char* unlike = "";
    if (!has_measured_memory(system.memory)) {
        unlike = ", with memories of constant latency; not measured with this memory";
    } else if (instances > 1) {
        unlike = ", each alone at its memory; not measured with several NPUs at one";
    }
    return fmt::format("cycles: mean error {:.2g} %, worst {:.2g} %, against {} runs of the RTL{}",
                       error->mean, error->worst, error->rows, unlike);
}

}  // namespace npuscope
