// SPDX-License-Identifier: Apache-2.0
#include "tests/support/generate_preset.h"

#include <array>
#include <stdexcept>
#include <string>

namespace npuscope {

namespace {

// name, atomic_c, atomic_k, atom, banks, bank width, bank depth, element-wise, secondary memory
// source: nvdla/hw, spec/defs/<preset>.spec
constexpr std::array preset_table{
    PresetParameters{"nv_small", 8, 8, 8, 32, 8, 512, false, false},
    PresetParameters{"nv_small_256", 32, 8, 8, 32, 32, 128, false, false},
    PresetParameters{"nv_small_256_full", 32, 8, 8, 32, 32, 128, true, true},
    PresetParameters{"nv_medium_512", 32, 16, 16, 32, 32, 512, false, false},
    PresetParameters{"nv_medium_1024_full", 32, 32, 32, 32, 32, 512, true, true},
    PresetParameters{"nv_large", 64, 32, 32, 16, 64, 512, true, true},
};

}  // namespace

std::span<const PresetParameters> generator_presets() { return preset_table; }

const PresetParameters& generator_preset(std::string_view name) {
    for (const PresetParameters& preset : preset_table) {
        if (preset.name == name) {
            return preset;
        }
    }
    throw std::invalid_argument("no preset '" + std::string(name) + "'");
}

}  // namespace npuscope
