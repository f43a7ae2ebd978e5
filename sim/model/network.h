// SPDX-License-Identifier: Apache-2.0
// A network as a shape table: its input and its layers in order of execution. Weights and images
// are not part of it; a run generates synthetic ones from the seed. A file looks like
//
//     name: tiny
//     input: {channels: 3, height: 32, width: 32}
//     layers:
//       - {name: conv1, kind: conv, kernels: 16, kernel: 3, padding: 1, relu: true}
//       - {name: pool1, kind: max_pool, kernel: 2, stride: 2, output: 16x16x16}
//
// Further inputs are layers of kind `input`; any results can be outputs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/arith/fixed_point.h"
#include "models/base/describe.h"
#include "models/base/diagnostic.h"
#include "models/layout/precision.h"
#include "models/layout/tensor.h"

namespace npuscope {

// The values of one layer as given by a model, in the form that the SDP uses: a feature map is
// stored as int8 with a zero point, and
//
//     conv, fc   weighted sum of stored values
//                first stage:   + bias << bias_shift, x factor >> factor_shift if there is no
//                               rest, otherwise x first_factor if there is one
//                second stage:  + rest, x factor >> factor_shift; or at least `least` <<
//                               `least_shift`; or + stored residual << residual_shift
//                convertor:     to the stored result
//     mul        first stage:   + constant, x the stored second map; second: + the stored first
//                               map << second_shift, if there is one, x gain; then the convertor
//     concat     each stored map minus an offset
//     lookup     the table: the stored result for each stored value; or first stage:
//                               + constant, x gain; second: below 0 x the channel's factor
//                               >> factor_shift; then the convertor
//     add        first stage:   + constant, x factor; second: + stored residual << residual_shift,
//                               x gain; or, for a residual that both stages add, first:
//                               + stored residual << first_shift, x factor; or first:
//                               + stored residual << residual_shift, second: + constant,
//                               x gain >> gain_shift; or first: + constant, x factor, third: + the
//                               stored residual converted by `other`; then the convertor
//
// The layer determines which stage has a ReLU. Empty vectors: not used by the layer.

struct LayerNumbers {
    std::vector<std::int8_t> weights;  ///< kernel, channel within its group, row, column
    /// Used instead for 16-bit maps: integers, or the bits of fp16. Biases then have the same type,
    /// and integer sums are shifted right before biases are added.
    std::vector<std::int16_t> wide_weights{};
    unsigned sum_shift = 0;
    std::int8_t padding = 0;         ///< value around the stored input
    std::vector<std::int16_t> bias;  ///< per kernel
    unsigned bias_shift = 0;
    std::vector<std::int16_t> first_factor{};  ///< per kernel, applied before the rest is added
    std::vector<std::int16_t> rest;            ///< per kernel: what `bias` cannot represent
    std::vector<std::int16_t> factor;          ///< per kernel, 0 or more
    unsigned factor_shift = 0;                 ///< right shift after the factor
    std::optional<std::int16_t> least{};
    unsigned least_shift = 0;
    std::optional<std::int16_t> most{};  ///< second stage: upper limit, bits of fp16
    std::int16_t constant = 0;
    unsigned residual_shift = 0;
    std::optional<unsigned> first_shift{};  ///< for a residual that both stages add
    std::optional<Conversion> other{};      ///< for one that only the third stage adds
    std::int16_t gain = 1;                  ///< second stage: for a sum, or if there is no rest
    unsigned gain_shift = 0;
    Conversion convertor{};
    std::optional<unsigned> second_shift{};  ///< for a product: shift of the first map added to it
    std::vector<std::int8_t> table{};        ///< for -128 to 127
    Shape begin{0, 0, 0};                    ///< start of a slice
    std::vector<std::int16_t> offsets{};     ///< for the maps that are joined
    std::optional<std::uint64_t> macs{};     ///< of the model's layer, if it had other sizes
    bool joins_unclipped = false;  ///< the add that reads it uses the result before clipping
    bool relu_after_join = false;  ///< ReLU of that add
};

// One layer of a network as a shape table lists it: what it computes and from which layers, not how
// or where. Kernels, strides and paddings are square unless their width is given; values are int8.
// Omitted fields keep their defaults; input sizes follow from the source layers.

/// Fc is a convolution whose kernel covers its whole input; Input computes nothing: it is another
/// input of the network, whose shape is `output`. Lookup maps each value through a table: an
/// activation of a model, or any other function of one map; Concat joins maps along channels; Mul
/// multiplies a map by another, or by one value per channel; Slice is a part of a map, also with
/// the shape `output`: the first channels, rows and columns, or a range given by the model.
enum class LayerKind { Conv, Fc, MaxPool, AvgPool, Add, Mul, Lookup, Concat, Slice, Input };

template <>
struct EnumNames<LayerKind> {
    static constexpr std::array names{std::pair{LayerKind::Conv, std::string_view("conv")},
                                      std::pair{LayerKind::Fc, std::string_view("fc")},
                                      std::pair{LayerKind::MaxPool, std::string_view("max_pool")},
                                      std::pair{LayerKind::AvgPool, std::string_view("avg_pool")},
                                      std::pair{LayerKind::Add, std::string_view("add")},
                                      std::pair{LayerKind::Lookup, std::string_view("lookup")},
                                      std::pair{LayerKind::Mul, std::string_view("mul")},
                                      std::pair{LayerKind::Concat, std::string_view("concat")},
                                      std::pair{LayerKind::Slice, std::string_view("slice")},
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
    std::uint32_t dilation = 1;
    std::optional<std::uint32_t> dilation_width;
    std::uint32_t groups = 1;
    bool bias = true;
    bool relu = false;
    std::optional<std::uint32_t> zeros;
    std::string output;
    Place place{};                          ///< in the table's file; not a field
    std::optional<LayerNumbers> numbers{};  ///< a model's; if empty: synthetic. Not a field either

    /// Null if they are synthetic.
    const LayerNumbers* given_numbers() const { return numbers ? &*numbers : nullptr; }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("name", self.name, "name of the layer, by which others refer to it");
        visit.required(
            "kind", self.kind,
            "what the layer computes; lookup: each element through a table, like an activation "
            "function; slice: a part of its input, with the shape given as `output`; input: "
            "nothing, it is a further input of the network, also with the shape `output`");
        visit.field("from", self.from,
                    "layers that it reads, `input` for the network's input; default: the previous "
                    "layer; add and mul need two, concat two or more");
        visit.field("kernels", self.kernels, "output channels of conv and fc");
        visit.field("kernel", self.kernel, "rows and columns of kernel or pooling window");
        visit.field("stride", self.stride, "stride in both directions");
        visit.field("padding", self.padding, "padding before the first row and column");
        visit.field("padding_end", self.padding_end,
                    "padding after the last row and column; default: that of `padding`");
        visit.field("kernel_width", self.kernel_width,
                    "columns of kernel or pooling window; default: that of `kernel`");
        visit.field("stride_width", self.stride_width,
                    "stride from column to column; default: that of `stride`");
        visit.field("padding_width", self.padding_width,
                    "padding before the first column; default: that of `padding`");
        visit.field("padding_width_end", self.padding_width_end,
                    "padding after the last column; default: that of `padding_width` where it is "
                    "given, otherwise that of `padding_end`");
        visit.field("dilation", self.dilation, "dilation in rows and columns");
        visit.field("dilation_width", self.dilation_width,
                    "columns from one tap of the kernel to the next; default: that of `dilation`");
        visit.field("groups", self.groups,
                    "channel groups that are convolved separately; as many as channels: depthwise");
        visit.field("bias", self.bias, "conv and fc add a bias per kernel");
        visit.field("relu", self.relu, "negative results become zero");
        visit.field("zeros", self.zeros,
                    "percent of the synthetic weights of conv and fc that are zero, as in a pruned "
                    "network; default: the network's");
        visit.field("output", self.output,
                    "expected output shape, e.g. 64x112x112 (channels, height, width); defines the "
                    "shape of a slice or an input");
    }
};

/// Uint8: values from 0 to 255, from which 128 is subtracted before the multipliers: by the NPU if
/// they are stored in memory as pixels, otherwise beforehand.
enum class InputType { Int8, Uint8 };

template <>
struct EnumNames<InputType> {
    static constexpr std::array names{std::pair{InputType::Int8, std::string_view("int8")},
                                      std::pair{InputType::Uint8, std::string_view("uint8")}};
};

/// Of everything but the height of a map: far beyond any NPU; keeps products in 64 bits.
inline constexpr std::uint32_t largest_layer_size = 65536;
/// Of a map, which is cut into rows: 17 minutes of sound.
inline constexpr std::uint32_t largest_height = 1U << 24U;

struct NetworkInput {
    std::uint32_t channels = 0;
    std::uint32_t height = 0;
    std::uint32_t width = 0;
    std::string layout{};  ///< of its image in files; empty: the NPU's default
    InputType type = InputType::Int8;

