// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/conv_jobs.h"

#include <algorithm>
#include <cmath>

#include "models/base/check.h"

namespace npuscope {

ConvOperation ConvJobs::operation(const ConvPiece& piece) const {
    ConvOperation operation;
    operation.conv = conv_parts(piece);
    operation.sdp = sdp_job(piece.slice, piece.tile);
    if (task_.pool != nullptr) {
        operation.pdp = pdp_job(piece.slice, piece.tile);
    }
    const FeatureCube& written = operation.destination();
    operation.conv.cacc.line_packed = written.line_packed();
    operation.conv.cacc.surface_packed = written.surface_packed();
    return operation;
}

ConvParts ConvJobs::conv_parts(const ConvPiece& piece) const {
    const auto& [slice, tile, tiling, operands] = piece;
    const WeightLayout& weights = operands.weights;
    ConvParts parts;
    CdmaJob& cdma = parts.cdma;
    cdma.mode = tiling.form.mode;
    cdma.input = {operands.input.channels, tile.in_rows, task_.shapes.input.width};
    if (cdma.mode == ConvMode::Image) {
        set_pixels(tile, operands, cdma);
    } else {
        cdma.feature = task_.input.stored.cube;
        cdma.feature.base = task_.input.stored.cube.line_address(slice.input_atom, tile.in_begin);
        cdma.feature.shape = cdma.input;
        cdma.line_packed = cdma.feature.line_packed();
        cdma.surface_packed = cdma.feature.surface_packed();
    }
    cdma.pad_value = task_.pad_value();
    cdma.data_in_secondary = task_.input.stored.in_sram;
    cdma.entries_per_slice = operands.row_entries;
    cdma.bytes_per_kernel = weights.kernel_bytes();
    cdma.kernels = slice.kernels;
    cdma.banks = tiling.banks;
    CscJob& csc = parts.csc;
    csc.mode = cdma.mode;
    csc.input = cdma.input;
    csc.kernels = weights.shape;
    csc.row_group = weights.row_group;
    csc.entries_per_slice = cdma.entries_per_slice;
    csc.output = {slice.kernels, tile.out_rows, task_.shapes.output.width};
    csc.atomics = csc.output.height * csc.output.width;
    csc.release_slices = tile.in_rows;
    csc.stride_y = task_.shapes.window.stride_y;
    csc.stride_x = task_.shapes.window.stride_x;
    csc.pad_top = tile.pad_top;
    csc.pad_left = task_.shapes.window.pad_left;
    csc.pad_value = task_.pad_value();
    csc.banks = tiling.banks;
    parts.cacc.output = csc.output;
    if (cdma.mode == ConvMode::Winograd) {
        set_winograd(piece, parts);
    }
    return parts;
}

/// Patches are padded to whole ones by the DMA, and shifted right so that they fit int8.
void ConvJobs::set_winograd(const ConvPiece& piece, ConvParts& parts) const {
    const auto& [slice, tile, tiling, operands] = piece;
    CdmaJob& cdma = parts.cdma;
    cdma.input.channels = cdma.feature.shape.channels = slice.channels;
    cdma.pad_left = task_.shapes.window.pad_left;
    cdma.pad_right = operands.pad_right;
    WinogradInput& patches = cdma.winograd;
    patches.extended_height = tile.out_rows + operands.patch_rows;
    patches.extended_width = parts.csc.output.width + operands.patch_rows;
    patches.pad_top = tile.pad_top;
    patches.pad_bottom = patches.extended_height - tile.pad_top - tile.in_rows;
    CscJob& csc = parts.csc;
    csc.input = {operands.input.channels, patches.extended_height, patches.extended_width};
    csc.release_slices = patches.extended_height;
    csc.patch_truncate = winograd_data_shift;
    csc.pad_top = csc.pad_left = 0;
    parts.cmac[0].winograd = parts.cmac[1].winograd = true;
    parts.cacc.winograd = true;
}

/// The rows of the image that a tile reaches over.
void ConvJobs::set_pixels(const ConvTile& tile, const ConvOperands& operands, CdmaJob& cdma) const {
    cdma.pixels = *task_.input.stored.pixels;
    for (std::size_t plane = 0; plane < cdma.pixels.format->planes; ++plane) {
        cdma.pixels.base[plane] =
            cdma.pixels.base[plane] + cdma.pixels.line_stride[plane] * tile.in_begin;
    }
    cdma.pixels.height = tile.in_rows;
    cdma.pad_left = task_.shapes.window.pad_left;
    cdma.pad_right = operands.pad_right;
    cdma.conversion = task_.pixel_conversion;
}

/// The part of a surface that a tile of a slice covers.
FeatureCube ConvJobs::part_of(const FeatureCube& cube, const ChannelSlice& slice,
                              const ConvTile& tile) const {
    FeatureCube part = cube;
    part.base = cube.line_address(slice.output_atom, tile.out_begin / task_.row_step());
    part.shape = {slice.kernels, tile.out_rows / task_.row_step(), cube.shape.width};
    return part;
}

SdpJob ConvJobs::sdp_job(const ChannelSlice& slice, const ConvTile& tile) const {
    SdpJob job;
    job.shape = {slice.kernels, tile.out_rows, task_.shapes.output.width};
    job.to_pdp = task_.pool != nullptr;
    job.winograd = winograd_;
    if (!job.to_pdp) {
        job.destination = whole_atoms(part_of(output_.cube, slice, tile));
        job.destination_in_sram = output_.in_sram;
    }
    job.stages.convertor = rescale_.convertor;
    SdpXStage& bs = job.stages.bs;
    SdpXStage& bn = job.stages.bn;
    bs.bypass = !task_.layer.bias && !task_.layer.relu;
    bs.relu = task_.layer.relu && !rescale_.has_rest;
    if (task_.layer.bias) {
        bs.alu = {
            .bypass = false, .source = OperandSource::Memory, .shift_left = rescale_.bias_shift};
        job.operands[bs_stage] = kernel_operand(bias_, !rescale_.has_rest, slice, job);
        set_scale(rescale_.has_rest ? bn : bs);
    }
    if (rescale_.has_rest) {
        bn.bypass = false;
        bn.alu = {.bypass = false, .source = OperandSource::Memory};
        bn.relu = task_.layer.relu;
        job.operands[bn_stage] = kernel_operand(rest_, true, slice, job);
    }
    if (rescale_.least) {
        bn.bypass = false;
        bn.alu = {.bypass = false,
                  .algorithm = AluAlgorithm::Max,
                  .operand = *rescale_.least,
                  .shift_left = rescale_.least_shift};
    }
    if (task_.residual != nullptr) {
        bn = add_stage(rescale_.residual_shift, task_.relu_after_residual);
        const StoredCube& residual = task_.residual->stored;
        job.operands[bn_stage] =
            element_operand(part_of(residual.cube, slice, tile), residual.in_sram);
    }
    return job;
}

PdpJob ConvJobs::pdp_job(const ChannelSlice& slice, const ConvTile& tile) const {
    PdpJob job;
    job.input = {slice.kernels, tile.out_rows, task_.shapes.output.width};
    const FeatureCube part = part_of(output_.cube, slice, tile);
    job.output = part.shape;
    job.destination = whole_atoms(part);
    job.destination_in_sram = output_.in_sram;
    job.pooling = pooling_of(task_.pool->window, task_.pooling);
    job.pooling.output = job.output;
    job.pooling.parts = {{0, job.input.width, 0, 0, job.output.width}};
    return job;
}

Shape ConvJobs::whole_shape(Shape shape) const {
    shape.channels = static_cast<std::uint32_t>(round_up(shape.channels, per_atom_));
    return shape;
}

void ConvJobs::set_scale(SdpXStage& stage) const {
    if (rescale_.factor_per_kernel) {
        stage.mul = {.bypass = false, .source = OperandSource::Memory};
    } else if (rescale_.factor != 1) {
        stage.mul = {.bypass = false, .operand = rescale_.factor};
    }
}

/// Two bytes a kernel, and two for its factor where it is scaled by one of its own.
SdpOperandFetch ConvJobs::kernel_operand(Address base, bool scaled, const ChannelSlice& slice,
                                         const SdpJob& job) const {
    SdpOperandFetch fetch;
    fetch.alu = true;
    fetch.mul = scaled && rescale_.factor_per_kernel;
    const Bytes each(fetch.mul ? 4 : 2);
    fetch.surface = {.base = base + each * slice.output_atom * per_atom_,
                     .line_stride = {},
                     .surface_stride = {},
                     .shape = whole_shape(job.shape),
                     .spread = OperandSpread::PerChannel,
                     .elements_per_atom = per_atom_,
                     .components = fetch.mul ? 2U : 1U,
                     .component = Bytes(2)};
    return fetch;
}

namespace {

constexpr double weight_spread = 74.0;  // uniform over int8
constexpr double input_spread = 28.0;   // a rectified result of the layer before
constexpr double result_spread = 32.0;
constexpr double residual_weight = 0.75;
constexpr double largest_bias = 4096.0;
constexpr int scale_bits = 14;

unsigned whole_shift(double value) {
    return static_cast<unsigned>(std::clamp(std::lround(std::log2(value)), 0L, 24L));
}

}  // namespace

Rescale rescale_sum(std::uint64_t products, std::uint32_t zeros) {
    const std::uint64_t counting = products * (100 - zeros) / 100;
    const double spread = weight_spread * input_spread *
                          std::sqrt(static_cast<double>(std::max<std::uint64_t>(counting, 1)));
    const double ratio = result_spread / spread;
    const int shift = scale_bits - static_cast<int>(std::ceil(std::log2(ratio)));
    Rescale rescale;
    rescale.convertor.scale = static_cast<std::int16_t>(std::lround(std::ldexp(ratio, shift)) - 1);
    rescale.convertor.shift = static_cast<unsigned>(shift);
    rescale.residual_shift = whole_shift(residual_weight / ratio);
    const double bias = spread / 2;
    rescale.bias_shift = bias > largest_bias ? whole_shift(bias / largest_bias) : 0;
    rescale.bias_limit = static_cast<std::int16_t>(std::min(bias, largest_bias));
    return rescale;
}

Rescale rescale_given(const LayerNumbers& numbers) {
    const auto& factors = numbers.factor;
    NPU_CHECK(!factors.empty(), "a model's convolution has factors");
    Rescale rescale;
    rescale.convertor = numbers.convertor;
    rescale.residual_shift = numbers.residual_shift;
    rescale.bias_shift = numbers.bias_shift;
    rescale.factor_per_kernel = std::ranges::any_of(
        factors, [&](std::int16_t factor) { return factor != factors.front(); });
    rescale.factor = factors.front();
    rescale.has_rest = !numbers.rest.empty();
    rescale.least = numbers.least;
    rescale.least_shift = numbers.least_shift;
    return rescale;
}

Rescale smaller(Rescale rescale, unsigned bits) {
    rescale.convertor.shift -= bits;
    rescale.residual_shift -= bits;
    rescale.bias_down = bits - std::min(bits, rescale.bias_shift);
    rescale.bias_shift -= bits - rescale.bias_down;
    return rescale;
}

Conversion rescale_add() { return {.offset = 0, .scale = 3, .shift = 2}; }

}  // namespace npuscope
