// SPDX-License-Identifier: Apache-2.0
// Registers of one layer.
#include <algorithm>

#include "tests/support/full_layer_images.h"
#include "tests/support/full_layer_weights.h"
#include "tests/support/generate_full_layer.h"
#include "tests/support/oracle_number.h"

namespace npuscope {

namespace {

using oracle::FullLayer;
using oracle::Mode;
using oracle::Type;

using namespace layer_place;

/// Sizes as the sequencer uses them.
struct Extended {
    std::uint32_t channels, height, width, rows, columns;
};

Extended extended(const FullLayer& layer) {
    if (layer.mode == Mode::Image) {
        return {layer.channels, layer.height, layer.width, layer.rows, 1};
    }
    if (layer.mode == Mode::Winograd) {
        return {oracle::round_up(layer.channels, layer.atom()) * layer.stride_y * layer.stride_x,
                (layer.height + layer.pad_top + layer.pad_bottom) / layer.stride_y,
                (layer.width + layer.pad_left + layer.pad_right) / layer.stride_x, 4, 4};
    }
    return {layer.channels, layer.height, layer.width, layer.rows, layer.columns};
}

std::uint32_t entries_of_line(const FullLayer& layer) {
    const std::uint32_t padded = layer.width + layer.pad_left + layer.pad_right;
    if (layer.mode == Mode::Image) {
        return divided_up(std::uint64_t{padded} * layer.channels * layer.bytes(), 128);
    }
    const std::uint32_t atoms = divided_up(std::uint64_t{layer.channels} * layer.bytes(), 32);
    if (layer.mode == Mode::Winograd) {
        return padded / (4 * layer.stride_x) * atoms * layer.stride_x * layer.stride_y;
    }
    const std::uint32_t rest = atoms % 4;
    return atoms / 4 * layer.width + (rest == 3 ? layer.width : divided_up(rest * layer.width, 4));
}

/// Writes registers by name.
class Registers {
 public:
    void unit(const char* name) { unit_ = std::string("NVDLA_") + name + "."; }
    void set(const char* name, std::uint64_t value) {
        writes.emplace_back(unit_ + name + "_0", static_cast<std::uint32_t>(value));
    }
    std::vector<std::pair<std::string, std::uint32_t>> writes;

