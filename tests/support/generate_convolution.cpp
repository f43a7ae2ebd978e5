// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/generate_convolve.h"
#include "tests/support/generate_parts.h"

namespace npuscope {

namespace {

std::uint32_t kernel_side(Random& random) {
    return random.chance(8) ? random.size(6, 11) : random.size(1, 5);
}

CubeSize random_input(Random& random, const PresetParameters& preset) {
    const bool line = random.chance(6);
    const std::uint32_t most = preset.atomic_c * 3;
    CubeSize size;
    size.width = line ? random.size(40, 200) : random.size(1, 22);
    size.height = line ? random.size(1, 3) : random.size(1, 22);
    size.channels = random.chance(30) ? preset.atomic_c * random.size(1, 3) : random.size(1, most);
    return size;
}

void choose_axis(Random& random, ConvolveShape& shape) {
    const bool dilated = random.chance(30);
    shape.window.stride_x = random.chance(60) ? 1 : random.size(1, 4);
    shape.window.stride_y = random.chance(60) ? 1 : random.size(1, 4);
    shape.window.dilation_x = dilated ? random.size(1, 3) : 1;
    shape.window.dilation_y = dilated ? random.size(1, 3) : 1;
    const bool padded = random.chance(60);
    const std::uint32_t reach_x = padded ? (shape.columns - 1) * shape.window.dilation_x : 0;
    const std::uint32_t reach_y = padded ? (shape.rows - 1) * shape.window.dilation_y : 0;
    shape.window.pad_left = random.size(0, std::min(reach_x, 31U));
    shape.window.pad_top = random.size(0, std::min(reach_y, 31U));
    shape.pad_right = random.size(0, std::min(reach_x, 31U));
    shape.pad_bottom = random.size(0, std::min(reach_y, 31U));
    shape.window.pad_value = static_cast<std::int32_t>(random.between(-128, 127));
}

/// CBUF entries of one input line: whole atoms of channels, several to an entry.
/// source: NVDLA C model, checks of D_ENTRY_PER_SLICE
std::uint32_t line_entries(const PresetParameters& preset, const CubeSize& input) {
    const std::uint32_t per_entry = preset.bank_width / preset.atom;
    const std::uint32_t atoms = (input.channels + preset.atom - 1) / preset.atom;
    const std::uint32_t rest = atoms % per_entry;
    const std::uint32_t tail = per_entry == 4 && rest == 3
                                   ? input.width
                                   : (rest * input.width + per_entry - 1) / per_entry;
    return atoms / per_entry * input.width + tail;
}

ConvolveShape choose(Scene& scene, const oracle::Surface* input) {
    Random& random = scene.random;
    for (;;) {
        ConvolveShape shape;
        shape.input = input == nullptr ? random_input(random, scene.preset)
                                       : CubeSize{input->channels, input->height, input->width};
        shape.channels = shape.input.channels;
        shape.rows = kernel_side(random);
        shape.columns = kernel_side(random);
        shape.kernels = random.size(1, scene.preset.atomic_k * 3);
        choose_axis(random, shape);
        shape.entries = line_entries(scene.preset, shape.input);
        if (fit(scene, shape)) {
            return shape;
        }
    }
}

void set_feature_input(Random& random, UnitRegisters& cdma, const oracle::Surface& input) {
    const bool lines = input.line_stride == std::uint64_t{input.width} * input.atom;
    const bool surfaces = input.surface_stride == input.line_stride * input.height;
    cdma.set("D_DATAIN_FORMAT", random.word() & 0x113f00U);  // pixel fields do not matter
    cdma.set("D_DAIN_ADDR_HIGH_0", static_cast<std::uint32_t>(input.base >> 32U));
    cdma.set("D_DAIN_ADDR_LOW_0", static_cast<std::uint32_t>(input.base));
    cdma.set("D_DAIN_RAM_TYPE", ram_type(input.base));
    cdma.set("D_LINE_STRIDE", static_cast<std::uint32_t>(input.line_stride));
    cdma.set("D_SURF_STRIDE", static_cast<std::uint32_t>(input.surface_stride));
    cdma.set("D_DAIN_MAP", (lines ? 1U : 0U) | (surfaces ? 0x10000U : 0U));
    cdma.set("D_CVT_CFG", random.size(0, 63) << 4U);
    cdma.set("D_MEAN_FORMAT", 0);
}

}  // namespace

Front convolution_front(Scene& scene, const oracle::Surface* input) {
    const ConvolveShape shape = choose(scene, input);
    const oracle::Surface surface =
        input == nullptr ? scene.load_surface(shape.input, "in") : *input;
    oracle::WeightSurface weights;
    weights.channels = shape.channels;
    weights.columns = shape.columns;
    ConvolveUnits units = make_convolve_units(scene, shape, weights);
    set_feature_input(scene.random, units.cdma, surface);
    units.csc.set("D_DATAIN_FORMAT", 0);
    Front front;
    front.flying = true;
    front.size = {shape.kernels, shape.out_height, shape.out_width};
    front.values = oracle::convolve(oracle::read_cube(surface, scene.memory), weights,
                                    {shape.channels, shape.columns}, shape.window,
                                    accumulator(scene, shape), scene.memory);
    front.sentence =
        fmt::format("convolution {}x{}x{}, {} kernels {}x{}", shape.input.width, shape.input.height,
                    shape.channels, shape.kernels, shape.columns, shape.rows);
    front.units = in_order(units);
    return front;
}

}  // namespace npuscope
