// SPDX-License-Identifier: Apache-2.0
// Random convolutions for the preset with all precisions and modes, as a register program with its
// memory images and the bytes that the plain oracle expects. The same family and seed give the same
// layer everywhere; the program of a layer exists with uncompressed and compressed weights.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/full_layer.h"
#include "tests/support/generate_random.h"

namespace npuscope {

enum class LayerFamily : std::uint8_t { Direct, Dilated, Batch, Image, PostExtension, Winograd };

std::string_view layer_family_name(LayerFamily family);

/// `type` is that of processing; `zero_percent` of the weights are 0.
struct LayerWish {
    LayerFamily family = LayerFamily::Direct;
    oracle::Type type = oracle::Type::Int8;
    std::uint32_t zero_percent = 10;
    std::uint64_t seed = 1;
};

oracle::FullLayer random_layer(const LayerWish& wish);

struct LayerImage {
    std::uint64_t address = 0;
    std::vector<std::uint8_t> bytes;
};

struct LayerProgram {
    std::vector<LayerImage> images;
    std::vector<std::pair<std::string, std::uint32_t>> registers;  ///< in the order of the writes
    LayerImage expected;
};

LayerProgram layer_program(const oracle::FullLayer& layer, bool compressed);

}  // namespace npuscope