    Shape shape() const { return {channels, height, width}; }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("channels", self.channels, "channels of the input");
        visit.required("height", self.height, "rows of the input");
        visit.required("width", self.width, "columns of the input");
        visit.field("layout", self.layout,
                    "layout of the input image in files; empty: the NPU's default. A pixel format "
                    "(T_A8B8G8R8) is also its layout in the NPU's memory");
        visit.field("type", self.type,
                    "element type of the input; 128 is subtracted from uint8 elements, by the NPU "
                    "where they are stored as pixels");
    }
};

struct Network {
    std::string name;
    std::string file;  ///< name used in messages
    std::uint32_t seed = 1;
    std::uint32_t zeros = 0;
    NetworkInput input;
    std::vector<Layer> layers;
    std::string output_layout{};            ///< of its results in files; empty: the NPU's default
    Precision precision = Precision::Int8;  ///< of maps and weights; tables use int8
    std::vector<std::string> outputs{};     ///< layers; empty: those without readers

    /// Only a table, whose values are generated from its seed.
    bool is_synthetic() const { return std::ranges::none_of(layers, &Layer::given_numbers); }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("name", self.name, "name of the network in results");
        visit.field("seed", self.seed, "seed of the synthetic weights and images");
        visit.field("zeros", self.zeros,
                    "percent of the synthetic weights that are zero, unless set by a layer");
        visit.required("input", self.input, "shape of the network's input");
        visit.required("layers", self.layers, "the layers, in order of execution");
        visit.field("output_layout", self.output_layout,
                    "layout of the output images in files; empty: the NPU's default");
        visit.field("outputs", self.outputs,
                    "layers whose results stay in memory to the end; default: those that no other "
                    "layer reads");
    }
};

