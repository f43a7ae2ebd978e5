// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/model/network.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/synthetic_numbers.h"

namespace npuscope {
namespace {

constexpr std::int16_t bias_limit = 127;
// root mean squares, from which shifts are derived
constexpr double weight_spread = 73;  // of int8
constexpr double input_spread = 74;   // of -128..127
constexpr double signed_spread = 45;  // of the wanted results
constexpr double unsigned_spread = 80;
constexpr double largest_spread = 100;

class GraphBuilder {
 public:
    explicit GraphBuilder(const Network& network)
        : network_(network), shapes_(network_shapes(network)) {}

    Graph build() {
        graph_.name = network_.name;
        graph_.file = network_.file;
        graph_.opset = 13;
        graph_.inputs = {"input"};
        graph_.types["input"] = {
            ElementType::Float32,
            {1, network_.input.channels, network_.input.height, network_.input.width}};
        count_readers();
        for (std::size_t i = 0; i < network_.layers.size(); ++i) {
            add(i);
        }
        for (const std::size_t output : network_outputs(network_, shapes_)) {
            graph_.outputs.push_back(outputs_[output]);
        }
        return std::move(graph_);
    }

 private:
    void count_readers() {
        readers_.assign(network_.layers.size(), 0);
        joined_.assign(network_.layers.size(), false);
        for (const LayerShapes& shapes : shapes_) {
            for (const auto& source : shapes.sources) {
                if (source) {
                    ++readers_[*source];
                }
            }
        }
        // of two candidates, the last one joins
        for (std::size_t i = 0; i < network_.layers.size(); ++i) {
            if (network_.layers[i].kind != LayerKind::Add) {
                continue;
            }
            std::optional<std::size_t> last;
            for (const auto& source : shapes_[i].sources) {
                if (source && can_join(*source) && (!last || *source > *last)) {
                    last = source;
                }
            }
            if (last) {
                joined_[*last] = true;
            }
        }
    }
    bool can_join(std::size_t index) const {
        const Layer& layer = network_.layers[index];
        return layer.kind == LayerKind::Conv && area_of(index) == 1 && layer.groups == 1 &&
               !layer.relu && readers_[index] == 1;
    }

    std::int64_t area_of(std::size_t index) const {
        const LayerWindow& window = shapes_[index].window;
        return std::int64_t{window.rows} * window.columns;
    }

    std::string source(std::size_t layer, std::size_t which) const {
        const auto& from = shapes_[layer].sources[which];
        return from ? cubes_[*from] : "input";
    }

    double spread_of(std::size_t layer, std::size_t which) const {
        const auto& from = shapes_[layer].sources[which];
        return from ? spreads_[*from] : input_spread;
    }

    void add(std::size_t index) {
        const Layer& layer = network_.layers[index];
        if (layer.kind == LayerKind::Input) {
            add_input(index);
            return;
        }
        last_ = source(index, 0);
        spread_ = spread_of(index, 0);
        switch (layer.kind) {
            case LayerKind::Input:
                break;
            case LayerKind::Concat: {
                std::vector<std::string> maps;
                for (std::size_t i = 0; i < shapes_[index].sources.size(); ++i) {
                    maps.push_back(source(index, i));
                    spread_ = std::max(spread_, spread_of(index, i));
                }
                append("Concat", layer.name, maps);
                graph_.nodes.back().attributes["axis"] = std::int64_t{1};
                break;
            }
            case LayerKind::Conv:
                add_conv(index);
                break;
            case LayerKind::Fc:
                add_fc(index);
                break;
            case LayerKind::MaxPool:
                append("MaxPool", layer.name, {last_});
                set_window(index);
                break;
            case LayerKind::AvgPool:
                add_average(index);
                break;
            case LayerKind::Add:
                append("Add", layer.name, {source(index, 0), source(index, 1)});
                spread_ = std::hypot(spread_, spread_of(index, 1));
                rectify(layer);
                clip(layer);
                break;
            case LayerKind::Mul:
            case LayerKind::Slice:
            case LayerKind::Lookup:
                throw ConfigError(layer.place,
                                  fmt::format("layer '{}': layer patterns have no {}", layer.name,
                                              enum_name(layer.kind)),
                                  "leave it out, or choose an NPU with registers");
        }
        outputs_.push_back(last_);
        if (layer.kind == LayerKind::Fc && feeds_others(index)) {
            append("Reshape", layer.name + "/cube",
                   {last_, constant(layer.name + "/cube_c", ElementType::Int64, {4},
                                    {1, static_cast<double>(layer.kernels), 1, 1})});
        }
        cubes_.push_back(last_);
        spreads_.push_back(std::min(spread_, largest_spread));
        const auto& from = shapes_[index].sources.front();
        const bool pool = layer.kind == LayerKind::MaxPool || layer.kind == LayerKind::AvgPool;
        unsigned_.push_back(pool ? from && unsigned_[*from] : layer.relu);
    }

