// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/plan/reference_network.h"

#include <algorithm>

#include "models/arith/fixed_point.h"
#include "models/data/weight_layout.h"
#include "models/pdp/pdp_math.h"
#include "sim/plan/rescale.h"
#include "sim/workload/network_shapes.h"

namespace npuscope::reference {
namespace {

constexpr std::uint32_t atom = 8;

std::span<const std::uint8_t> image_of(const Plan& plan, const std::string& name) {
    return std::ranges::find(plan.images, name, &PlannedImage::name)->image.bytes;
}

const PlannedLayer* planned(const Plan& plan, const std::string& name) {
    const auto found = std::ranges::find(plan.layers, name, &PlannedLayer::name);
    return found == plan.layers.end() ? nullptr : &*found;
}

std::int8_t narrow(std::int64_t value, const Conversion& conversion) {
    return static_cast<std::int8_t>(convert(value, conversion, output_convertor_int8));
}

/// Weights as they are stored: one surface for each operation's kernels, 256 bytes aligned. The
/// last operation may have fewer of them.
class Weights {
 public:
    Weights(std::span<const std::uint8_t> bytes, KernelShape part, std::uint32_t kernels) {
        const WeightLayout full = direct_weights(part, DatapathConfig{});
        const std::size_t pitch = round_up(full.stored_bytes().value, 256);
        const std::uint32_t each = part.kernels;
        for (std::uint32_t first = 0; first < kernels; first += each) {
            part.kernels = std::min(each, kernels - first);
            parts_.push_back(decode_weights<std::int8_t>(direct_weights(part, DatapathConfig{}),
                                                         bytes.subspan(first / each * pitch)));
        }
    }
    const Kernels<std::int8_t>& part(std::uint32_t i) const { return parts_.at(i); }