/// ConfigError with the location of any error in the text; shapes are not checked yet.
Network parse_network(const std::string& text, const std::string& file);
/// By file name: networks end in .yaml or .yml.
bool is_network_file(const std::filesystem::path& path);
Network read_network(const std::filesystem::path& path);

// The shapes that follow from a network's table: input, output and number of multiplications of
// each layer. An inconsistent table is rejected here, naming the layer.

/// Geometry of a layer's windows on its input.
struct LayerWindow {
    std::uint32_t rows = 1;
    std::uint32_t columns = 1;
    std::uint32_t stride_y = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t pad_top = 0;
    std::uint32_t pad_left = 0;
    std::uint32_t pad_bottom = 0;
    std::uint32_t pad_right = 0;
    std::uint32_t dilation_y = 1;
    std::uint32_t dilation_x = 1;

    bool is_dilated() const { return dilation_y != 1 || dilation_x != 1; }
    /// Rows and columns that it spans.
    std::uint32_t span_y() const { return (rows - 1) * dilation_y + 1; }
    std::uint32_t span_x() const { return (columns - 1) * dilation_x + 1; }
};

struct LayerShapes {
    /// Indices of the layers that it reads; nothing: the network's input.
    std::vector<std::optional<std::size_t>> sources;
    Shape input;   ///< of the first source; an add's second source has the same; for Input its own
    Shape output;  ///< channels x height x width
    LayerWindow window;
    std::uint64_t macs = 0;  ///< for conv and fc, including those on padding
};

/// One entry per layer. ConfigError names file and layer.
std::vector<LayerShapes> network_shapes(const Network& network);

/// Layers whose results are the network's, in the table's order. ConfigError if a named layer does
/// not exist or computes nothing.
std::vector<std::size_t> network_outputs(const Network& network,
                                         const std::vector<LayerShapes>& shapes);

std::uint64_t total_macs(const std::vector<LayerShapes>& shapes);

/// `64x112x112`.
std::string shape_text(const Shape& shape);

}  // namespace npuscope
