// SPDX-License-Identifier: Apache-2.0
// The shapes that follow from a network's table: layer by layer what comes in, what goes out and
// how many multiplications lie between. A table that does not fit together is refused here, by the
// name of the layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/layout/tensor.h"
#include "sim/model/network.h"

namespace npuscope {

/// How a layer's windows lie on its input.
struct LayerWindow {
    std::uint32_t rows = 1;
    std::uint32_t columns = 1;
    std::uint32_t stride_y = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t pad_top = 0;
    std::uint32_t pad_left = 0;
    std::uint32_t pad_bottom = 0;
    std::uint32_t pad_right = 0;
};

struct LayerShapes {
    /// Indices of the layers that it takes its input from; nothing: the network's input.
    std::vector<std::optional<std::size_t>> sources;
    Shape input;   ///< of the first source; an add's second one has the same; an input's own
    Shape output;  ///< channels x height x width
    LayerWindow window;
    std::uint64_t macs = 0;  ///< of conv and fc, those inside the padding counted
};

/// One entry per layer. ConfigError names file and layer.
std::vector<LayerShapes> network_shapes(const Network& network);

/// Layers whose results are the network's, in the table's order. ConfigError where there is no
/// layer of a name, or it computes nothing.
std::vector<std::size_t> network_outputs(const Network& network,
                                         const std::vector<LayerShapes>& shapes);

std::uint64_t total_macs(const std::vector<LayerShapes>& shapes);

/// `64x112x112`.
std::string shape_text(const Shape& shape);

}  // namespace npuscope
