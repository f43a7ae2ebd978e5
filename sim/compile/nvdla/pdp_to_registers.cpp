// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "models/base/check.h"
#include "sim/compile/nvdla/to_registers.h"

namespace npuscope {
namespace {

std::uint32_t method_code(PoolingMethod method) {
    switch (method) {
        case PoolingMethod::Average:
            return 0;
        case PoolingMethod::Max:
            return 1;
        case PoolingMethod::Min:
            return 2;
    }
    NPU_CHECK(false, "no such pooling method");
    return 0;
}

void write_surface(RegisterImage& image, const std::string& stem, const FeatureCube& cube) {
    image.address(stem + "_BASE_ADDR", cube.base)
        .only(stem + "_LINE_STRIDE", cube.line_stride.value)
        .only(stem + "_SURFACE_STRIDE", cube.surface_stride.value);
}

void write_input(RegisterImage& image, const Shape& input) {
    image.size("D_DATA_CUBE_IN_WIDTH", "CUBE_IN_WIDTH", input.width)
        .size("D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT", input.height)
        .size("D_DATA_CUBE_IN_CHANNEL", "CUBE_IN_CHANNEL", input.channels);
}

/// First, last and middle slice of a split; the columns that a slice shares with the one before it
/// do not count.
void write_partial_input(RegisterImage& image, const PdpPooling& pooling) {
    const auto& parts = pooling.parts;
    if (parts.size() < 2) {
        return;
    }
    const std::int64_t overlap = std::int64_t{pooling.kernel_width} - pooling.stride_x;
    const auto own = [&](std::size_t i) {
        return static_cast<std::uint64_t>(parts[i].in_width - (i == 0 ? 0 : overlap));
    };
    image.size("D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_FIRST", own(0))
        .size("D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_LAST", own(parts.size() - 1));
    if (parts.size() > 2) {
        image.size("D_PARTIAL_WIDTH_IN", "PARTIAL_WIDTH_IN_MID", own(1));
    }
}

void write_partial_output(RegisterImage& image, const PdpPooling& pooling) {
    const auto& parts = pooling.parts;
    if (parts.size() < 2) {
        return;
    }
    image.size("D_PARTIAL_WIDTH_OUT", "PARTIAL_WIDTH_OUT_FIRST", parts.front().out_width)
        .size("D_PARTIAL_WIDTH_OUT", "PARTIAL_WIDTH_OUT_LAST", parts.back().out_width);
    if (parts.size() > 2) {
        image.size("D_PARTIAL_WIDTH_OUT", "PARTIAL_WIDTH_OUT_MID", parts[1].out_width);
    }
}

struct Padding {
    std::uint32_t right = 0;
    std::uint32_t bottom = 0;
};

/// What the windows reach over beyond the input.
Padding padding_behind(const PdpJob& job) {
    const PdpPooling& pooling = job.pooling;
    const auto behind = [](std::uint32_t reached, std::uint32_t size) {
        return reached > size ? reached - size : 0;
    };
    const std::uint32_t columns = (job.output.width - 1) * pooling.stride_x + pooling.kernel_width;
    const std::uint32_t rows = (job.output.height - 1) * pooling.stride_y + pooling.kernel_height;
    return {behind(columns, pooling.parts.front().pad_left + job.input.width),
            behind(rows, pooling.pad_top + job.input.height)};
}

void write_pooling(RegisterImage& image, const PdpJob& job) {
    const PdpPooling& pooling = job.pooling;
    const Padding behind = padding_behind(job);
    image.field("D_OPERATION_MODE_CFG", "POOLING_METHOD", method_code(pooling.method))
        .flag("D_OPERATION_MODE_CFG", "FLYING_MODE", !job.flying())
        .size("D_OPERATION_MODE_CFG", "SPLIT_NUM", pooling.parts.size())
        .size("D_POOLING_KERNEL_CFG", "KERNEL_WIDTH", pooling.kernel_width)
        .size("D_POOLING_KERNEL_CFG", "KERNEL_HEIGHT", pooling.kernel_height)
        .size("D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_WIDTH", pooling.stride_x)
        .size("D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_HEIGHT", pooling.stride_y)
        .only("RECIP_KERNEL_WIDTH", pooling.recip_width)
        .only("RECIP_KERNEL_HEIGHT", pooling.recip_height)
        .field("D_POOLING_PADDING_CFG", "PAD_LEFT", pooling.parts.front().pad_left)
        .field("D_POOLING_PADDING_CFG", "PAD_TOP", pooling.pad_top)
        .field("D_POOLING_PADDING_CFG", "PAD_RIGHT", behind.right)
        .field("D_POOLING_PADDING_CFG", "PAD_BOTTOM", behind.bottom);
    for (std::size_t n = 1; n < pooling.pad_value.size(); ++n) {
        image.signed_field(fmt::format("D_POOLING_PADDING_VALUE_{}_CFG", n),
                           fmt::format("PAD_VALUE_{}X", n), pooling.pad_value[n]);
    }
}

RegisterImage rdma_registers(const PdpJob& job) {
    RegisterImage image("NVDLA_PDP_RDMA");
    const PdpPooling& pooling = job.pooling;
    write_input(image, job.input);
    write_surface(image, "SRC", *job.source);
    write_partial_input(image, pooling);
    image.flag("D_FLYING_MODE", "FLYING_MODE", true)
        .flag("D_SRC_RAM_CFG", "SRC_RAM_TYPE", !job.source_in_sram)
        .field("D_DATA_FORMAT", "INPUT_DATA", 0)
        .size("D_OPERATION_MODE_CFG", "SPLIT_NUM", pooling.parts.size())
        .size("D_POOLING_KERNEL_CFG", "KERNEL_WIDTH", pooling.kernel_width)
        .size("D_POOLING_KERNEL_CFG", "KERNEL_STRIDE_WIDTH", pooling.stride_x)
        .field("D_POOLING_PADDING_CFG", "PAD_WIDTH", pooling.parts.front().pad_left)
        .flag("D_PERF_ENABLE", "DMA_EN", job.count_stalls);
    return image;
}

}  // namespace

std::vector<RegisterImage> pdp_registers(const PdpJob& job) {
    std::vector<RegisterImage> images;
    if (!job.flying()) {
        images.push_back(rdma_registers(job));
    }
    RegisterImage image("NVDLA_PDP");
    write_input(image, job.input);
    image.size("D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH", job.output.width)
        .size("D_DATA_CUBE_OUT_HEIGHT", "CUBE_OUT_HEIGHT", job.output.height)
        .size("D_DATA_CUBE_OUT_CHANNEL", "CUBE_OUT_CHANNEL", job.output.channels);
    write_pooling(image, job);
    write_partial_input(image, job.pooling);
    write_partial_output(image, job.pooling);
    if (job.source) {
        write_surface(image, "SRC", *job.source);
    }
    write_surface(image, "DST", job.destination);
    image.flag("D_DST_RAM_CFG", "DST_RAM_TYPE", !job.destination_in_sram)
        .field("D_DATA_FORMAT", "INPUT_DATA", 0)
        .flag("D_PERF_ENABLE", "DMA_EN", job.count_stalls);
    images.push_back(std::move(image));
    return images;
}

}  // namespace npuscope
