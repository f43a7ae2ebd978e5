// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tests/support/generate_parts.h"
#include "tests/support/oracle_pool.h"

namespace npuscope {

namespace {

using oracle::PoolJob;
using oracle::PoolMethod;

/// One axis: kernel, stride, padding before and after, outputs.
struct Axis {
    std::uint32_t kernel = 1;
    std::uint32_t stride = 1;
    std::uint32_t front = 0;
    std::uint32_t back = 0;
    std::uint32_t outputs = 1;
    bool exact = true;  ///< the last window ends with the padding
};

std::optional<Axis> try_axis(Random& random, std::uint32_t size) {
    Axis axis;
    axis.kernel = random.size(1, 8);
    axis.stride =
        random.chance(85) ? random.size(1, std::min(axis.kernel + 1, 4U)) : random.size(1, 8);
    const std::uint32_t most = random.chance(50) ? axis.kernel - 1 : 0;
    axis.front = random.size(0, most);
    axis.back = random.size(0, most);
    const std::uint32_t padded = size + axis.front + axis.back;
    if (padded < axis.kernel) {
        return std::nullopt;
    }
    axis.outputs = (padded - axis.kernel) / axis.stride + 1;
    axis.exact = (padded - axis.kernel) % axis.stride == 0;
    return axis.exact || axis.back == 0 ? std::optional(axis) : std::nullopt;
}

Axis choose_axis(Random& random, std::uint32_t size) {
    for (;;) {
        if (const std::optional<Axis> axis = try_axis(random, size)) {
            return *axis;
        }
    }
}

/// Outputs of a line that PDP's buffer holds, by the lines that overlap.
/// source: nv_small RTL, measured
std::uint32_t line_limit(const Axis& rows) {
    const std::uint32_t lines = (rows.kernel + rows.stride - 1) / rows.stride;
    if (lines <= 2) {
        return lines == 1 ? 128 : 64;
    }
    return lines <= 4 ? 32 : 16;
}

/// Input and output columns of the first, the last and the middle parts of a split.
struct Split {
    std::uint32_t parts = 1;
    std::uint32_t in_first = 0, in_last = 0, in_mid = 0;
    std::uint32_t out_first = 0, out_last = 0, out_mid = 0;
};

std::optional<Split> try_split(Random& random, const Axis& columns, std::uint32_t width,
                               std::uint32_t limit) {
    Split split;
    split.parts = random.size(2, std::min(columns.outputs, 4U));
    const std::uint32_t middles = split.parts - 2;
    const std::uint32_t overlap = columns.kernel - columns.stride;
    split.out_first = random.size(1, columns.outputs);
    split.out_mid = middles == 0 ? 0 : random.size(1, columns.outputs);
    const std::uint32_t before = split.out_first + middles * split.out_mid;
    const std::uint32_t reach = (split.out_first - 1) * columns.stride + columns.kernel;
    split.in_first = reach - std::min(reach, columns.front);
    split.in_mid = split.out_mid * columns.stride;
    const std::uint32_t in_before = split.in_first + middles * split.in_mid;
    if (before >= columns.outputs || in_before >= width) {
        return std::nullopt;
    }
    split.out_last = columns.outputs - before;
    split.in_last = width - in_before;
    const bool wide = split.in_first >= std::max(overlap, 1U) && split.in_last >= overlap &&
                      (middles == 0 || split.in_mid >= overlap);
    const bool fits = std::max({split.out_first, split.out_mid, split.out_last}) <= limit;
    return wide && fits ? std::optional(split) : std::nullopt;
}

/// Legal where windows overlap or touch and the padding after is used up.
Split choose_split(Random& random, const Axis& columns, std::uint32_t width, std::uint32_t limit) {
    const bool legal = columns.outputs >= 2 && columns.kernel >= columns.stride && columns.exact;
    const bool wanted = columns.outputs > limit || random.chance(35);
    for (int attempt = 0; legal && wanted && attempt < 50; ++attempt) {
        if (const auto split = try_split(random, columns, width, limit)) {
            return *split;
        }
    }
    return {};
}

PoolJob make_job(Random& random, const Axis& columns, const Axis& rows) {
    PoolJob job;
    job.method = random.one_of({PoolMethod::Average, PoolMethod::Max, PoolMethod::Min});
    job.kernel_width = columns.kernel;
    job.kernel_height = rows.kernel;
    job.stride_x = columns.stride;
    job.stride_y = rows.stride;
    job.pad_left = columns.front;
    job.pad_top = rows.front;
    job.out_width = columns.outputs;
    job.out_height = rows.outputs;
    const std::int64_t value = random.between(-128, 127);
    const bool multiples = random.chance(70);
    for (std::int64_t n = 1; n < 8; ++n) {
        job.pad_values[static_cast<std::size_t>(n)] =
            static_cast<std::int32_t>(multiples ? value * n : random.between(-128 * n, 127 * n));
    }
    const bool usual = random.chance(85);
    job.recip_width = (65536 + columns.kernel / 2) / columns.kernel;
    job.recip_height = (65536 + rows.kernel / 2) / rows.kernel;
    if (!usual) {
        job.recip_width = random.size(0, 65536 / columns.kernel);
        job.recip_height = random.size(0, 65536 / rows.kernel);
    }
    return job;
}

/// Registers that only some methods use: those of the average.
void set_average(UnitRegisters& pdp, const PoolJob& job) {
    for (std::uint32_t n = 1; n < 8; ++n) {
        pdp.set_signed(fmt::format("D_POOLING_PADDING_VALUE_{}_CFG", n), job.pad_values[n], 19);
    }
    pdp.set("D_RECIP_KERNEL_WIDTH", job.recip_width);
    pdp.set("D_RECIP_KERNEL_HEIGHT", job.recip_height);
}

void set_job(UnitRegisters& pdp, const PoolJob& job, const Axis& columns, const Axis& rows) {
    pdp.set("D_POOLING_KERNEL_CFG", (columns.kernel - 1) | (rows.kernel - 1) << 8U |
                                        (columns.stride - 1) << 16U | (rows.stride - 1) << 20U);
    pdp.set("D_POOLING_PADDING_CFG",
            columns.front | rows.front << 4U | columns.back << 8U | rows.back << 12U);
    pdp.set("D_DATA_FORMAT", 0);
    if (job.method == PoolMethod::Average) {
        set_average(pdp, job);
    }
}

void set_cubes(UnitRegisters& pdp, const CubeSize& in, const oracle::Surface& out) {
    pdp.set("D_DATA_CUBE_IN_WIDTH", in.width - 1);
    pdp.set("D_DATA_CUBE_IN_HEIGHT", in.height - 1);
    pdp.set("D_DATA_CUBE_IN_CHANNEL", in.channels - 1);
    pdp.set("D_DATA_CUBE_OUT_WIDTH", out.width - 1);
    pdp.set("D_DATA_CUBE_OUT_HEIGHT", out.height - 1);
    pdp.set("D_DATA_CUBE_OUT_CHANNEL", out.channels - 1);
    pdp.set_address("D_DST_BASE_ADDR", out.base);
    pdp.set("D_DST_LINE_STRIDE", static_cast<std::uint32_t>(out.line_stride));
    pdp.set("D_DST_SURFACE_STRIDE", static_cast<std::uint32_t>(out.surface_stride));
    pdp.set("D_DST_RAM_CFG", ram_type(out.base));
}

std::uint32_t packed_widths(std::uint32_t first, std::uint32_t last, std::uint32_t mid) {
    return (first - 1) | (last - 1) << 10U | (mid == 0 ? 0 : mid - 1) << 20U;
}

void set_split(const Split& split, UnitRegisters& pdp, UnitRegisters& rdma) {
    rdma.set("D_OPERATION_MODE_CFG", split.parts - 1);
    if (split.parts == 1) {
        return;
    }
    const std::uint32_t in = packed_widths(split.in_first, split.in_last, split.in_mid);
    pdp.set("D_PARTIAL_WIDTH_IN", in);
    rdma.set("D_PARTIAL_WIDTH_IN", in);
    pdp.set("D_PARTIAL_WIDTH_OUT", packed_widths(split.out_first, split.out_last, split.out_mid));
}

void set_reader(UnitRegisters& rdma, const oracle::Surface& in, const Axis& columns) {
    rdma.set("D_DATA_CUBE_IN_WIDTH", in.width - 1);
    rdma.set("D_DATA_CUBE_IN_HEIGHT", in.height - 1);
    rdma.set("D_DATA_CUBE_IN_CHANNEL", in.channels - 1);
    rdma.set("D_FLYING_MODE", 1);  // source: nv_small trace tests, 1 means from memory
    rdma.set_address("D_SRC_BASE_ADDR", in.base);
    rdma.set("D_SRC_LINE_STRIDE", static_cast<std::uint32_t>(in.line_stride));
    rdma.set("D_SRC_SURFACE_STRIDE", static_cast<std::uint32_t>(in.surface_stride));
    rdma.set("D_SRC_RAM_CFG", ram_type(in.base));
    rdma.set("D_DATA_FORMAT", 0);
    rdma.set("D_POOLING_KERNEL_CFG", (columns.kernel - 1) | (columns.stride - 1) << 4U);
    rdma.set("D_POOLING_PADDING_CFG", columns.front);
}

std::string describe(const PoolJob& job) {
    static constexpr std::array names{"average", "maximum", "minimum"};
    return fmt::format("{} of {}x{}", names[static_cast<std::size_t>(job.method)], job.kernel_width,
                       job.kernel_height);
}

struct Axes {
    Axis columns;
    Axis rows;
    Split split;
};

Axes choose_axes(Random& random, const CubeSize& size, bool may_split) {
    for (;;) {
        Axes axes{choose_axis(random, size.width), choose_axis(random, size.height), {}};
        const std::uint32_t limit = line_limit(axes.rows);
        if (may_split) {
            axes.split = choose_split(random, axes.columns, size.width, limit);
        }
        if (axes.columns.outputs <= limit || axes.split.parts > 1) {
            return axes;
        }
    }
}

}  // namespace

Layer pool_layer(Scene& scene, const oracle::Surface* input) {
    Random& random = scene.random;
    const bool line = random.chance(10);
    const oracle::Surface in =
        input != nullptr
            ? *input
            : scene.load_surface({random.size(1, scene.preset.atom * 3), random.size(1, 20),
                                  line ? random.size(40, 150) : random.size(1, 24)},
                                 "in");
    const CubeSize size{in.channels, in.height, in.width};
    const Axes axes = choose_axes(random, size, true);
    const PoolJob job = make_job(random, axes.columns, axes.rows);
    Layer layer;
    layer.unit = "PDP";
    layer.group = scene.next_group("PDP");
    layer.values = oracle::pool(job, oracle::read_cube(in, scene.memory));
    scene.place_output(layer, {in.channels, job.out_height, job.out_width});
    UnitRegisters pdp("PDP", layer.group);
    UnitRegisters rdma("PDP_RDMA", scene.next_group("PDP_RDMA"));
    set_job(pdp, job, axes.columns, axes.rows);
    set_cubes(pdp, size, layer.output);
    set_split(axes.split, pdp, rdma);
    set_reader(rdma, in, axes.columns);
    pdp.set("D_OPERATION_MODE_CFG",
            static_cast<std::uint32_t>(job.method) | 0x10U | (axes.split.parts - 1) << 8U);
    layer.units = {pdp, rdma};
    layer.sentence = fmt::format("{}x{}x{} | PDP {}, {} part(s)", in.width, in.height, in.channels,
                                 describe(job), axes.split.parts);
    return layer;
}

Layer pool_behind(Scene& scene, Layer sdp) {
    const CubeSize size{sdp.output.channels, sdp.values.height, sdp.values.width};
    const Axes axes = choose_axes(scene.random, size, false);
    const PoolJob job = make_job(scene.random, axes.columns, axes.rows);
    Layer layer = std::move(sdp);
    layer.silent = fmt::format("{}_{}", layer.unit, layer.group);
    layer.unit = "PDP";
    layer.group = scene.next_group("PDP");
    layer.values = oracle::pool(job, layer.values);
    scene.place_output(layer, {size.channels, job.out_height, job.out_width});
    UnitRegisters pdp("PDP", layer.group);
    set_job(pdp, job, axes.columns, axes.rows);
    set_cubes(pdp, size, layer.output);
    pdp.set("D_OPERATION_MODE_CFG", static_cast<std::uint32_t>(job.method));
    layer.units.insert(layer.units.begin(), pdp);
    layer.sentence += fmt::format(" | PDP on the fly, {}", describe(job));
    return layer;
}

}  // namespace npuscope
