// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/plain_network.h"

#include <algorithm>
#include <limits>

#include "sim/compile/nvdla/synthetic_values.h"
#include "sim/model/network.h"

namespace npuscope::plain {
namespace {

__extension__ using Wide = __int128;  // no intermediate value can overflow

Wide saturate(Wide value, unsigned bits) {
    const Wide top = (Wide{1} << (bits - 1)) - 1;
    return value > top ? top : value < -top - 1 ? -top - 1 : value;
}

/// value / 2^shift, ties away from zero. source: NVDLA precision page
Wide round_shift(Wide value, unsigned shift) {
    if (shift == 0) {
        return value;
    }
    const Wide half = Wide{1} << (shift - 1);
    return value >= 0 ? (value + half) >> shift : -((half - value) >> shift);
}

/// (value - offset) * scale, shifted right with ties away from zero, saturated to int8.
std::int8_t narrow(std::int64_t value, const Conversion& conversion) {
    const Wide product = (Wide{value} - conversion.offset) * conversion.scale;
    return static_cast<std::int8_t>(saturate(round_shift(product, conversion.shift), 8));
}

Values empty(const Shape& shape) {
    Values values{shape.channels, shape.height, shape.width, {}};
    values.values.resize(std::size_t{shape.channels} * shape.height * shape.width);
    return values;
}

class PlainNetwork {
 public:
    PlainNetwork(const Network& network, const Plan& plan, const Results& given)
        : network_(network), plan_(plan), given_(given), shapes_(network_shapes(network)) {
        const Shape input = network.input.shape();
        results_["input"] = input_of("input", {network.seed, input}, input);
    }

    Results run() {
        for (std::size_t i = 0; i < network_.layers.size(); ++i) {
            run_layer(i);
        }
        return std::move(results_);
    }

 private:
    const std::string& source_name(std::size_t index, std::size_t which) const {
        static const std::string input = "input";
        const auto source = shapes_[index].sources.at(which);
        return source ? network_.layers[*source].name : input;
    }
    bool planned(const std::string& name) const {
        return std::ranges::find(plan_.layers, name, &PlannedLayer::name) != plan_.layers.end();
    }

    Values input_of(const std::string& name, const InputValues& made, const Shape& shape) const {
        if (const auto given = given_.find(name); given != given_.end()) {
            return given->second;
        }
        Values input = empty(shape);
        for (std::uint32_t c = 0; c < input.channels; ++c) {
            for (std::uint32_t y = 0; y < input.height; ++y) {
                for (std::uint32_t x = 0; x < input.width; ++x) {
                    input.at(c, y, x) = made.at(c, y, x);
                }
            }
        }
        return input;
    }

    void run_layer(std::size_t index) {
        const Layer& layer = network_.layers[index];
        switch (layer.kind) {
            case LayerKind::Conv:
            case LayerKind::Fc:
                if (!planned(layer.name)) {
                    pending_[layer.name] = index;  // until its add or pool
                    return;
                }
                results_[layer.name] = convolve(index, nullptr, false);
                return;
            case LayerKind::Add:
                results_[layer.name] = add(index);
                return;
            case LayerKind::MaxPool:
            case LayerKind::AvgPool:
                results_[layer.name] = pool(index);
                return;
            case LayerKind::Mul:
                results_[layer.name] = multiply(index);
                return;
            case LayerKind::Concat:
                results_[layer.name] = concat(index);
                return;
            case LayerKind::Slice:
                results_[layer.name] = slice(index);
                return;
            case LayerKind::Lookup:
                results_[layer.name] = look_up(index);
                return;
            case LayerKind::Input:
                results_[layer.name] =
                    input_of(layer.name, {network_.seed, shapes_[index].output, index},
                             shapes_[index].output);
                return;
        }
    }

    Values add(std::size_t index) {
        const bool relu = network_.layers[index].relu;
        for (const std::size_t which : {0U, 1U}) {
            const auto fused = pending_.find(source_name(index, which));
            if (fused != pending_.end()) {
                return convolve(fused->second, &results_.at(source_name(index, 1 - which)), relu);
            }
        }
        const Values& first = results_.at(source_name(index, 0));
        const Values& second = results_.at(source_name(index, 1));
        Values sum = first;
        for (std::size_t i = 0; i < sum.values.size(); ++i) {
            const int value = first.values[i] + second.values[i];
            sum.values[i] = narrow(relu ? std::max(value, 0) : value, rescale_add());
        }
        return sum;
    }

    Values multiply(std::size_t index) {
        Values product = results_.at(source_name(index, 0));
        const Values& other = results_.at(source_name(index, 1));
        const std::size_t plane = product.values.size() / other.values.size();
        for (std::size_t i = 0; i < product.values.size(); ++i) {
            const int exact = product.values[i] * other.values[i / plane];  // of two bytes
            product.values[i] = narrow(exact, rescale_mul());
        }
        return product;
    }

