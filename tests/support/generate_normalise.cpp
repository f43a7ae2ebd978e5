// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/generate_fit.h"
#include "tests/support/generate_parts.h"
#include "tests/support/oracle_pool.h"

namespace npuscope {

namespace {

using oracle::NormaliseJob;

void choose_input(Random& random, NormaliseJob& job) {
    job.in_offset = static_cast<std::int32_t>(random.chance(50) ? 0 : random.between(-128, 127));
    job.in_shift = random.chance(50) ? 0 : random.size(0, 15);
    const std::int64_t unity = std::int64_t{1} << job.in_shift;
    job.in_scale = static_cast<std::int32_t>(
        random.chance(80)
            ? std::clamp<std::int64_t>(unity + random.between(-unity / 4, unity), 1, 32767)
            : random.between(-32768, 32767));
}

NormaliseJob choose(Random& random, const oracle::Cube& input, std::uint32_t channels) {
    NormaliseJob job;
    job.neighbours = random.one_of<std::uint32_t>({3, 5, 7, 9});
    job.square_bypass = random.chance(15);
    job.product_bypass = random.chance(15);
    choose_input(random, job);
    const oracle::Cube sums = oracle::table_inputs(job, input, channels);
    const auto [low, high] = std::minmax_element(sums.values.begin(), sums.values.end());
    oracle::Cube products;
    for (int attempt = 0; attempt < 10; ++attempt) {
        job.lut = random_lut(random, *low, *high, TableUser::Cdp);
        products = oracle::products(job, input, channels);
        if (still_varied(sums, products)) {
            break;
        }
    }
    const oracle::OutputConverter out = fit_converter(random, products, 25);
    job.out_offset = static_cast<std::int32_t>(out.offset);
    job.out_scale = out.scale;
    job.out_shift = out.shift;
    return job;
}

void set_job(UnitRegisters& cdp, const NormaliseJob& job, const oracle::Surface& output) {
    cdp.set("D_FUNC_BYPASS", (job.square_bypass ? 1U : 0U) | (job.product_bypass ? 2U : 0U));
    cdp.set_address("D_DST_BASE_ADDR", output.base);
    cdp.set("D_DST_LINE_STRIDE", static_cast<std::uint32_t>(output.line_stride));
    cdp.set("D_DST_SURFACE_STRIDE", static_cast<std::uint32_t>(output.surface_stride));
    cdp.set("D_DST_DMA_CFG", ram_type(output.base));
    cdp.set("D_DATA_FORMAT", 0);
    cdp.set("D_LRN_CFG", (job.neighbours - 3) / 2);
    cdp.set_signed("D_DATIN_OFFSET", job.in_offset, 16);
    cdp.set_signed("D_DATIN_SCALE", job.in_scale, 16);
    cdp.set("D_DATIN_SHIFTER", job.in_shift);
    cdp.set_signed("D_DATOUT_OFFSET", job.out_offset, 32);
    cdp.set_signed("D_DATOUT_SCALE", job.out_scale, 16);
    cdp.set("D_DATOUT_SHIFTER", job.out_shift);
}

void set_reader(UnitRegisters& rdma, const oracle::Surface& input) {
    rdma.set("D_DATA_CUBE_WIDTH", input.width - 1);
    rdma.set("D_DATA_CUBE_HEIGHT", input.height - 1);
    rdma.set("D_DATA_CUBE_CHANNEL", input.channels - 1);
    rdma.set_address("D_SRC_BASE_ADDR", input.base);
    rdma.set("D_SRC_LINE_STRIDE", static_cast<std::uint32_t>(input.line_stride));
    rdma.set("D_SRC_SURFACE_STRIDE", static_cast<std::uint32_t>(input.surface_stride));
    rdma.set("D_SRC_DMA_CFG", ram_type(input.base));
    rdma.set("D_DATA_FORMAT", 0);
}

}  // namespace

Layer normalise_layer(Scene& scene, const oracle::Surface* input) {
    Random& random = scene.random;
    const oracle::Surface in = input != nullptr
                                   ? *input
                                   : scene.load_surface({random.size(1, scene.preset.atom * 5),
                                                         random.size(1, 12), random.size(1, 12)},
                                                        "in");
    const oracle::Cube values = oracle::read_cube(in, scene.memory);
    const NormaliseJob job = choose(random, values, in.channels);
    Layer layer;
    layer.unit = "CDP";
    layer.group = scene.next_group("CDP");
    layer.values = oracle::normalise(job, values, in.channels);
    scene.place_output(layer, {in.channels, in.height, in.width});
    UnitRegisters cdp("CDP", layer.group);
    UnitRegisters rdma("CDP_RDMA", scene.next_group("CDP_RDMA"));
    set_job(cdp, job, layer.output);
    set_reader(rdma, in);
    layer.tables = lut_writes(random, job.lut, TableUser::Cdp);
    layer.units = {cdp, rdma};
    layer.sentence = fmt::format("{}x{}x{} | CDP, {} neighbours", in.width, in.height, in.channels,
                                 job.neighbours);
    return layer;
}

}  // namespace npuscope
