// SPDX-License-Identifier: Apache-2.0
// The int8 presets as the program generator sees them: sizes from NVIDIA's public hardware
// specification files, kept separate from configs/npu on purpose.
// source: nvdla/hw, spec/defs/<preset>.spec
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace npuscope {

struct PresetParameters {
    std::string_view name;
    std::uint32_t atomic_c = 8;    ///< MAC_ATOMIC_C_SIZE
    std::uint32_t atomic_k = 8;    ///< MAC_ATOMIC_K_SIZE
    std::uint32_t atom = 8;        ///< MEMORY_ATOMIC_SIZE, bytes
    std::uint32_t banks = 32;      ///< CBUF_BANK_NUMBER
    std::uint32_t bank_width = 8;  ///< CBUF_BANK_WIDTH, bytes of an entry
    std::uint32_t bank_depth = 512;
    bool element_wise = false;      ///< SDP_EW and SDP_LUT
    bool secondary_memory = false;  ///< SECONDARY_MEMIF
};

/// nv_small, nv_small_256, nv_small_256_full, nv_medium_512, nv_medium_1024_full, nv_large.
std::span<const PresetParameters> generator_presets();
/// Throws std::invalid_argument for a name that is not one of them.
const PresetParameters& generator_preset(std::string_view name);

}  // namespace npuscope
