// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/compile/nvdla/random_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "sim/model/network.h"

namespace npuscope::sample {
namespace {

class NetworkMaker {
 public:
    explicit NetworkMaker(std::uint64_t seed) : random_(seed) {
        network_.name = fmt::format("random {}", seed);
        network_.seed = static_cast<std::uint32_t>(seed);
        network_.zeros = chance(30) ? size(1, 95) : 0;
        network_.input.channels = chance(50) ? size(1, 4) : size(5, 40);
        network_.input.height = size(6, 24);
        network_.input.width = size(6, 24);
    }

    Network make() {
        const std::uint32_t layers = size(2, 6);
        while (network_.layers.size() < layers) {
            add_layer();
        }
        if (chance(40)) {
            next(LayerKind::Lookup);
        }
        if (chance(30)) {
            add_pair(LayerKind::Mul, last_shape());
        }
        if (chance(40)) {
            add_concat(last_shape());
        }
        if (chance(50)) {
            Layer& fc = next(LayerKind::Fc);
            fc.kernels = size(1, 40);
            fc.relu = chance(50);
        }
        return network_;
    }

 private:
    bool chance(std::uint32_t percent) { return size(1, 100) <= percent; }
    // not std::uniform_int_distribution, which differs from library to library
    std::uint32_t size(std::uint32_t least, std::uint32_t most) {
        return least + static_cast<std::uint32_t>(random_() % (most - least + 1));
    }

    Layer& next(LayerKind kind) {
        Layer& layer = network_.layers.emplace_back();
        layer.name = fmt::format("layer{}", network_.layers.size());
        layer.kind = kind;
        return layer;
    }

    Shape last_shape() const {
        return network_.layers.empty() ? network_.input.shape()
                                       : network_shapes(network_).back().output;
    }

    void add_layer() {
        const Shape input = last_shape();
        const std::uint32_t kind = size(1, 10);
        if (kind <= 7 || network_.layers.empty() || std::min(input.height, input.width) < 4) {
            add_convolution(input);
        } else if (kind <= 9) {
            Layer& pool = next(chance(50) ? LayerKind::MaxPool : LayerKind::AvgPool);
            pool.kernel = size(2, 3);
            pool.stride = size(1, pool.kernel);
            pool.padding = pool.kernel == 3 && pool.kind == LayerKind::MaxPool ? size(0, 1) : 0;
        } else {
            add_pair(LayerKind::Add, input).relu = chance(50);
        }
    }

    void add_convolution(const Shape& input) {
        Layer& conv = next(LayerKind::Conv);
        const std::uint32_t least = std::min(input.height, input.width);
        conv.kernel = size(1, std::min(5U, least));
        if (chance(20)) {
            conv.kernel_width = size(1, std::min(5U, least));
        }
        conv.stride = chance(70) ? 1 : size(1, std::min(3U, conv.kernel + 1));
        conv.padding = size(0, std::min(conv.kernel, conv.kernel_width.value_or(5)) - 1);
        conv.kernels = size(1, 48);
        conv.bias = chance(80);
        conv.relu = chance(60);
        if (chance(25)) {
            conv.groups = chance(50) || input.channels % 2 != 0 ? input.channels : 2;
            conv.kernels = conv.groups * size(1, 2);
        }
        if (chance(20)) {
            conv.zeros = size(0, 100);
        }
    }

    /// The last result and an earlier one of its shape, or twice the same.
    Layer& add_pair(LayerKind kind, const Shape& input) {
        const auto shapes = network_shapes(network_);
        std::string other = network_.layers.back().name;
        const std::string last = other;
        for (std::size_t i = 0; i + 1 < shapes.size(); ++i) {
            if (shapes[i].output == input) {
                other = network_.layers[i].name;
            }
        }
        Layer& pair = next(kind);
        pair.from = {last, other};
        return pair;
    }

    /// The last result after another one of its height and width and of whole atoms, if there is one.
    void add_concat(const Shape& input) {
        constexpr std::uint32_t atoms = 32;
        const auto shapes = network_shapes(network_);
        const std::string last = network_.layers.back().name;
        std::string other;
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            const Shape& shape = shapes[i].output;
            if (shape.height == input.height && shape.width == input.width &&
                shape.channels % atoms == 0) {
                other = network_.layers[i].name;
            }
        }
        if (!other.empty()) {
            next(LayerKind::Concat).from = {other, last};
        }
    }

    std::mt19937_64 random_;
    Network network_;
};

}  // namespace

Network random_network(std::uint64_t seed) { return NetworkMaker(seed).make(); }

}  // namespace npuscope::sample
