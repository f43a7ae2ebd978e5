// SPDX-License-Identifier: Apache-2.0
#include "sim/model/flattened_cube.h"

namespace npuscope {
namespace {

bool is_flattening(const std::string& op) {
    return op == "Flatten" || op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" ||
           op == "Identity";
}

}  // namespace

CubeRead flattened_cube(const GraphView& view, CubeRead read) {
    if (read.cube[0] != 1) {
        return read;
    }
    std::string tensor = read.tensor;
    while (const auto producer = view.producer(tensor)) {
        const GraphNode& node = view.node(*producer);
        if (!is_flattening(node.op) || view.graph().constant(node.inputs.front()) != nullptr) {
            break;
        }
        tensor = node.inputs.front();
        const Sizes& sizes = view.sizes(tensor);
        if (sizes.size() == 4 && sizes[0] == 1) {
            read = {tensor, sizes};
        }
    }
    return read;
}

}  // namespace npuscope
