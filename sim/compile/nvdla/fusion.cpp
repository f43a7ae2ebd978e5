// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/fusion.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/compile/nvdla/conv_planner.h"
#include "sim/compile/nvdla/pdp_planner.h"

namespace npuscope {
namespace {

class Fusions {
 public:
    Fusions(const Network& network, const std::vector<LayerShapes>& shapes, const NpuConfig& npu)
        : network_(network), shapes_(shapes), npu_(npu), readers_(shapes.size(), 0) {
        for (const LayerShapes& layer : shapes) {
            for (const std::optional<std::size_t> source : layer.sources) {
                readers_[source.value_or(0)] += source ? 1U : 0U;
            }
        }
        for (const std::size_t output : network_outputs(network, shapes)) {
            ++readers_[output];  // it must lie in memory
        }
    }

    /// The convolution that an add or a pooling layer can be joined to.
    std::optional<std::size_t> before(std::size_t index) const {
        const LayerShapes& shapes = shapes_[index];
        switch (network_.layers[index].kind) {
            case LayerKind::Add: {
                const auto later =
                    std::max(computed(shapes.sources[0]), computed(shapes.sources[1]));
                const bool fits = read_once(later) && can_fuse_residual(npu_.sdp);
                return fits && may_join(*later) ? later : std::nullopt;
            }
            case LayerKind::MaxPool:
            case LayerKind::AvgPool:
                return read_once(shapes.sources.front()) && can_fuse_pool(shapes, npu_)
                           ? shapes.sources.front()
                           : std::nullopt;
            case LayerKind::Conv:
            case LayerKind::Fc:
            case LayerKind::Input:
                break;
        }
        return std::nullopt;
    }

    /// What a model clips first must be clipped first.
    bool may_join(std::size_t conv) const {
        return network_.numbers.empty() || network_.numbers[conv].joins_unclipped;
    }

 private:
    /// Inputs are there before any layer.
    std::optional<std::size_t> computed(std::optional<std::size_t> source) const {
        return source && network_.layers[*source].kind == LayerKind::Input ? std::nullopt : source;
    }
    bool read_once(std::optional<std::size_t> source) const {
        return source && readers_[*source] == 1 && network_.layers[*source].kind == LayerKind::Conv;
    }

    const Network& network_;
    const std::vector<LayerShapes>& shapes_;
    const NpuConfig& npu_;
    std::vector<std::size_t> readers_;
};

}  // namespace

std::vector<std::optional<std::size_t>> choose_fusions(const Network& network,
                                                       const std::vector<LayerShapes>& shapes,
                                                       const NpuConfig& npu) {
    const Fusions fusions(network, shapes, npu);
    std::vector<std::optional<std::size_t>> fused(shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (const auto conv = fusions.before(i); conv && !fused[*conv]) {
            fused[*conv] = i;
        }
    }
    return fused;
}

std::optional<Diagnostic> missing_fusion(const Network& network,
                                         const std::vector<std::optional<std::size_t>>& fused) {
    for (std::size_t i = 0; i < network.numbers.size(); ++i) {
        if (network.numbers[i].joins_unclipped && !fused[i]) {
            const std::string& name = network.layers[i].name;
            return Diagnostic{.sentence = fmt::format("layer '{}': its result is added to another "
                                                      "before it is clipped, which this NPU's SDP "
                                                      "cannot",
                                                      name),
                              .remedy = "clip it to int8 before the addition",
                              .operation = name};
        }
    }
    return std::nullopt;
}

}  // namespace npuscope