 private:
    std::string unit_;
};

std::uint32_t misc(const FullLayer& layer) {
    const auto type = static_cast<std::uint32_t>(layer.type);
    return (layer.mode == Mode::Winograd ? 1U : 0U) |
           static_cast<std::uint32_t>(layer.input_type) << 8U | type << 12U;
}

std::uint32_t pad_bits(const FullLayer& layer) {
    return oracle::element_bits(layer.pad_value, layer.type);
}

std::uint32_t size(std::uint32_t high, std::uint32_t low) { return (high - 1) << 16U | (low - 1); }

void write_accumulator(const FullLayer& layer, Registers& registers) {
    registers.unit("CACC");
    registers.set("D_MISC_CFG", misc(layer) & ~0xF00U);
    registers.set("D_DATAOUT_SIZE_0", size(layer.out_height, layer.out_width));
    registers.set("D_DATAOUT_SIZE_1", layer.kernels - 1);
    registers.set("D_BATCH_NUMBER", layer.batches - 1);
    registers.set("D_CLIP_CFG", layer.clip);
    for (const char* half : {"CMAC_A", "CMAC_B"}) {
        registers.unit(half);
        registers.set("D_MISC_CFG", misc(layer) & ~0xF00U);
    }
}

std::uint32_t bank_split(const FullLayer& layer, bool compressed) {
    const std::uint64_t entries =
        std::uint64_t{entries_of_line(layer)} * extended(layer).height * layer.batches;
    const std::uint32_t data = std::max(1U, divided_up(entries, 256));
    return size((compressed ? 15U : 16U) - data, data);
}

void write_sequencer(const FullLayer& layer, const StoredWeights& weights, bool compressed,
                     Registers& registers) {
    const Extended input = extended(layer);
    const bool image = layer.mode == Mode::Image;
    const bool winograd = layer.mode == Mode::Winograd;
    registers.unit("CSC");
    registers.set("D_MISC_CFG", misc(layer));
    registers.set("D_DATAIN_FORMAT", image ? 1 : 0);
    registers.set("D_DATAIN_SIZE_EXT_0", size(input.height, input.width));
    registers.set("D_DATAIN_SIZE_EXT_1", input.channels - 1);
    registers.set("D_BATCH_NUMBER", layer.batches - 1);
    registers.set("D_POST_Y_EXTENSION", layer.row_group / 2);
    registers.set("D_ENTRY_PER_SLICE", entries_of_line(layer) - 1);
    registers.set("D_WEIGHT_FORMAT", compressed ? 1 : 0);
    registers.set("D_WEIGHT_SIZE_EXT_0", size(input.rows, input.columns));
    registers.set("D_WEIGHT_SIZE_EXT_1",
                  size(layer.kernels, image ? layer.channels * layer.columns : input.channels));
    registers.set("D_WEIGHT_BYTES", weights.weight_register);
    registers.set("D_WMB_BYTES", weights.mask.size());
    registers.set("D_DATAOUT_SIZE_0", size(layer.out_height, layer.out_width));
    registers.set("D_DATAOUT_SIZE_1", layer.kernels - 1);
    registers.set("D_ATOMICS", layer.out_height * layer.out_width - 1);
    registers.set("D_RELEASE", input.height * layer.batches - 1);
    registers.set("D_CONV_STRIDE_EXT", winograd ? 0 : size(layer.stride_y, layer.stride_x));
    registers.set("D_DILATION_EXT", size(layer.dilation_y, layer.dilation_x));
    registers.set("D_ZERO_PADDING", winograd ? 0 : layer.pad_top << 16U | layer.pad_left);
    registers.set("D_ZERO_PADDING_VALUE", pad_bits(layer));
    registers.set("D_BANK", bank_split(layer, compressed));
    registers.set("D_PRA_CFG", 0);
}

void write_image_input(const FullLayer& layer, Registers& registers) {
    const auto strides = pixel_strides(layer);
    const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value & 0xFFFF); };
    registers.set("D_DATAIN_FORMAT",
                  1U | layer.pixels.code << 8U | (layer.is_signed ? 1U : 0U) << 20U);
    registers.set("D_PIXEL_OFFSET", layer.x_offset);
    // software itself advances the second plane by the whole atoms of the offset
    registers.set("D_DAIN_ADDR_LOW_1", chroma_base);
    registers.set("D_LINE_STRIDE", strides[0]);
    registers.set("D_LINE_UV_STRIDE", strides[1]);
    registers.set("D_MEAN_FORMAT", layer.use_mean ? 1 : 0);
    registers.set("D_MEAN_GLOBAL_0", word(layer.mean[0]) | word(layer.mean[1]) << 16U);
    registers.set("D_MEAN_GLOBAL_1", word(layer.mean[2]) | word(layer.mean[3]) << 16U);
    registers.set("D_CVT_CFG", (layer.convert ? 1U : 0U) | layer.truncate << 4U);
    registers.set("D_CVT_OFFSET", word(layer.offset));
    registers.set("D_CVT_SCALE", word(layer.scale));
}

void write_feature_input(const FullLayer& layer, Registers& registers) {
    const PackedCube cube = input_cube(layer);
    registers.set("D_DATAIN_FORMAT", 0);
    registers.set("D_LINE_STRIDE", cube.line());
    registers.set("D_SURF_STRIDE", cube.surface());
    registers.set("D_DAIN_MAP", 0x10001);
    registers.set("D_BATCH_STRIDE", cube.batch());
    registers.set("D_CVT_CFG", 0);
}

