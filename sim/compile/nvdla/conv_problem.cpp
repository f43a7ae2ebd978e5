// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/conv_problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/conv/csc_math.h"
#include "models/layout/weight_layout.h"
#include "models/npu/pipelines.h"

namespace npuscope {
namespace {

/// Kernel rows that may share a load: their columns, and what the windows of so many rows reach
/// over, must fit the multipliers of a cell.
/// source: NVDLA format page, channel post-extension; limits as the public compiler takes them
std::vector<std::uint32_t> row_groups(const ConvProblem& problem, const NpuConfig& npu) {
    const std::uint32_t channels = problem.pixels->channels;
    const std::uint32_t folded = problem.kernels.columns * channels;
    const std::uint32_t step = channels * problem.geometry.stride_x;
    const std::uint32_t depth = npu.datapath.atomic_c;
    std::vector<std::uint32_t> groups{1};
    if (folded <= depth / 2 && step + folded <= depth && problem.kernels.rows / 2 > 1) {
        groups.push_back(2);
    }
    if (folded <= depth / 4 && step * 3 + folded <= depth && problem.kernels.rows / 4 > 1) {
        groups.push_back(4);
    }
    return groups;
}

std::uint64_t beats(std::uint64_t bytes, const NpuConfig& npu) {
    return divide_up(bytes, npu.mcif.bus_width.value);
}

void fill_feature_rows(const ConvProblem& problem, const NpuConfig& npu, ConvOperands& operands) {
    CdmaJob line;
    line.input = problem.input;
    operands.row_entries = entries_of_slice(line, conv_features(npu));
    const std::uint64_t atom = npu.datapath.memory_atom.value;
    operands.row_beats = divide_up(problem.input.channels, atom) *
                         beats(std::uint64_t{problem.input.width} * atom, npu);
    operands.row_cycles = operands.row_beats * 5 / 4;  // source: nv_small RTL, measured
}

void fill_image_rows(const ConvProblem& problem, const NpuConfig& npu, ConvOperands& operands) {
    CdmaJob line;
    line.mode = ConvMode::Image;
    line.input = operands.input;
    line.pad_left = problem.geometry.pad_left;
    line.pad_right = operands.pad_right;
    operands.row_entries = entries_of_slice(line, conv_features(npu));
    operands.row_beats = 0;
    for (std::uint32_t plane = 0; plane < problem.pixels->planes; ++plane) {
        operands.row_beats +=
            beats((problem.pixels->pixel_bytes(plane) * problem.input.width).value, npu);
    }
    // packing takes a cycle an entry and one a line; source: nv_small RTL, measured
    operands.row_cycles = std::max<std::uint64_t>(operands.row_beats, operands.row_entries + 1ULL);
}

/// Columns without weight that a kernel gets, so that the sequencer counts its blocks right.
std::uint32_t zero_columns(const ConvProblem& problem, const ConvForm& form, const NpuConfig& npu) {
    const std::uint32_t channels = problem.pixels->channels;
    const std::uint32_t cells = load_cycles(npu);
    return columns_to_add({.row_bytes = problem.kernels.columns * channels,
                           .step = problem.geometry.stride_x * channels,
                           .width = npu.datapath.atomic_c,
                           .shortest = cells,
                           .miscounts = npu.csc.miscounts_image_blocks && form.row_group == 1},
                          {problem.geometry.out_width, npu.csc.stripe_groups * cells}, channels);
}

void fill_image_kernels(const ConvProblem& problem, const ConvForm& form, const NpuConfig& npu,
                        ConvOperands& operands) {
    const KernelShape& plain = problem.kernels;
    const std::uint32_t channels = problem.pixels->channels;
    const std::uint32_t columns = plain.columns + zero_columns(problem, form, npu);
    const KernelShape stored{plain.kernels, columns * channels, plain.rows, 1};
    operands.weights = direct_weights(stored, npu.datapath);
    operands.weights.row_group = form.row_group;
    operands.input.channels = channels;
    operands.stripes_end_at_rows = true;
    const std::uint32_t reached =
        reach(problem.geometry.out_width, problem.geometry.stride_x, columns);
    const std::uint32_t given = problem.geometry.pad_left + problem.input.width;
    operands.pad_right = reached > given ? reached - given : 0;
}

/// Patches of 4 x 4, each two by two outputs on from the last; the DMA pads to whole ones.
/// source: nv_full C model
void fill_winograd(const ConvProblem& problem, const NpuConfig& npu, ConvOperands& operands) {
    constexpr std::uint32_t patch = 4;
    const auto atom = static_cast<std::uint32_t>(npu.datapath.memory_atom.value);
    const auto channels = static_cast<std::uint32_t>(round_up(problem.input.channels, atom));
    operands.weights =
        winograd_weights({problem.kernels.kernels, channels, patch, patch}, npu.datapath, Bytes(1));
    operands.input.channels = channels;
    operands.patch_rows = patch;
    operands.outputs_per_cycle = patch;
    operands.full_stripe = npu.csc.stripe_groups * npu.datapath.atomic_k;
    const std::uint32_t width = problem.geometry.out_width + patch;
    operands.pad_right = width - problem.geometry.pad_left - problem.input.width;
    operands.row_entries = width / patch * (channels / atom);
}

/// Weights in the buffer as they are in memory, or as values, with the mask in a bank of its own.
void fill_weight_sizes(const ConvProblem& problem, const ConvForm& form, const NpuConfig& npu,
                       ConvOperands& operands) {
    const std::uint64_t entry = npu.cbuf.bank_width.value;
    const WeightLayout& weights = operands.weights;
    Bytes values = weights.stored_bytes();
    Bytes group = weights.group_bytes(0);
    operands.weight_bytes = values;
    operands.banks = npu.cbuf.banks;
    std::uint64_t beside = 0;  // beats of mask and sizes for a group
    if (form.compressed) {
        const CompressedSizes& sizes = *problem.compressed;
        values = sizes.values;
        group = sizes.group_values;
        operands.weight_bytes = sizes.all();
        operands.banks = npu.cbuf.banks - 1;
        operands.weights_can_stay = divide_up(sizes.mask.value, entry) <= npu.cbuf.bank_depth;
        beside = beats(divide_up(sizes.mask.value, weights.groups()), npu) + 1;
    }
    operands.weight_beats = form.compressed ? beats(values.value, npu) + weights.groups() * beside
                                            : beats(values.value, npu);
    operands.group_beats = beats(group.value, npu) + beside;
    operands.weight_entries = divide_up(values.value, entry);
    operands.group_entries = divide_up(group.value, entry) + 1;
}

}  // namespace

std::vector<ConvForm> forms_of(const ConvProblem& problem, const NpuConfig& npu) {
    if (problem.settled) {
        return {*problem.settled};
    }
    std::vector<ConvForm> forms;
    if (problem.features) {
        if (problem.plain_weights || !problem.compressed) {
            forms.push_back({});
        }
        if (problem.compressed) {
            forms.push_back({.compressed = true});
        }
    }
    if (problem.winograd && suits_winograd(problem, npu)) {
        forms.push_back({.mode = ConvMode::Winograd});
    }
    if (problem.pixels != nullptr) {
        for (const std::uint32_t rows : row_groups(problem, npu)) {
            forms.push_back({.mode = ConvMode::Image, .row_group = rows});
        }
    }
    return forms;
}

ConvOperands operands_of(const ConvProblem& problem, const ConvForm& form, const NpuConfig& npu) {
    ConvOperands operands;
    operands.input = problem.input;
    operands.full_stripe = npu.csc.stripe_groups * load_cycles(npu);
    if (form.mode == ConvMode::Image) {
        fill_image_kernels(problem, form, npu, operands);
        fill_image_rows(problem, npu, operands);
    } else {
        operands.weights = direct_weights(problem.kernels, npu.datapath);
        fill_feature_rows(problem, npu, operands);
    }
    if (form.mode == ConvMode::Winograd) {
        fill_winograd(problem, npu, operands);
    }
    const WeightLayout& weights = operands.weights;
    const std::uint32_t taps =
        form.mode == ConvMode::Winograd
            ? 1
            : static_cast<std::uint32_t>(divide_up(weights.shape.rows, weights.row_group)) *
                  weights.shape.columns;
    const std::uint32_t depth =
        form.mode == ConvMode::Winograd ? weights.cube_channels : npu.datapath.atomic_c;
    operands.blocks = divide_up(weights.shape.channels, depth) * taps;
    fill_weight_sizes(problem, form, npu, operands);
    return operands;
}

bool suits_winograd(const ConvProblem& problem, const NpuConfig& npu) {
    const Convolution& geometry = problem.geometry;
    const bool three = problem.kernels.rows == 3 && problem.kernels.columns == 3;
    const bool steps_of_one = geometry.stride_y == 1 && geometry.stride_x == 1 &&
                              geometry.dilation_y == 1 && geometry.dilation_x == 1;
    const bool fours = geometry.out_height % 4 == 0 && geometry.out_width % 4 == 0;
    return npu.cdma.winograd && npu.sdp.winograd && three && steps_of_one && fours &&
           problem.features && problem.row_step == 1;
}

ConvProblem in_form(ConvProblem problem, const ConvForm& form) {
    if (form.mode == ConvMode::Winograd) {
        problem.row_step = 4;
    }
    return problem;
}

std::uint32_t load_cycles(const NpuConfig& npu) {
    const std::uint64_t group = std::uint64_t{npu.datapath.atomic_c} * npu.datapath.atomic_k;
    return static_cast<std::uint32_t>(divide_up(group, npu.cbuf.bank_width.value));
}

std::string words_of(const ConvForm& form, const ConvProblem& problem) {
    if (form.mode == ConvMode::Image) {
        return fmt::format(
            "image {}{}", problem.pixels->name,
            form.row_group > 1 ? fmt::format(", {} kernel rows at once", form.row_group) : "");
    }
    if (form.mode == ConvMode::Winograd) {
        return "Winograd";
    }
    if (form.compressed) {
        const CompressedSizes& sizes = *problem.compressed;
        return fmt::format("weights compressed to {} of {} bytes", sizes.all().value,
                           sizes.plain.value);
    }
    return "";
}

}  // namespace npuscope