    /// Layers other than fully connected ones read the result as a cube.
    bool feeds_others(std::size_t index) const {
        for (std::size_t i = index + 1; i < network_.layers.size(); ++i) {
            if (network_.layers[i].kind != LayerKind::Fc &&
                std::ranges::find(shapes_[i].sources, std::optional(index)) !=
                    shapes_[i].sources.end()) {
                return true;
            }
        }
        return false;
    }

    /// A tensor with the layer's name.
    void add_input(std::size_t index) {
        const std::string& name = network_.layers[index].name;
        const Shape& shape = shapes_[index].output;
        graph_.inputs.push_back(name);
        graph_.types[name] = {ElementType::Float32, {1, shape.channels, shape.height, shape.width}};
        outputs_.push_back(name);
        cubes_.push_back(name);
        spreads_.push_back(input_spread);
        unsigned_.push_back(false);
    }

    void add_conv(std::size_t index) {
        const Layer& layer = network_.layers[index];
        const std::int64_t channels = shapes_[index].input.channels / layer.groups;
        const LayerWindow& window = shapes_[index].window;
        const SyntheticLayer numbers = numbers_of(index);
        const std::string weights = made_constant(
            layer.name + "/weight", {layer.kernels, channels, window.rows, window.columns},
            [&](std::size_t i) { return numbers.weight(i); });
        append("Conv", layer.name, {last_, weights});
        set_window(index);
        graph_.nodes.back().attributes["group"] = std::int64_t{layer.groups};
        normalise(index, channels * area_of(index), {1, layer.kernels, 1, 1});
        joined_[index] ? append_clip(layer.name + "/preclip", -512, 511) : clip(layer);
    }

    void add_fc(std::size_t index) {
        const Layer& layer = network_.layers[index];
        const auto inner = static_cast<std::int64_t>(shapes_[index].input.elements());
        append("Flatten", layer.name + "/flatten", {last_});
        const SyntheticLayer numbers = numbers_of(index);
        const std::size_t kernels = layer.kernels;
        const std::string weights =
            made_constant(layer.name + "/weight", {inner, layer.kernels}, [&](std::size_t i) {
                return numbers.weight(i % kernels * static_cast<std::size_t>(inner) + i / kernels);
            });
        append("MatMul", layer.name, {last_, weights});
        normalise(index, inner, {1, layer.kernels});
        clip(layer);
    }

    /// Sums of windows; scale and shift turn them into averages.
    void add_average(std::size_t index) {
        const Layer& layer = network_.layers[index];
        const Shape& in = shapes_[index].input;
        const LayerWindow& window = shapes_[index].window;
        const bool padded =
            window.pad_top + window.pad_bottom + window.pad_left + window.pad_right > 0;
        const bool global = window.rows == in.height && window.columns == in.width && !padded;
        const auto area = static_cast<double>(area_of(index));
        if (global) {
            append("ReduceSum", layer.name,
                   {last_, constant(layer.name + "/axes", ElementType::Int64, {2}, {2, 3})});
        } else {
            append("AveragePool", layer.name, {last_});
            set_window(index);
            append("Mul", layer.name + "/area",
                   {last_, constant(layer.name + "/area_c", ElementType::Float32, {}, {area})});
        }
        append("Round", layer.name + "/round", {last_});
        const double shift = 7 + std::floor(std::log2(area));
        append("Mul", layer.name + "/scale",
               {last_, constant(layer.name + "/scale_c", ElementType::Float32, {},
                                {std::nearbyint(std::exp2(shift) / area)})});
        divide(layer.name, shift);
        const auto& from = shapes_[index].sources.front();
        clip_to(layer.name, from && unsigned_[*from]);
    }

