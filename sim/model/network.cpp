// SPDX-License-Identifier: Apache-2.0
#include "sim/model/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/config/limits.h"
#include "sim/config/text_table.h"

namespace npuscope {

Network parse_network(const std::string& text, const std::string& file) {
    const ConfigNode root = parse_yaml(text, file);
    Network network = read_limited<Network>(root, "network");
    network.file = file;
    const std::vector<ConfigNode>& layers = root.find("layers")->items;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        network.layers[i].place = layers[i].place;
    }
    return network;
}

bool is_network_file(const std::filesystem::path& path) {
    return path.extension() == ".yaml" || path.extension() == ".yml";
}

Network read_network(const std::filesystem::path& path) {
    return parse_network(read_whole_file(path, {}, largest_config), path.string());
}

namespace {

constexpr std::string_view input_name = "input";

class ShapeWalk {
 public:
    explicit ShapeWalk(const Network& network) : network_(network) {}

    std::vector<LayerShapes> walk() {
        const NetworkInput& input = network_.input;
        for (const auto& [size, largest] : {std::pair(input.channels, largest_layer_size),
                                            std::pair(input.height, largest_height),
                                            std::pair(input.width, largest_layer_size)}) {
            require(size >= 1 && size <= largest, "the network's input",
                    fmt::format("{} is not a size", size), fmt::format("1 to {}", largest));
        }
        require(!network_.layers.empty(), "the network", "it has no layers",
                "add at least one layer");
        for (const Layer& layer : network_.layers) {
            add(layer);
        }
        const bool computes = std::ranges::any_of(
            network_.layers, [](const Layer& layer) { return layer.kind != LayerKind::Input; });
        require(computes, "the network", "it has no layers that compute anything",
                "list at least one");
        return std::move(shapes_);
    }

 private:
    void require(bool good, const std::string& subject, const std::string& what,
                 const std::string& remedy) const {
        if (!good) {
            throw ConfigError(Place{network_.file, 0, 0}, fmt::format("{}: {}", subject, what),
                              remedy);
        }
    }
    void require(bool good, const Layer& layer, const std::string& what,
                 const std::string& remedy) const {
        if (!good) {
            const bool known = layer.place.line != 0;
            throw ConfigError(known ? layer.place : Place{network_.file, 0, 0},
                              fmt::format("layer '{}': {}", layer.name, what), remedy);
        }
    }

    void add(const Layer& layer) {
        require(!layer.name.empty(), layer, "it has no name", "give every layer a name of its own");
        require(layer.name != input_name, layer, "the name is reserved",
                "`input` is the network's input");
        require(!indices_.contains(layer.name), layer, "the name is used twice",
                "give every layer a name of its own");
        check_sizes(layer);
        LayerShapes shapes;
        shapes.sources = sources_of(layer);
        shapes.input =
            shapes.sources.empty() ? declared_shape(layer) : shape_of(shapes.sources.front());
        compute(layer, shapes);
        require(layer.output.empty() || layer.output == shape_text(shapes.output), layer,
                fmt::format("its output is {}, not {}", shape_text(shapes.output), layer.output),
                "correct the layer, or its `output`");
        indices_[layer.name] = shapes_.size();
        shapes_.push_back(std::move(shapes));
    }

    void check_sizes(const Layer& layer) const {
        const std::uint32_t largest =
            std::max({layer.kernels, layer.kernel, layer.stride, layer.padding, layer.groups,
                      layer.padding_end.value_or(0), layer.kernel_width.value_or(0),
                      layer.stride_width.value_or(0), layer.padding_width.value_or(0),
                      layer.padding_width_end.value_or(0)});
        require(largest <= largest_layer_size, layer, fmt::format("{} is not a size", largest),
                "sizes are at most 65536");
        require(layer.kernel >= 1 && layer.stride >= 1 && layer.groups >= 1 &&
                    layer.kernel_width.value_or(1) >= 1 && layer.stride_width.value_or(1) >= 1,
                layer, "kernel, stride and groups must be 1 or more",
                "omit them for the default of 1");
        const bool weighted = layer.kind == LayerKind::Conv || layer.kind == LayerKind::Fc;
        require(weighted == (layer.kernels > 0), layer,
                weighted ? "it has no kernels" : "only conv and fc have kernels",
                weighted ? "give `kernels`, its output channels" : "leave `kernels` out");
        require(std::max(layer.zeros.value_or(0), network_.zeros) <= 100, layer,
                "`zeros` exceeds 100", "`zeros` is a percentage");
        require(layer.dilation >= 1 && layer.dilation_width.value_or(1) >= 1, layer,
                "dilation must be 1 or more", "omit it for the default of 1");
        require((layer.dilation == 1 && layer.dilation_width.value_or(1) == 1) ||
                    layer.kind == LayerKind::Conv,
                layer, "only conv supports dilation", "leave `dilation` out");
        const LayerWindow window = window_of(layer);
        const std::uint32_t sizes =
            std::max({window.rows, window.columns, window.stride_y, window.stride_x});
        const std::uint32_t pads =
            std::max({window.pad_top, window.pad_bottom, window.pad_left, window.pad_right});
        require((sizes == 1 && pads == 0) || layer.kind == LayerKind::Conv ||
                    layer.kind == LayerKind::MaxPool || layer.kind == LayerKind::AvgPool,
                layer,
                layer.kind == LayerKind::Fc
                    ? "an fc covers its whole input, without stride and padding"
                    : "only conv and pooling have windows",
                "leave `kernel`, `stride` and `padding` out");
        require(layer.groups == 1 || layer.kind == LayerKind::Conv, layer,
                "only conv supports groups", "leave `groups` out");
        require(!layer.relu || weighted || layer.kind == LayerKind::Add, layer,
                "only conv, fc and add support relu", "put it into the layer before");
    }