    Values concat(std::size_t index) {
        Values joined = empty(shapes_[index].output);
        auto at = joined.values.begin();
        for (std::size_t i = 0; i < shapes_[index].sources.size(); ++i) {
            at = std::ranges::copy(results_.at(source_name(index, i)).values, at).out;
        }
        return joined;
    }

    Values slice(std::size_t index) {
        const Values& whole = results_.at(source_name(index, 0));
        Values part = empty(shapes_[index].output);
        for (std::uint32_t c = 0; c < part.channels; ++c) {
            for (std::uint32_t y = 0; y < part.height; ++y) {
                for (std::uint32_t x = 0; x < part.width; ++x) {
                    part.at(c, y, x) = whole.at(c, y, x);
                }
            }
        }
        return part;
    }

    Values look_up(std::size_t index) {
        const std::vector<std::int8_t> table = layer_table(network_, index);
        Values result = results_.at(source_name(index, 0));
        for (std::int8_t& value : result.values) {
            value = table[static_cast<std::size_t>(value + 128)];
        }
        return result;
    }

    struct Pixel {
        std::uint32_t c;
        std::uint32_t y;
        std::uint32_t x;
    };

    Values pool(std::size_t index) {
        const auto fused = pending_.find(source_name(index, 0));
        const Values input = fused != pending_.end() ? convolve(fused->second, nullptr, false)
                                                     : results_.at(source_name(index, 0));
        Values output = empty(shapes_[index].output);
        for (std::uint32_t c = 0; c < output.channels; ++c) {
            for (std::uint32_t y = 0; y < output.height; ++y) {
                for (std::uint32_t x = 0; x < output.width; ++x) {
                    output.at(c, y, x) = pool_window(index, input, {c, y, x});
                }
            }
        }
        return output;
    }

    std::int8_t pool_window(std::size_t index, const Values& input, Pixel at) const {
        const LayerWindow& window = shapes_[index].window;
        int most = -128;
        int sum = 0;
        for (std::uint32_t tap = 0; tap < window.rows * window.columns; ++tap) {
            const std::uint32_t y = at.y * window.stride_y + tap / window.columns - window.pad_top;
            const std::uint32_t x = at.x * window.stride_x + tap % window.columns - window.pad_left;
            if (y < input.height && x < input.width) {
                most = std::max<int>(most, input.at(at.c, y, x));
                sum += input.at(at.c, y, x);
            }
        }
        if (network_.layers[index].kind == LayerKind::MaxPool) {
            return static_cast<std::int8_t>(most);
        }
        // two multiplications by 16-bit reciprocals, each rounded
        const auto reciprocal = [](std::uint32_t size) { return (65536 + size / 2) / size; };
        const Wide lines = round_shift(Wide{sum} * reciprocal(window.columns), 16);
        return static_cast<std::int8_t>(round_shift(lines * reciprocal(window.rows), 16));
    }

    /// Weights by kernel, channel of its group, row and column: generated once.
    std::vector<std::int8_t> weights_of(std::size_t index, const LayerValues& values) const {
        const Layer& layer = network_.layers[index];
        const LayerWindow& window = shapes_[index].window;
        const std::uint32_t inside = shapes_[index].input.channels / layer.groups;
        std::vector<std::int8_t> weights;
        weights.reserve(std::size_t{layer.kernels} * inside * window.rows * window.columns);
        for (std::uint32_t k = 0; k < layer.kernels; ++k) {
            for (std::uint32_t c = 0; c < inside; ++c) {
                for (std::uint32_t tap = 0; tap < window.rows * window.columns; ++tap) {
                    weights.push_back(static_cast<std::int8_t>(
                        values.weight(k, c, tap / window.columns, tap % window.columns)));
                }
            }
        }
        return weights;
    }

    std::int64_t accumulate(std::size_t index, const std::vector<std::int8_t>& weights,
                            Pixel at) const {
        const Layer& layer = network_.layers[index];
        const Values& input = results_.at(source_name(index, 0));
        const LayerWindow& window = shapes_[index].window;
        const std::uint32_t inside = input.channels / layer.groups;
        const std::uint32_t group = at.c / (layer.kernels / layer.groups);
        const std::int8_t* weight =
            weights.data() + std::size_t{at.c} * inside * window.rows * window.columns;
        std::int64_t sum = 0;
        for (std::uint32_t c = 0; c < inside; ++c) {
            for (std::uint32_t r = 0; r < window.rows; ++r) {
                for (std::uint32_t s = 0; s < window.columns; ++s, ++weight) {
                    const std::uint32_t y =
                        at.y * window.stride_y + r * window.dilation_y - window.pad_top;
                    const std::uint32_t x =
                        at.x * window.stride_x + s * window.dilation_x - window.pad_left;
                    if (y < input.height && x < input.width) {
                        sum += std::int64_t{*weight} * input.at(group * inside + c, y, x);
                    }
                }
            }
        }
        return sum;
    }

