// SPDX-License-Identifier: Apache-2.0
#include "tests/support/generate_convolve.h"

#include <algorithm>

namespace npuscope {

namespace {

std::uint32_t pair(std::uint32_t low, std::uint32_t high) { return low | high << 16U; }

std::uint32_t outputs(std::uint32_t padded, std::uint32_t reach, std::uint32_t stride) {
    return padded < reach ? 0 : (padded - reach) / stride + 1;
}

std::uint64_t work_limit(Random& random) {
    if (random.chance(4)) {
        return 12'000'000;
    }
    return random.chance(15) ? 2'000'000 : 300'000;
}

void set_cdma(Scene& scene, const ConvolveShape& s, UnitRegisters& cdma) {
    Random& random = scene.random;
    cdma.set("D_MISC_CFG", 0);
    cdma.set("D_DATAIN_SIZE_0", pair(s.input.width - 1, s.input.height - 1));
    cdma.set("D_DATAIN_SIZE_1", s.input.channels - 1);
    cdma.set("D_DATAIN_SIZE_EXT_0", pair(s.input.width - 1, s.input.height - 1));
    cdma.set("D_BATCH_NUMBER", 0);
    cdma.set("D_ENTRY_PER_SLICE", s.entries - 1);
    cdma.set("D_FETCH_GRAIN", random.size(1, std::min(s.input.height, 6U)) - 1);
    cdma.set("D_CONV_STRIDE", pair(s.window.stride_x - 1, s.window.stride_y - 1));
    cdma.set("D_ZERO_PADDING",
             pair(s.window.pad_left | s.pad_right << 8U, s.window.pad_top | s.pad_bottom << 8U));
    cdma.set("D_ZERO_PADDING_VALUE", field(s.window.pad_value, 8));
    cdma.set("D_BANK", pair(s.data_banks - 1, s.weight_banks - 1));
}

void set_csc(const ConvolveShape& s, const oracle::WeightSurface& weights, UnitRegisters& csc) {
    csc.set("D_MISC_CFG", 0);
    csc.set("D_DATAIN_SIZE_EXT_0", pair(s.input.width - 1, s.input.height - 1));
    csc.set("D_DATAIN_SIZE_EXT_1", s.input.channels - 1);
    csc.set("D_BATCH_NUMBER", 0);
    csc.set("D_POST_Y_EXTENSION", s.row_group / 2);
    csc.set("D_ENTRY_PER_SLICE", s.entries - 1);
    csc.set("D_WEIGHT_FORMAT", 0);
    csc.set("D_WEIGHT_SIZE_EXT_0", pair(weights.columns - 1, weights.rows - 1));
    csc.set("D_WEIGHT_SIZE_EXT_1", pair(weights.channels - 1, weights.kernels - 1));
    csc.set("D_DATAOUT_SIZE_0", pair(s.out_width - 1, s.out_height - 1));
    csc.set("D_DATAOUT_SIZE_1", s.kernels - 1);
    csc.set("D_ATOMICS", s.out_width * s.out_height - 1);
    csc.set("D_RELEASE", s.input.height - 1);
    csc.set("D_CONV_STRIDE_EXT", pair(s.window.stride_x - 1, s.window.stride_y - 1));
    csc.set("D_DILATION_EXT", pair(s.window.dilation_x - 1, s.window.dilation_y - 1));
    csc.set("D_ZERO_PADDING", pair(s.window.pad_left, s.window.pad_top));
    csc.set("D_ZERO_PADDING_VALUE", field(s.window.pad_value, 8));
    csc.set("D_BANK", pair(s.data_banks - 1, s.weight_banks - 1));
}

void set_weights(Scene& scene, const oracle::WeightSurface& weights, ConvolveUnits& units) {
    // zeros after the last entry would stay in the buffer, for the next convolution to read
    const std::uint32_t entry = scene.preset.bank_width;
    const auto bytes = static_cast<std::uint32_t>((weights.bytes() + entry - 1) / entry * entry);
    const std::uint32_t per_kernel = weights.channels * weights.rows * weights.columns;
    scene.load_random(weights.base, (bytes + 127) / 128 * 128, "wt");
    units.cdma.set("D_WEIGHT_FORMAT", 0);
    units.cdma.set("D_WEIGHT_SIZE_0", per_kernel - 1);
    units.cdma.set("D_WEIGHT_SIZE_1", weights.kernels - 1);
    units.cdma.set("D_WEIGHT_RAM_TYPE", ram_type(weights.base));
    units.cdma.set("D_WEIGHT_ADDR_HIGH", static_cast<std::uint32_t>(weights.base >> 32U));
    units.cdma.set("D_WEIGHT_ADDR_LOW", static_cast<std::uint32_t>(weights.base));
    units.cdma.set("D_WEIGHT_BYTES", bytes);
    units.csc.set("D_WEIGHT_BYTES", bytes);
}

}  // namespace

bool fit(Scene& scene, ConvolveShape& s) {
    const PresetParameters& preset = scene.preset;
    s.out_width = outputs(s.input.width + s.window.pad_left + s.pad_right,
                          (s.columns - 1) * s.window.dilation_x + 1, s.window.stride_x);
    s.out_height = outputs(s.input.height + s.window.pad_top + s.pad_bottom,
                           (s.rows - 1) * s.window.dilation_y + 1, s.window.stride_y);
    const std::uint64_t outputs_in_all = std::uint64_t{s.out_width} * s.out_height * s.kernels;
    const std::uint64_t per_kernel = std::uint64_t{s.channels} * s.rows * s.columns;
    if (outputs_in_all == 0 || outputs_in_all * per_kernel > work_limit(scene.random)) {
        return false;
    }
    const std::uint64_t group_bytes = per_kernel * std::min(preset.atomic_k, s.kernels) + 128;
    const std::uint32_t bank_bytes = preset.bank_width * preset.bank_depth;
    const auto weights = static_cast<std::uint32_t>((group_bytes + bank_bytes - 1) / bank_bytes);
    const std::uint32_t data =
        (s.entries * s.input.height + preset.bank_depth - 1) / preset.bank_depth;
    if (weights + data > preset.banks) {
        return false;
    }
    const std::uint32_t spare = preset.banks - weights - data;
    s.data_banks = data + scene.random.size(0, spare);
    const std::uint32_t most = preset.banks - s.data_banks;
    s.weight_banks = scene.random.chance(50) ? most : scene.random.size(weights, most);
    s.truncate = scene.random.chance(10) ? scene.random.size(0, 16) : scene.random.size(0, 8);
    return true;
}

oracle::Accumulator accumulator(const Scene& scene, const ConvolveShape& shape) {
    return {shape.out_width, shape.out_height, shape.truncate, scene.preset.atom};
}

ConvolveUnits make_convolve_units(Scene& scene, const ConvolveShape& shape,
                                  oracle::WeightSurface& weights) {
    const std::uint32_t group = scene.next_group("CDMA");
    ConvolveUnits units{UnitRegisters("CDMA", group), UnitRegisters("CSC", group),
                        UnitRegisters("CMAC_A", group), UnitRegisters("CMAC_B", group),
                        UnitRegisters("CACC", group)};
    weights.kernels = shape.kernels;
    weights.rows = shape.rows;
    weights.group = scene.preset.atomic_k;
    weights.depth = scene.preset.atomic_c;
    weights.row_group = shape.row_group;
    weights.base = scene.allocate(weights.bytes() + 128);
    set_weights(scene, weights, units);
    set_cdma(scene, shape, units.cdma);
    set_csc(shape, weights, units.csc);
    units.cmac_a.set("D_MISC_CFG", 0);
    units.cmac_b.set("D_MISC_CFG", 0);
    units.cacc.set("D_MISC_CFG", 0);
    units.cacc.set("D_BATCH_NUMBER", 0);
    units.cacc.set("D_DATAOUT_SIZE_0", pair(shape.out_width - 1, shape.out_height - 1));
    units.cacc.set("D_DATAOUT_SIZE_1", shape.kernels - 1);
    units.cacc.set("D_CLIP_CFG", shape.truncate);
    return units;
}

std::vector<UnitRegisters> in_order(const ConvolveUnits& units) {
    return {units.cacc, units.cmac_a, units.cmac_b, units.csc, units.cdma};
}

}  // namespace npuscope
