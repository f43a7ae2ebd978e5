// SPDX-License-Identifier: Apache-2.0
#include "bench/layer_pair.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <random>
#include <utility>

#include "models/base/quantity.h"
#include "models/npu/register_blocks.h"
#include "sim/program/read_program.h"

namespace npuscope::bench {
namespace {

// widths of nv_small. source: nv_small project.h
constexpr std::uint32_t atom = 8;
constexpr std::uint32_t weight_alignment = 128;  // source: NVDLA format page, weight surfaces
/// Distance between the surfaces of the two layers.
constexpr std::uint32_t layer_distance = 0x04000000;
constexpr std::uint32_t input_base = 0x80000000;
constexpr std::uint32_t weight_base = 0x90000000;
constexpr std::uint32_t output_base = 0xa0000000;

constexpr std::array conv_units{"CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"};

std::uint32_t surfaces(std::uint32_t channels) {
    return static_cast<std::uint32_t>(divide_up(channels, atom));
}

std::uint32_t input_bytes(const LayerShape& layer) {
    return layer.width * layer.height * surfaces(layer.channels) * atom;
}

std::uint32_t output_bytes(const LayerShape& layer) {
    return layer.out_width() * layer.out_height() * surfaces(layer.kernels) * atom;
}

std::uint32_t weight_bytes(const LayerShape& layer) {
    const std::uint64_t used =
        std::uint64_t{layer.kernel_size} * layer.kernel_size * layer.channels * layer.kernels;
    return static_cast<std::uint32_t>(round_up(used, weight_alignment));
}

/// Height and width in one register.
std::uint32_t size_of(std::uint32_t height, std::uint32_t width) {
    return (height - 1) << 16U | (width - 1);
}

class TraceText {
 public:
    explicit TraceText(std::uint32_t group) : group_(group) {}

    void write(const std::string& unit, const std::string& name, std::uint32_t value) {
        text_ += fmt::format("reg_write(NVDLA_{}.{}_0, {:#x});\n", unit, name, value);
    }
    void write_all(const std::string& unit,
                   const std::vector<std::pair<const char*, std::uint32_t>>& registers) {
        for (const auto& [name, value] : registers) {
            write(unit, name, value);
        }
    }
    void select(const std::string& unit) { write(unit, "S_POINTER", group_); }
    void load(std::uint32_t address, const std::string& file) {
        text_ += fmt::format("mem_load(pri_mem, {:#x}, \"{}_{}\");\n", address, file, group_);
    }
    const std::string& text() const { return text_; }

