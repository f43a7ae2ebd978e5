// SPDX-License-Identifier: Apache-2.0
// One layer of a network as a shape table lists it: what it computes and from which layers, not how
// or where. Kernels, strides and paddings are square unless their width is given; values are int8.
// What is left out keeps its default; sizes of the input follow from the layers that it comes from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"

namespace npuscope {

/// Fc is a convolution whose kernel covers its whole input; Input computes nothing: it is another
/// input of the network, whose shape stands at `output`.
enum class LayerKind { Conv, Fc, MaxPool, AvgPool, Add, Input };

template <>
struct EnumNames<LayerKind> {
    static constexpr std::array names{std::pair{LayerKind::Conv, std::string_view("conv")},
                                      std::pair{LayerKind::Fc, std::string_view("fc")},
                                      std::pair{LayerKind::MaxPool, std::string_view("max_pool")},
                                      std::pair{LayerKind::AvgPool, std::string_view("avg_pool")},
                                      std::pair{LayerKind::Add, std::string_view("add")},
                                      std::pair{LayerKind::Input, std::string_view("input")}};
};

struct Layer {
    std::string name;
    LayerKind kind = LayerKind::Conv;
    std::vector<std::string> from;
    std::uint32_t kernels = 0;
    std::uint32_t kernel = 1;
    std::uint32_t stride = 1;
    std::uint32_t padding = 0;
    std::optional<std::uint32_t> padding_end;
    std::optional<std::uint32_t> kernel_width;
    std::optional<std::uint32_t> stride_width;
    std::optional<std::uint32_t> padding_width;
    std::optional<std::uint32_t> padding_width_end;
    std::uint32_t groups = 1;
    bool bias = true;
    bool relu = false;
    std::optional<std::uint32_t> zeros;
    std::string output;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("name", self.name, "name of the layer, by which others refer to it");
        visit.required("kind", self.kind,
                       "what the layer computes; input: nothing, it is another input of the "
                       "network, of the shape that stands at `output`");
        visit.field("from", self.from,
                    "layers that it takes its input from, `input` for the network's; default: the "
                    "layer before; an add takes two");
        visit.field("kernels", self.kernels, "output channels of conv and fc");
        visit.field("kernel", self.kernel, "rows and columns of kernel or pooling window");
        visit.field("stride", self.stride, "stride in both directions");
        visit.field("padding", self.padding, "padding before the first row and column");
        visit.field("padding_end", self.padding_end,
                    "padding behind the last row and column; default: as padding");
        visit.field("kernel_width", self.kernel_width,
                    "columns of kernel or pooling window; default: as kernel");
        visit.field("stride_width", self.stride_width,
                    "stride from column to column; default: as stride");
        visit.field("padding_width", self.padding_width,
                    "padding before the first column; default: as padding");
        visit.field(
            "padding_width_end", self.padding_width_end,
            "padding behind the last column; default: as padding_width where that is given, "
            "else as padding_end");
        visit.field("groups", self.groups,
                    "groups of channels that are convolved apart; as many as channels: depthwise");
        visit.field("bias", self.bias, "conv and fc add a bias per kernel");
        visit.field("relu", self.relu, "negative results become zero");
        visit.field("zeros", self.zeros,
                    "percent of the made-up weights of conv and fc that are zero, as in a pruned "
                    "network; default: the network's");
        visit.field("output", self.output,
                    "shape that must come out, as 64x112x112 (channels, height, width); that of an "
                    "input");
    }
};

}  // namespace npuscope