void write_dma(const FullLayer& layer, const StoredWeights& weights, bool compressed,
               Registers& registers) {
    const Extended input = extended(layer);
    registers.unit("CDMA");
    registers.set("D_MISC_CFG", misc(layer));
    registers.set("D_DATAIN_SIZE_0", size(layer.height, layer.width));
    registers.set("D_DATAIN_SIZE_1", layer.channels - 1);
    registers.set("D_DATAIN_SIZE_EXT_0", size(input.height, input.width));
    registers.set("D_DAIN_RAM_TYPE", 1);
    registers.set("D_DAIN_ADDR_LOW_0", data_base);
    registers.set("D_BATCH_NUMBER", layer.batches - 1);
    registers.set("D_ENTRY_PER_SLICE", entries_of_line(layer) - 1);
    registers.set("D_WEIGHT_FORMAT", compressed ? 1 : 0);
    registers.set("D_WEIGHT_SIZE_0", weights.kernel_bytes - 1);
    registers.set("D_WEIGHT_SIZE_1", layer.kernels - 1);
    registers.set("D_WEIGHT_RAM_TYPE", 1);
    registers.set("D_WEIGHT_ADDR_LOW", weight_base);
    registers.set("D_WEIGHT_BYTES", weights.weight_register);
    registers.set("D_WGS_ADDR_LOW", sizes_base);
    registers.set("D_WMB_ADDR_LOW", mask_base);
    registers.set("D_WMB_BYTES", weights.mask.size());
    registers.set("D_CONV_STRIDE", size(layer.stride_y, layer.stride_x));
    registers.set("D_ZERO_PADDING", layer.pad_bottom << 24U | layer.pad_top << 16U |
                                        layer.pad_right << 8U | layer.pad_left);
    registers.set("D_ZERO_PADDING_VALUE", pad_bits(layer));
    registers.set("D_BANK", bank_split(layer, compressed));
    if (layer.mode == Mode::Image) {
        write_image_input(layer, registers);
    } else {
        write_feature_input(layer, registers);
    }
}

void write_sdp(const FullLayer& layer, Registers& registers) {
    const PackedCube cube = output_cube(layer);
    const auto type = static_cast<std::uint32_t>(layer.type);
    registers.unit("SDP");
    for (const char* stage : {"D_DP_BS_CFG", "D_DP_BN_CFG", "D_DP_EW_CFG"}) {
        registers.set(stage, 0x5B);  // everything bypassed
    }
    registers.set("D_DATA_CUBE_WIDTH", layer.out_width - 1);
    registers.set("D_DATA_CUBE_HEIGHT", layer.out_height - 1);
    registers.set("D_DATA_CUBE_CHANNEL", layer.kernels - 1);
    registers.set("D_DST_BASE_ADDR_LOW", output_base);
    registers.set("D_DST_LINE_STRIDE", cube.line());
    registers.set("D_DST_SURFACE_STRIDE", cube.surface());
    registers.set("D_DST_BATCH_STRIDE", cube.batch());
    registers.set("D_FEATURE_MODE_CFG",
                  1U | (layer.mode == Mode::Winograd ? 4U : 0U) | (layer.batches - 1) << 8U);
    registers.set("D_DST_DMA_CFG", 1);
    registers.set("D_DATA_FORMAT", type | type << 2U);
    registers.set("D_CVT_OFFSET", static_cast<std::uint32_t>(layer.out_offset));
    registers.set("D_CVT_SCALE", static_cast<std::uint64_t>(layer.out_scale));
    registers.set("D_CVT_SHIFT", layer.out_shift);
}

}  // namespace

LayerProgram layer_program(const FullLayer& layer, bool compressed) {
    LayerProgram program;
    const StoredWeights weights = store_weights(layer, compressed);
    Registers registers;
    registers.unit("GLB");
    registers.set("S_INTR_MASK", 0x3F03FC);  // SDP only
    write_accumulator(layer, registers);
    write_sequencer(layer, weights, compressed, registers);
    write_dma(layer, weights, compressed, registers);
    write_sdp(layer, registers);
    for (const char* unit : {"SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"}) {
        registers.unit(unit);
        registers.set("D_OP_ENABLE", 1);
    }
    program.registers = std::move(registers.writes);
    if (layer.mode == Mode::Image) {
        for (LayerImage& plane : pixel_images(layer)) {
            program.images.push_back(std::move(plane));
        }
    } else {
        program.images.push_back(feature_image(layer));
    }
    program.images.push_back({weight_base, weights.weights});
    program.images.push_back({mask_base, weights.mask});
    program.images.push_back({sizes_base, weights.sizes});
    program.expected = expected_image(layer);
    return program;
}

}  // namespace npuscope