    static bool is_pair(const Layer& layer) {
        return layer.kind == LayerKind::Add || layer.kind == LayerKind::Mul;
    }

    std::vector<std::optional<std::size_t>> sources_of(const Layer& layer) const {
        std::vector<std::optional<std::size_t>> sources;
        for (const std::string& name : layer.from) {
            const auto found = indices_.find(name);
            require(name == input_name || found != indices_.end(), layer,
                    fmt::format("there is no layer '{}' before it", name),
                    "`from` names earlier layers, or `input`");
            sources.push_back(name == input_name ? std::nullopt : std::optional(found->second));
        }
        if (layer.from.empty() && layer.kind != LayerKind::Input) {
            sources.push_back(shapes_.empty() ? std::nullopt : std::optional(shapes_.size() - 1));
        }
        const bool joins = layer.kind == LayerKind::Concat;
        const std::size_t wanted = is_pair(layer) || joins          ? 2
                                   : layer.kind == LayerKind::Input ? 0
                                                                    : 1;
        require(sources.size() == wanted || (joins && sources.size() > wanted), layer,
                fmt::format("it has {}, but needs {}{}", counted(sources.size(), "input"), wanted,
                            joins ? " or more" : ""),
                "`from` must name two layers for add and mul, two or more for concat, none for "
                "input, otherwise one");
        return sources;
    }

    /// The `output` field of an input: `64x112x112`.
    Shape declared_shape(const Layer& layer) const {
        std::array<std::uint32_t, 3> sizes{};
        const char* at = layer.output.data();
        const char* const end = at + layer.output.size();
        bool whole = true;
        for (std::size_t i = 0; i < sizes.size() && whole; ++i) {
            whole = i == 0 || (at != end && *at++ == 'x');
            const auto [next, error] = std::from_chars(at, end, sizes[i]);
            whole = whole && error == std::errc() && sizes[i] >= 1 &&
                    sizes[i] <= (i == 1 ? largest_height : largest_layer_size);
            at = next;
        }
        require(whole && at == end, layer,
                fmt::format("'{}' is not a valid shape for {}", layer.output,
                            layer.kind == LayerKind::Slice ? "a slice" : "an input"),
                "give its channels, height and width as `output`, as 64x112x112");
        return {sizes[0], sizes[1], sizes[2]};
    }

    Shape shape_of(std::optional<std::size_t> source) const {
        return source ? shapes_[*source].output : network_.input.shape();
    }

    static LayerWindow window_of(const Layer& layer) {
        const std::uint32_t below = layer.padding_end.value_or(layer.padding);
        LayerWindow window;
        window.rows = layer.kernel;
        window.columns = layer.kernel_width.value_or(layer.kernel);
        window.stride_y = layer.stride;
        window.stride_x = layer.stride_width.value_or(layer.stride);
        window.pad_top = layer.padding;
        window.pad_bottom = below;
        window.pad_left = layer.padding_width.value_or(layer.padding);
        window.pad_right = layer.padding_width_end.value_or(layer.padding_width.value_or(below));
        window.dilation_y = layer.dilation;
        window.dilation_x = layer.dilation_width.value_or(layer.dilation);
        return window;
    }

    Shape concatenated(const Layer& layer, const LayerShapes& shapes) const {
        const Shape& input = shapes.input;
        Shape output{0, input.height, input.width};
        for (const std::optional<std::size_t> source : shapes.sources) {
            const Shape part = shape_of(source);
            require(part.height == input.height && part.width == input.width, layer,
                    fmt::format("it concatenates {} with {}", shape_text(part), shape_text(input)),
                    "all must have the same height and width");
            output.channels += part.channels;
        }
        require(output.channels <= largest_layer_size, layer,
                fmt::format("{} is not a size", output.channels), "sizes are at most 65536");
        return output;
    }

