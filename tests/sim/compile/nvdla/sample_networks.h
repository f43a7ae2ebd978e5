// SPDX-License-Identifier: Apache-2.0
// Small networks for tests of the planner.
#pragma once

#include <string>
#include <vector>

#include "sim/compile/nvdla/network_planner.h"

namespace npuscope::sample {

/// Whatever a planner can meet: odd sizes, strides, padding, depthwise and grouped convolutions, a
/// residual that is fused and one that is not, pooling of both kinds, a fully connected end.
inline Network mixed_network() {
    return parse_network(R"(
name: mixed
seed: 3
input: {channels: 5, height: 37, width: 37}
layers:
  - {name: first, kind: conv, kernels: 16, kernel: 3, padding: 1, relu: true}
  - {name: depthwise, kind: conv, kernels: 16, kernel: 3, stride: 2, padding: 1, groups: 16}
  - {name: shortcut, kind: conv, from: [first], kernels: 20, stride: 2, bias: false}
  - {name: wide, kind: conv, from: [depthwise], kernels: 20, kernel: 1}
  - {name: block, kind: add, from: [wide, shortcut], relu: true}
  - {name: pooled, kind: max_pool, kernel: 3, padding: 1}
  - {name: sum, kind: add, from: [block, pooled]}
  - {name: more, kind: conv, kernels: 32, kernel: 5, stride: 2, padding: 2, relu: true, bias: false}
  - {name: grouped, kind: conv, kernels: 48, kernel: 3, padding: 1, groups: 2, relu: true}
  - {name: average, kind: avg_pool, kernel: 3, stride: 2}
  - {name: fc, kind: fc, kernels: 12}
  - {name: last, kind: fc, kernels: 9}
)",
                         "mixed.yaml");
}

/// Windows that are not square, and pooling on the way to memory.
inline Network oblong_network() {
    return parse_network(R"(
name: oblong
seed: 5
input: {channels: 9, height: 22, width: 13}
layers:
  - {name: first, kind: conv, kernels: 20, kernel: 5, kernel_width: 2, padding: 2, padding_width: 1, padding_width_end: 0, relu: true}
  - {name: rows, kind: max_pool, kernel: 2, kernel_width: 1, stride: 2, stride_width: 1}
  - {name: second, kind: conv, kernels: 16, kernel: 2, kernel_width: 4, stride: 1, stride_width: 3, padding: 1, padding_end: 0, relu: true}
  - {name: depthwise, kind: conv, kernels: 16, kernel: 3, padding: 1, groups: 16}
  - {name: apart, kind: avg_pool, kernel: 1, kernel_width: 2, stride: 1, stride_width: 2}
)",
                         "oblong.yaml");
}

/// A first layer that reads pixels, of so many channels and in this layout; empty: none declared.
inline Network image_network(std::uint32_t channels, const std::string& layout) {
    Network network = parse_network(R"(
name: image
seed: 7
input: {channels: 1, height: 29, width: 31}
layers:
  - {name: first, kind: conv, kernels: 24, kernel: 5, kernel_width: 4, stride: 2, padding: 2, padding_width: 1, padding_width_end: 2, relu: true}
  - {name: second, kind: conv, kernels: 12, kernel: 3, padding: 1, relu: true}
)",
                                    "image.yaml");
    network.input.channels = channels;
    network.input.layout = layout;
    return network;
}

/// nv_small with a convolution buffer of so many entries of 8 bytes a bank.
inline PlanTarget target_with_bank_depth(std::uint32_t depth) {
    PlanTarget target;
    target.npu.name = "small_buffer";
    target.npu.cbuf.bank_depth = depth;
    return target;
}

}  // namespace npuscope::sample