    /// Whether the plan transforms the layer's kernels.
    bool transforms(std::size_t index) const {
        const std::string& name = network_.layers[index].name;
        return std::ranges::any_of(plan_.operations, [&](const Operation& operation) {
            const auto* conv = std::get_if<ConvOperation>(&operation.job);
            const bool own = operation.name == name || operation.name.starts_with(name + " ");
            return own && conv != nullptr && conv->conv.csc.mode == ConvMode::Winograd;
        });
    }

    /// By patches: B^T d B shifted right by two, G w G^T halved, both rounded to int8; A^T m A.
    std::int64_t accumulate_patch(std::size_t index, const LayerValues& values, Pixel at) const {
        static constexpr int bt[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
        static constexpr int g2[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
        static constexpr int a[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
        const Values& input = results_.at(source_name(index, 0));
        const LayerWindow& window = shapes_[index].window;
        const auto cut = [](std::int64_t value, unsigned bits) {
            return static_cast<std::int64_t>(saturate(round_shift(value, bits), 8));
        };
        const auto datum = [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
            const std::uint32_t row = at.y / 2 * 2 + y - window.pad_top;
            const std::uint32_t column = at.x / 2 * 2 + x - window.pad_left;
            return row < input.height && column < input.width ? input.at(c, row, column) : 0;
        };
        std::int64_t sum = 0;
        for (std::uint32_t c = 0; c < input.channels; ++c) {
            for (std::uint32_t i = 0; i < 16; ++i) {
                const std::uint32_t p = i / 4;
                const std::uint32_t q = i % 4;
                std::int64_t d = 0;
                for (std::uint32_t j = 0; j < 16; ++j) {
                    d += std::int64_t{bt[p][j / 4]} * bt[q][j % 4] * datum(c, j / 4, j % 4);
                }
                std::int64_t w = 0;
                for (std::uint32_t j = 0; j < 9; ++j) {
                    w += std::int64_t{g2[p][j / 3]} * g2[q][j % 3] *
                         values.weight(at.c, c, j / 3, j % 3);
                }
                sum += std::int64_t{a[at.y % 2][p]} * a[at.x % 2][q] * cut(d, 2) * cut(w, 3);
            }
        }
        return sum;
    }

    /// A bias or a residual at the scale of sums that are an eighth of the direct ones.
    static std::int64_t scaled(std::int64_t value, unsigned shift, bool eighth) {
        const unsigned less = eighth ? 3 : 0;
        return shift >= less ? value * (std::int64_t{1} << (shift - less))
                             : static_cast<std::int64_t>(round_shift(value, less - shift));
    }

    /// The lower limit of values that a ReLU may follow.
    static std::int64_t least(bool relu) {
        return relu ? 0 : std::numeric_limits<std::int64_t>::min();
    }

    Values convolve(std::size_t index, const Values* residual, bool relu_after) const {
        const Layer& layer = network_.layers[index];
        const LayerWindow& window = shapes_[index].window;
        const LayerValues values = layer_values(network_, shapes_[index], index);
        const std::uint64_t products = std::uint64_t{shapes_[index].input.channels} / layer.groups *
                                       window.rows * window.columns;
        Rescale rescale = rescale_sum(products, values.zeros());
        const bool patches = transforms(index);
        rescale.convertor.shift -= patches ? 3 : 0;
        const std::vector<std::int8_t> weights = weights_of(index, values);
        const std::int64_t least_sum = least(layer.relu);
        Values output = empty(shapes_[index].output);
        for (std::uint32_t k = 0; k < output.channels; ++k) {
            const std::int64_t bias =
                layer.bias ? scaled(values.bias(k, rescale.bias_limit), rescale.bias_shift, patches)
                           : 0;
            for (std::uint32_t y = 0; y < output.height; ++y) {
                for (std::uint32_t x = 0; x < output.width; ++x) {
                    std::int64_t value = patches ? accumulate_patch(index, values, {k, y, x})
                                                 : accumulate(index, weights, {k, y, x});
                    value = std::max(value + bias, least_sum);
                    if (residual != nullptr) {
                        value += scaled(residual->at(k, y, x), rescale.residual_shift, patches);
                        value = std::max(value, least(relu_after));
                    }
                    output.at(k, y, x) = narrow(value, rescale.convertor);
                }
            }
        }
        return output;
    }

    const Network& network_;
    const Plan& plan_;
    const Results& given_;
    std::vector<LayerShapes> shapes_;
    Results results_;
    std::map<std::string, std::size_t> pending_;
};

}  // namespace

Results run_network(const Network& network, const Plan& plan, const Results& given) {
    return PlainNetwork(network, plan, given).run();
}

}  // namespace npuscope::plain
