// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/channel_cut.h"

#include <algorithm>

namespace npuscope {
namespace {

std::uint32_t channels_per_atom(const NpuConfig& npu) {
    return static_cast<std::uint32_t>(npu.datapath.memory_atom.value);
}

constexpr const char* larger_buffer = "choose a preset with a larger cbuf";

std::variant<ChannelCut, Diagnostic> cut_groups(const CutTask& task, const NpuConfig& npu) {
    const Layer& layer = task.layer;
    if (task.input.has_holes()) {
        return Diagnostic{.sentence =
                              "the layer before it leaves atoms partly empty, which groups "
                              "cannot skip",
                          .remedy = larger_buffer};
    }
    const std::uint32_t atom = channels_per_atom(npu);
    ChannelCut cut{.slices = {},
                   .lanes = atom,
                   .group_channels = task.shapes.input.channels / layer.groups,
                   .group_kernels = layer.kernels / layer.groups};
    std::uint32_t together = 1;
    while (together < layer.groups && (together * cut.group_channels % atom != 0 ||
                                       together * cut.group_kernels % atom != 0)) {
        ++together;
    }
    for (std::uint32_t group = 0; group < layer.groups; group += together) {
        const std::uint32_t count = std::min(together, layer.groups - group);
        cut.slices.push_back({group * cut.group_channels / atom, count * cut.group_channels,
                              group * cut.group_kernels / atom, count * cut.group_kernels});
    }
    return cut;
}

}  // namespace

ConvProblem problem_of(const CutTask& task, const ChannelSlice& slice) {
    const Shape& input = task.input.cube.shape;
    ConvProblem problem;
    problem.input = {slice.channels, input.height, input.width};
    const LayerWindow& window = task.shapes.window;
    problem.kernels = {slice.kernels, slice.channels, window.rows, window.columns};
    if (task.input.pixels) {
        problem.pixels = task.input.pixels->format;
        problem.features = false;
    }
    Convolution& geometry = problem.geometry;
    geometry.out_height = task.shapes.output.height;
    geometry.out_width = task.shapes.output.width;
    geometry.stride_y = window.stride_y;
    geometry.stride_x = window.stride_x;
    geometry.pad_top = window.pad_top;
    geometry.pad_left = window.pad_left;
    return problem;
}

std::variant<ChannelCut, Diagnostic> cut_channels(const CutTask& task, const NpuConfig& npu) {
    if (task.layer.groups > 1) {
        return cut_groups(task, npu);
    }
    const std::uint32_t kernels = task.layer.kernels;
    const ChannelSlice whole{0, task.input.cube.shape.channels, 0, kernels};
    const std::uint32_t group = largest_group(problem_of(task, whole), npu);
    if (group == 0) {
        return Diagnostic{.sentence =
                              "not even one of its kernels fits the convolution buffer "
                              "beside the input that it needs",
                          .remedy = larger_buffer};
    }
    ChannelCut cut;
    cut.lanes = channels_per_atom(npu);
    if (group == npu.datapath.atomic_k) {
        cut.slices.push_back(whole);
        return cut;
    }
    cut.lanes = std::min(group, cut.lanes);
    for (std::uint32_t k = 0; k < kernels; k += cut.lanes) {
        cut.slices.push_back({0, whole.channels, k / cut.lanes, std::min(cut.lanes, kernels - k)});
    }
    return cut;
}

}  // namespace npuscope
