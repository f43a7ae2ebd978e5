// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/calibration.h"

#include <algorithm>

#include "sim/model/host_values.h"

namespace npuscope {

std::vector<double> kernel_means(const GraphValue& value, bool kernels_last) {
    const Sizes& sizes = value.type.sizes;
    const std::size_t axis = kernels_last ? sizes.size() - 1 : 1;
    const auto kernels = static_cast<std::size_t>(sizes[axis]);
    std::size_t step = 1;
    for (std::size_t i = axis + 1; i < sizes.size(); ++i) {
        step *= static_cast<std::size_t>(sizes[i]);
    }
    std::vector<double> means(kernels);
    for (std::size_t i = 0; i < value.numbers.size(); ++i) {
        means[i / step % kernels] += value.numbers[i];
    }
    for (double& mean : means) {
        mean *= static_cast<double>(kernels) / static_cast<double>(value.numbers.size());
    }
    return means;
}

Calibration calibrate(const Graph& graph, const Places& places, const std::vector<Case>& cases) {
    Calibration found;
    for (const Case& one : cases) {
        const HostValues values = run_on_host(graph, one);
        for (const auto& [tensor, grid] : places.grids) {
            found.tensors[tensor].add(values.at(tensor).numbers);
        }
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            if (places.roles[i] != Role::Product) {
                continue;
            }
            const GraphNode& node = graph.nodes[i];
            std::vector<double>& sums = found.means[node.outputs.front()];
            const std::vector<double> means =
                kernel_means(values.at(node.outputs.front()), node.op == "MatMul");
            sums.resize(means.size());
            for (std::size_t k = 0; k < means.size(); ++k) {
                sums[k] += means[k] / static_cast<double>(cases.size());
            }
        }
    }
    return found;
}

}  // namespace npuscope