    void set_window(std::size_t index) {
        const LayerWindow& window = shapes_[index].window;
        auto& attributes = graph_.nodes.back().attributes;
        attributes["kernel_shape"] = std::vector<std::int64_t>{window.rows, window.columns};
        attributes["strides"] = std::vector<std::int64_t>{window.stride_y, window.stride_x};
        if (window.is_dilated()) {
            attributes["dilations"] =
                std::vector<std::int64_t>{window.dilation_y, window.dilation_x};
        }
        attributes["pads"] = std::vector<std::int64_t>{window.pad_top, window.pad_left,
                                                       window.pad_bottom, window.pad_right};
    }

    /// Bias, and a shift by the expected growth of a sum of `products` random products.
    void normalise(std::size_t index, std::int64_t products, const Sizes& sizes) {
        const Layer& layer = network_.layers[index];
        if (layer.bias) {
            const SyntheticLayer numbers = numbers_of(index);
            append("Add", layer.name + "/bias",
                   {last_, made_constant(layer.name + "/bias_c", sizes, [&](std::size_t k) {
                        return numbers.bias(k, bias_limit);
                    })});
        }
        const double sum = std::sqrt(static_cast<double>(products)) * weight_spread * spread_;
        const double wanted = layer.relu ? unsigned_spread : signed_spread;
        const double shift = std::max(0.0, std::nearbyint(std::log2(sum / wanted)));
        spread_ = sum / std::exp2(shift);
        rectify(layer);
        divide(layer.name, shift);
    }

    /// Half of the values become 0.
    void rectify(const Layer& layer) { spread_ /= layer.relu ? std::sqrt(2.0) : 1.0; }

    void divide(const std::string& name, double shift) {
        append("Div", name + "/shift",
               {last_, constant(name + "/shift_c", ElementType::Float32, {}, {std::exp2(shift)})});
        append("Floor", name + "/floor", {last_});
    }

    /// Maps are unsigned after relu, as are pools of them; all others are signed.
    void clip(const Layer& layer) { clip_to(layer.name, layer.relu); }
    void clip_to(const std::string& name, bool is_unsigned) {
        is_unsigned ? append_clip(name + "/clip", 0, 255) : append_clip(name + "/clip", -128, 127);
    }
    void append_clip(const std::string& name, double low, double high) {
        const std::string low_c = constant(name + "/low", ElementType::Float32, {}, {low});
        const std::string high_c = constant(name + "/high", ElementType::Float32, {}, {high});
        append("Clip", name, {last_, low_c, high_c});
    }

    void append(const std::string& op, const std::string& name,
                const std::vector<std::string>& inputs) {
        last_ = name + "_y";
        graph_.nodes.push_back({op, name, inputs, {last_}, {}});
    }

    std::string constant(const std::string& name, ElementType element, const Sizes& sizes,
                         std::vector<double> numbers) {
        graph_.constants[name] = {{element, sizes}, std::move(numbers)};
        return name;
    }
    template <class At>
    std::string made_constant(const std::string& name, const Sizes& sizes, const At& at) {
        std::vector<double> numbers(count_elements(sizes));
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = static_cast<double>(at(i));
        }
        return constant(name, ElementType::Float32, sizes, std::move(numbers));
    }
    SyntheticLayer numbers_of(std::size_t index) const {
        return {network_.seed, index, network_.layers[index].zeros.value_or(network_.zeros)};
    }

    const Network& network_;
    std::vector<LayerShapes> shapes_;
    Graph graph_;
    std::vector<std::string> outputs_;
    std::vector<std::string> cubes_;  ///< the same, as later layers read them
    std::vector<std::size_t> readers_;
    std::vector<bool> joined_;
    std::vector<bool> unsigned_;
    std::vector<double> spreads_;  ///< expected, per layer result
    std::string last_;
    double spread_ = input_spread;  ///< of `last_`
};

}  // namespace

Graph network_graph(const Network& network) { return GraphBuilder(network).build(); }

}  // namespace npuscope
