// SPDX-License-Identifier: Apache-2.0
// Random but legal register programs for the int8 presets, with the bytes that they must produce,
// computed by the plain oracle. The same preset, kind and seed give the same program everywhere.
// Not generated: EQL mode, batches, data and weight reuse, truncation beyond 16.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/generate_preset.h"
#include "tests/support/generate_scene.h"

namespace npuscope {

enum class LayerKind : std::uint8_t {
    Convolution,      ///< direct convolution, output converter only
    Image,            ///< pixels, output converter only
    ConvolutionSdp,   ///< either, with BS and BN
    Sdp,              ///< memory to memory, BS and BN
    ElementWise,      ///< EW after a convolution or memory
    Table,            ///< EW with its look-up table
    Pool,             ///< PDP from memory, split at times
    SdpPool,          ///< memory, SDP, PDP on the fly
    ConvolutionPool,  ///< convolution, SDP, PDP on the fly
    Normalise,        ///< CDP
    Chain,            ///< two or three layers, each on the output of the previous one
    PingPong,         ///< two convolutions, both register groups enabled before the first wait
};

struct GeneratedProgram {
    std::string name;
    std::string cfg;
    std::map<std::string, std::string> files;  ///< image name, trace text
    std::vector<ExpectedRegion> expected;
    std::vector<std::string> settings;  ///< `--set` of fields that differ from the preset
};

std::span<const LayerKind> layer_kinds();
std::string_view layer_kind_name(LayerKind kind);
/// Throws std::invalid_argument for a name that is not one of them.
LayerKind layer_kind(std::string_view name);

/// EW and its table exist on presets with that unit, and on nv_small with it switched on.
bool supports(const PresetParameters& preset, LayerKind kind);

GeneratedProgram generate_program(const PresetParameters& preset, LayerKind kind,
                                  std::uint64_t seed);

/// program.cfg and the images; makes the folder.
void write_folder(const GeneratedProgram& program, const std::filesystem::path& folder);

}  // namespace npuscope