 private:
    std::uint32_t group_;
    std::string text_;
};

void write_sdp(TraceText& text, const LayerShape& layer, std::uint32_t output) {
    const std::uint32_t line = layer.out_width() * atom;
    text.select("SDP");
    text.write_all("SDP", {{"D_DATA_CUBE_WIDTH", layer.out_width() - 1},
                           {"D_DATA_CUBE_HEIGHT", layer.out_height() - 1},
                           {"D_DATA_CUBE_CHANNEL", layer.kernels - 1},
                           {"D_DST_BASE_ADDR_LOW", output},
                           {"D_DST_BASE_ADDR_HIGH", 0},
                           {"D_DST_LINE_STRIDE", line},
                           {"D_DST_SURFACE_STRIDE", line * layer.out_height()},
                           {"D_DP_BS_CFG", 0x53},  // bypassed, as BN and EW
                           {"D_DP_BN_CFG", 0x53},
                           {"D_DP_EW_CFG", 0x1},
                           {"D_FEATURE_MODE_CFG", 0x1},  // flying
                           {"D_DST_DMA_CFG", 0x1},
                           {"D_DATA_FORMAT", 0},
                           {"D_CVT_OFFSET", 0},
                           {"D_CVT_SCALE", 1},
                           {"D_CVT_SHIFT", 8}});
}

void write_cdma(TraceText& text, const LayerShape& layer, std::uint32_t offset) {
    const std::uint32_t line = layer.width * atom;
    const std::uint32_t size = size_of(layer.height, layer.width);
    text.select("CDMA");
    text.write_all("CDMA",
                   {{"S_ARBITER", 0xf000f},
                    {"D_MISC_CFG", 0},
                    {"D_DATAIN_FORMAT", 0},
                    {"D_DATAIN_SIZE_0", size},
                    {"D_DATAIN_SIZE_1", layer.channels - 1},
                    {"D_DATAIN_SIZE_EXT_0", size},
                    {"D_DAIN_RAM_TYPE", 1},
                    {"D_DAIN_ADDR_HIGH_0", 0},
                    {"D_DAIN_ADDR_LOW_0", input_base + offset},
                    {"D_LINE_STRIDE", line},
                    {"D_SURF_STRIDE", line * layer.height},
                    {"D_DAIN_MAP", 0x10001},
                    {"D_BATCH_NUMBER", 0},
                    {"D_ENTRY_PER_SLICE", layer.width * surfaces(layer.channels) - 1},
                    {"D_FETCH_GRAIN", 0},
                    {"D_WEIGHT_FORMAT", 0},
                    {"D_WEIGHT_SIZE_0", layer.channels * layer.kernel_size * layer.kernel_size - 1},
                    {"D_WEIGHT_SIZE_1", layer.kernels - 1},
                    {"D_WEIGHT_RAM_TYPE", 1},
                    {"D_WEIGHT_ADDR_HIGH", 0},
                    {"D_WEIGHT_ADDR_LOW", weight_base + offset},
                    {"D_WEIGHT_BYTES", weight_bytes(layer)},
                    {"D_CVT_CFG", 0},
                    {"D_CONV_STRIDE", 0},
                    {"D_ZERO_PADDING", layer.padding * 0x01010101},
                    {"D_ZERO_PADDING_VALUE", 0},
                    {"D_BANK", (layer.weight_banks - 1) << 16U | (layer.data_banks - 1)}});
}

void write_csc(TraceText& text, const LayerShape& layer) {
    const std::uint32_t out = layer.out_width() * layer.out_height();
    const std::uint32_t channels = layer.channels - 1;
    text.select("CSC");
    text.write_all("CSC", {{"D_MISC_CFG", 0},
                           {"D_DATAIN_FORMAT", 0},
                           {"D_DATAIN_SIZE_EXT_0", size_of(layer.height, layer.width)},
                           {"D_DATAIN_SIZE_EXT_1", channels},
                           {"D_BATCH_NUMBER", 0},
                           {"D_POST_Y_EXTENSION", 0},
                           {"D_ENTRY_PER_SLICE", layer.width * surfaces(layer.channels) - 1},
                           {"D_WEIGHT_FORMAT", 0},
                           {"D_WEIGHT_SIZE_EXT_0", size_of(layer.kernel_size, layer.kernel_size)},
                           {"D_WEIGHT_SIZE_EXT_1", (layer.kernels - 1) << 16U | channels},
                           {"D_WEIGHT_BYTES", weight_bytes(layer)},
                           {"D_DATAOUT_SIZE_0", size_of(layer.out_height(), layer.out_width())},
                           {"D_DATAOUT_SIZE_1", layer.kernels - 1},
                           {"D_ATOMICS", out - 1},
                           {"D_RELEASE", layer.height - 1},
                           {"D_CONV_STRIDE_EXT", 0},
                           {"D_DILATION_EXT", 0},
                           {"D_ZERO_PADDING", layer.padding * 0x10001},
                           {"D_ZERO_PADDING_VALUE", 0},
                           {"D_BANK", (layer.weight_banks - 1) << 16U | (layer.data_banks - 1)},
                           {"D_PRA_CFG", 0}});
}

void write_sums(TraceText& text, const LayerShape& layer, std::uint32_t output) {
    const std::uint32_t line = layer.out_width() * atom;
    const bool point = layer.out_width() == 1 && layer.out_height() == 1;
    for (const char* unit : {"CMAC_A", "CMAC_B"}) {
        text.select(unit);
        text.write(unit, "D_MISC_CFG", 0);
    }
    text.select("CACC");
    text.write_all("CACC", {{"D_MISC_CFG", 0},
                            {"D_DATAOUT_SIZE_0", size_of(layer.out_height(), layer.out_width())},
                            {"D_DATAOUT_SIZE_1", layer.kernels - 1},
                            {"D_DATAOUT_ADDR", output},
                            {"D_BATCH_NUMBER", 0},
                            {"D_LINE_STRIDE", line},
                            {"D_SURF_STRIDE", line * layer.out_height()},
                            {"D_DATAOUT_MAP", point ? 0x10001U : 0U},
                            {"D_CLIP_CFG", 4}});
}

std::string images_of(const LayerShape& layer, std::uint32_t index) {
    TraceText text(index);
    const std::uint32_t offset = index * layer_distance;
    text.load(input_base + offset, "input");
    text.load(weight_base + offset, "weights");
    return text.text() + fmt::format("mem_init(pri_mem, {:#x}, {:#x}, ALL_ZERO);\n",
                                     output_base + offset, output_bytes(layer));
}

std::string registers_of(const LayerShape& layer, std::uint32_t index) {
    TraceText text(index);
    const std::uint32_t offset = index * layer_distance;
    write_sdp(text, layer, output_base + offset);
    write_cdma(text, layer, offset);
    write_csc(text, layer);
    write_sums(text, layer, output_base + offset);
    return text.text();
}

/// The pointers select the group that an op-enable applies to; group 0 is already selected in a
/// program with one layer.
std::string enables_of(std::uint32_t index, bool several) {
    TraceText text(index);
    if (several) {
        text.select("SDP");
        for (const char* unit : conv_units) {
            text.select(unit);
        }
    }
    return text.text();
}

std::string starts_of(std::uint32_t index) {
    TraceText text(index);
    text.write("SDP", "D_OP_ENABLE", 1);
    for (const char* unit : conv_units) {
        text.write(unit, "D_OP_ENABLE", 1);
    }
    return text.text();
}

MemoryImage random_image(std::uint64_t bytes) {
    MemoryImage image;
    std::mt19937 random(static_cast<unsigned>(bytes));
    image.bytes.resize(bytes);
    for (std::uint8_t& byte : image.bytes) {
        byte = static_cast<std::uint8_t>(random());
    }
    image.runs.push_back({0, 0, bytes});
    return image;
}

}  // namespace

std::string trace_of(const LayerPair& pair) {
    const auto layers = static_cast<std::uint32_t>(pair.layers.size());
    std::string text;
    for (std::uint32_t i = 0; i < layers; ++i) {
        text += images_of(pair.layers[i], i);
    }
    text += "reg_write(NVDLA_GLB.S_INTR_MASK_0, 0x3f03fc);\n";  // SDP's interrupts pass
    for (std::uint32_t i = 0; i < layers; ++i) {
        text += registers_of(pair.layers[i], i);
    }
    text += enables_of(0, layers > 1);
    text += "poll_reg_equal(NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0, 0x1);\n" + starts_of(0);
    for (std::uint32_t i = 1; i < layers; ++i) {
        text += enables_of(i, true) + starts_of(i);
    }
    for (std::uint32_t i = 0; i < layers; ++i) {
        text += fmt::format("intr_notify(SDP_{}, sync_id_{});\n", i, i);
    }
    return text;
}

Program program_of(const LayerPair& pair, const std::string& name) {
    std::map<std::string, std::uint64_t> sizes;
    for (std::size_t i = 0; i < pair.layers.size(); ++i) {
        sizes[fmt::format("input_{}", i)] = input_bytes(pair.layers[i]);
        sizes[fmt::format("weights_{}", i)] = weight_bytes(pair.layers[i]);
    }
    const auto images = [&](const std::string& file, const Place& /*place*/) {
        return random_image(sizes.at(file));
    };
    return parse_trace_cfg(trace_of(pair), name + ".cfg", RegisterNames(nvdla_register_blocks()),
                           images);
}

}  // namespace npuscope::bench