 private:
    std::vector<Kernels<std::int8_t>> parts_;
};

class Reference {
 public:
    Reference(const Network& network, const Plan& plan)
        : network_(network), plan_(plan), shapes_(network_shapes(network)) {
        const FeatureCube cube = packed_cube(Address(0), network.input.shape(), Bytes(atom));
        results_["input"] = unpack_cube<std::int8_t>(cube, image_of(plan, "input"));
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

    void run_layer(std::size_t index) {
        const Layer& layer = network_.layers[index];
        switch (layer.kind) {
            case LayerKind::Conv:
            case LayerKind::Fc:
                if (planned(plan_, layer.name) == nullptr) {
                    pending_[layer.name] = index;  // until its add
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
        }
    }

    Tensor<std::int8_t> add(std::size_t index) {
        const bool relu = network_.layers[index].relu;
        for (const std::size_t which : {0U, 1U}) {
            const auto fused = pending_.find(source_name(index, which));
            if (fused != pending_.end()) {
                return convolve(fused->second, &results_.at(source_name(index, 1 - which)), relu);
            }
        }
        const auto& first = results_.at(source_name(index, 0));
        const auto& second = results_.at(source_name(index, 1));
        Tensor<std::int8_t> sum(first.shape);
        for (std::size_t i = 0; i < sum.values.size(); ++i) {
            const int value = first.values[i] + second.values[i];
            sum.values[i] = narrow(relu ? std::max(value, 0) : value, rescale_add());
        }
        return sum;
    }

    Tensor<std::int8_t> pool(std::size_t index) {
        const auto fused = pending_.find(source_name(index, 0));
        const Tensor<std::int8_t> input = fused != pending_.end()
                                              ? convolve(fused->second, nullptr, false)
                                              : results_.at(source_name(index, 0));
        Tensor<std::int8_t> output(shapes_[index].output);
        for (std::uint32_t c = 0; c < output.shape.channels; ++c) {
            for (std::uint32_t y = 0; y < output.shape.height; ++y) {
                for (std::uint32_t x = 0; x < output.shape.width; ++x) {
                    output.at(c, y, x) = pool_window(index, input, {c, y, x});
                }
            }
        }
        return output;
    }

    struct Pixel {
        std::uint32_t c;
        std::uint32_t y;
        std::uint32_t x;
    };
    std::int8_t pool_window(std::size_t index, const Tensor<std::int8_t>& input, Pixel at) const {
        const LayerWindow& window = shapes_[index].window;
        int most = -128;
        int sum = 0;
        for (std::uint32_t tap = 0; tap < window.rows * window.columns; ++tap) {
            const std::uint32_t y = at.y * window.stride_y + tap / window.columns - window.pad_top;
            const std::uint32_t x = at.x * window.stride_x + tap % window.columns - window.pad_left;
            if (y < input.shape.height && x < input.shape.width) {
                most = std::max<int>(most, input.at(at.c, y, x));
                sum += input.at(at.c, y, x);
            }
        }
        const auto recip = [](std::uint32_t size) { return (65536 + size / 2) / size; };
        return network_.layers[index].kind == LayerKind::MaxPool
                   ? static_cast<std::int8_t>(most)
                   : pdp_average(sum, recip(window.columns), recip(window.rows));
    }

    /// Channels of the layer to where they are stored, in channels of whole atoms.
    std::uint32_t stored_channel(const std::string& name, std::uint32_t c) const {
        const PlannedLayer* layer = planned(plan_, name);
        const std::uint32_t lanes = layer == nullptr ? atom : layer->stored.lanes;
        return c / lanes * atom + c % lanes;
    }

    Tensor<std::int8_t> convolve(std::size_t index, const Tensor<std::int8_t>* residual,
                                 bool relu_behind);
    std::int64_t accumulate(std::size_t index, const Weights& weights, Pixel at) const;
    KernelShape part_shape(std::size_t index) const;
    std::uint32_t lanes_of(std::size_t index) const {
        const auto& operation = std::get<ConvOperation>(first_operation(index).job);
        return std::min(atom, operation.conv.cdma.kernels);
    }
    const Operation& first_operation(std::size_t index) const {
        const std::string& name = network_.layers[index].name;
        return *std::ranges::find_if(plan_.operations, [&](const Operation& operation) {
            return operation.name == name || operation.name.starts_with(name + " ");
        });
    }

    const Network& network_;
    const Plan& plan_;
    std::vector<LayerShapes> shapes_;
    Results results_;
    std::map<std::string, std::size_t> pending_;
};

KernelShape Reference::part_shape(std::size_t index) const {
    return std::get<ConvOperation>(first_operation(index).job).conv.csc.kernels;
}

std::int64_t Reference::accumulate(std::size_t index, const Weights& weights, Pixel at) const {
    const Layer& layer = network_.layers[index];
    const std::string& source = source_name(index, 0);
    const auto& input = results_.at(source);
    const LayerWindow& window = shapes_[index].window;
    const std::uint32_t inside = input.shape.channels / layer.groups;
    const std::uint32_t group = at.c / (shapes_[index].output.channels / layer.groups);
    const KernelShape part = part_shape(index);
    const std::uint32_t kernel_part = at.c / part.kernels;
    const std::uint32_t first = layer.groups == 1 ? 0 : kernel_part * part.channels;
    std::int64_t sum = 0;
    for (std::uint32_t c = group * inside; c < (group + 1) * inside; ++c) {
        for (std::uint32_t tap = 0; tap < window.rows * window.columns; ++tap) {
            const std::uint32_t y = at.y * window.stride_y + tap / window.columns - window.pad_top;
            const std::uint32_t x = at.x * window.stride_x + tap % window.columns - window.pad_left;
            if (y < input.shape.height && x < input.shape.width) {
                const std::int8_t weight =
                    weights.part(kernel_part)
                        .at(at.c % part.kernels, stored_channel(source, c) - first,
                            tap / window.columns, tap % window.columns);
                sum += std::int64_t{weight} * input.at(c, y, x);
            }
        }
    }
    return sum;
}

Tensor<std::int8_t> Reference::convolve(std::size_t index, const Tensor<std::int8_t>* residual,
                                        bool relu_behind) {
    const Layer& layer = network_.layers[index];
    const std::uint32_t inside = shapes_[index].input.channels / layer.groups;
    const Rescale rescale = rescale_sum(std::uint64_t{inside} * shapes_[index].window.rows *
                                        shapes_[index].window.columns);
    const Weights weights(image_of(plan_, layer.name + "_weights"), part_shape(index),
                          layer.kernels);
    const auto bias =
        layer.bias ? image_of(plan_, layer.name + "_bias") : std::span<const std::uint8_t>{};
    const std::uint32_t lanes = lanes_of(index);
    Tensor<std::int8_t> output(shapes_[index].output);
    for (std::size_t i = 0; i < output.values.size(); ++i) {
        const std::uint32_t pixels = output.shape.height * output.shape.width;
        const auto c = static_cast<std::uint32_t>(i / pixels);
        const auto pixel = static_cast<std::uint32_t>(i % pixels);
        std::int64_t value =
            accumulate(index, weights, {c, pixel / output.shape.width, pixel % output.shape.width});
        if (layer.bias) {
            const std::size_t at = 2 * (std::size_t{c} / lanes * atom + c % lanes);
            const auto word = static_cast<std::int16_t>(bias[at] | bias[at + 1] << 8);
            value += std::int64_t{word} << rescale.bias_shift;
        }
        value = layer.relu ? std::max<std::int64_t>(value, 0) : value;
        if (residual != nullptr) {
            value += std::int64_t{residual->values[i]} << rescale.residual_shift;
            value = relu_behind ? std::max<std::int64_t>(value, 0) : value;
        }
        output.values[i] = narrow(value, rescale.convertor);
    }
    return output;
}

}  // namespace

Results run_network(const Network& network, const Plan& plan) {
    return Reference(network, plan).run();
}

std::vector<std::uint8_t> bytes_of(const Tensor<std::int8_t>& result, const StoredCube& stored) {
    Tensor<std::int8_t> lanes(stored.cube.shape);
    const std::uint32_t pixels = result.shape.height * result.shape.width;
    for (std::uint32_t c = 0; c < result.shape.channels; ++c) {
        const std::size_t to = std::size_t{c} / stored.lanes * atom + c % stored.lanes;
        std::copy_n(result.values.begin() + static_cast<std::ptrdiff_t>(std::size_t{c} * pixels),
                    pixels, lanes.values.begin() + static_cast<std::ptrdiff_t>(to * pixels));
    }
    std::vector<std::uint8_t> bytes(stored.cube.extent().value);
    pack_cube(stored.cube, lanes, bytes);
    return bytes;
}

}  // namespace npuscope::reference