    void compute(const Layer& layer, LayerShapes& shapes) const {
        const Shape& input = shapes.input;
        shapes.window = window_of(layer);
        switch (layer.kind) {
            case LayerKind::Add:
                require(shape_of(shapes.sources.back()) == input, layer,
                        fmt::format("it adds {} to {}", shape_text(shape_of(shapes.sources.back())),
                                    shape_text(input)),
                        "both must have the same shape");
                shapes.output = input;
                return;
            case LayerKind::Slice:
                shapes.output = declared_shape(layer);
                require(shapes.output.channels <= input.channels &&
                            shapes.output.height <= input.height &&
                            shapes.output.width <= input.width,
                        layer,
                        fmt::format("{} is not contained in {}", shape_text(shapes.output),
                                    shape_text(input)),
                        "a slice must not be larger than its input");
                return;
            case LayerKind::Mul: {
                const Shape other = shape_of(shapes.sources.back());
                require(other == input || other == Shape{input.channels, 1, 1}, layer,
                        fmt::format("it multiplies {} by {}", shape_text(input), shape_text(other)),
                        "the second must have the first one's shape, or one value per channel");
                shapes.output = input;
                return;
            }
            case LayerKind::Concat:
                shapes.output = concatenated(layer, shapes);
                return;
            case LayerKind::Fc:
                shapes.window = {.rows = input.height, .columns = input.width};
                shapes.output = {layer.kernels, 1, 1};
                break;
            case LayerKind::Conv:
                shapes.output = outputs(layer, shapes.window, input);
                shapes.output.channels = layer.kernels;
                break;
            case LayerKind::MaxPool:
            case LayerKind::AvgPool:
                shapes.output = outputs(layer, shapes.window, input);
                return;
            case LayerKind::Lookup:
            case LayerKind::Input:
                shapes.output = input;
                return;
        }
        require(input.channels % layer.groups == 0 && layer.kernels % layer.groups == 0, layer,
                fmt::format("{} groups do not divide {} and {}", layer.groups,
                            counted(input.channels, "channel"), counted(layer.kernels, "kernel")),
                "choose a common divisor");
        shapes.macs = std::uint64_t{shapes.output.elements()} * shapes.window.rows *
                      shapes.window.columns * (input.channels / layer.groups);
    }

    /// Windows along one axis of `size`.
    std::uint32_t windows(const Layer& layer, std::uint32_t size, std::uint32_t kernel,
                          std::uint32_t before, std::uint32_t after, std::uint32_t stride) const {
        require(std::max(before, after) < kernel, layer, "a window lies entirely in the padding",
                "padding must be smaller than the kernel");
        require(size + before + after >= kernel, layer,
                fmt::format("a kernel of {} is larger than its input of {} with padding {}", kernel,
                            size, before + after),
                "use a smaller kernel or more padding");
        return (size + before + after - kernel) / stride + 1;
    }

    Shape outputs(const Layer& layer, const LayerWindow& window, const Shape& input) const {
        return {input.channels,
                windows(layer, input.height, window.span_y(), window.pad_top, window.pad_bottom,
                        window.stride_y),
                windows(layer, input.width, window.span_x(), window.pad_left, window.pad_right,
                        window.stride_x)};
    }

    const Network& network_;
    std::vector<LayerShapes> shapes_;
    std::map<std::string, std::size_t> indices_;
};

}  // namespace

std::vector<LayerShapes> network_shapes(const Network& network) {
    return ShapeWalk(network).walk();
}

std::vector<std::size_t> network_outputs(const Network& network,
                                         const std::vector<LayerShapes>& shapes) {
    std::vector<bool> is_output(shapes.size(), network.outputs.empty());
    for (const std::string& name : network.outputs) {
        const auto layer = std::ranges::find(network.layers, name, &Layer::name);
        if (layer == network.layers.end() || layer->kind == LayerKind::Input) {
            throw ConfigError(Place{network.file, 0, 0},
                              fmt::format("output '{}' is not a layer", name),
                              "`outputs` names layers that compute something");
        }
        is_output[static_cast<std::size_t>(layer - network.layers.begin())] = true;
    }
    for (std::size_t i = 0; network.outputs.empty() && i < shapes.size(); ++i) {
        for (const std::optional<std::size_t> source : shapes[i].sources) {
            if (source) {
                is_output[*source] = false;
            }
        }
    }
    std::vector<std::size_t> outputs;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (is_output[i] && network.layers[i].kind != LayerKind::Input) {
            outputs.push_back(i);
        }
    }
    return outputs;
}

std::uint64_t total_macs(const std::vector<LayerShapes>& shapes) {
    std::uint64_t macs = 0;
    for (const LayerShapes& layer : shapes) {
        macs += layer.macs;
    }
    return macs;
}

std::string shape_text(const Shape& shape) {
    return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

}  // namespace npuscope
