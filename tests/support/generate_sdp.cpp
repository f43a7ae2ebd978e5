// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tests/support/generate_fit.h"
#include "tests/support/generate_parts.h"
#include "tests/support/generate_stage.h"

namespace npuscope {

namespace {

using oracle::Cube;
using oracle::OutputConverter;

void set_source(UnitRegisters& rdma, const Front& front) {
    rdma.set("D_DATA_CUBE_WIDTH", front.size.width - 1);
    rdma.set("D_DATA_CUBE_HEIGHT", front.size.height - 1);
    rdma.set("D_DATA_CUBE_CHANNEL", front.size.channels - 1);
    rdma.set("D_FEATURE_MODE_CFG", front.flying ? 1 : 0);
    if (!front.flying) {
        rdma.set_address("D_SRC_BASE_ADDR", front.source.base);
        rdma.set("D_SRC_LINE_STRIDE", static_cast<std::uint32_t>(front.source.line_stride));
        rdma.set("D_SRC_SURFACE_STRIDE", static_cast<std::uint32_t>(front.source.surface_stride));
        rdma.set("D_SRC_DMA_CFG", ram_type(front.source.base));
    }
}

void set_output(Scene& scene, UnitRegisters& sdp, const Front& front, const SdpWish& wish) {
    sdp.set("D_DATA_CUBE_WIDTH", front.size.width - 1);
    sdp.set("D_DATA_CUBE_HEIGHT", front.size.height - 1);
    sdp.set("D_DATA_CUBE_CHANNEL", front.size.channels - 1);
    const std::uint32_t nan = scene.random.size(0, 1) << 3U;
    sdp.set("D_FEATURE_MODE_CFG", (front.flying ? 1U : 0U) | (wish.to_pool ? 2U : 0U) | nan);
    sdp.set("D_DATA_FORMAT", 0);
}

void set_destination(UnitRegisters& sdp, const oracle::Surface& output) {
    sdp.set_address("D_DST_BASE_ADDR", output.base);
    sdp.set("D_DST_LINE_STRIDE", static_cast<std::uint32_t>(output.line_stride));
    sdp.set("D_DST_SURFACE_STRIDE", static_cast<std::uint32_t>(output.surface_stride));
    sdp.set("D_DST_DMA_CFG", ram_type(output.base));
}

void set_converter(UnitRegisters& sdp, const OutputConverter& converter) {
    sdp.set_signed("D_CVT_OFFSET", converter.offset, 32);
    sdp.set_signed("D_CVT_SCALE", converter.scale, 16);
    sdp.set("D_CVT_SHIFT", converter.shift);
}

oracle::SinglePointJob choose_stages(Scene& scene, const Front& front, const SdpWish& wish) {
    oracle::SinglePointJob job;
    if (wish.stages) {
        job.bs = choose_stage_x(scene, front.values, "bs");
        job.bn =
            choose_stage_x(scene, oracle::apply_x_stages(job, front.values, scene.memory), "bn");
    }
    const Cube behind = oracle::apply_x_stages(job, front.values, scene.memory);
    if (wish.element_wise) {
        job.ew = choose_stage_y(scene, behind, wish.table);
    }
    return job;
}

/// Values in front of the output converter, from one pass with a converter that changes nothing
/// that matters for their size.
Cube before_converter(const oracle::SinglePointJob& job, const Cube& input,
                      const oracle::Memory& memory) {
    Cube cube = oracle::apply_y_core(job.ew, oracle::apply_x_stages(job, input, memory), memory);
    if (!job.ew.bypass && !job.ew.lut_bypass) {
        for (std::int64_t& value : cube.values) {
            value = oracle::look_up_sdp(job.ew.lut, value);
        }
    }
    return cube;
}

}  // namespace

Front memory_front(Scene& scene, const oracle::Surface* input) {
    Random& random = scene.random;
    Front front;
    if (input == nullptr) {
        const bool line = random.chance(8);
        front.size.width = line ? random.size(30, 300) : random.size(1, 18);
        front.size.height = line ? random.size(1, 3) : random.size(1, 18);
        front.size.channels = random.size(1, scene.preset.atom * 4);
        front.source = scene.load_surface(front.size, "in");
    } else {
        front.size = {input->channels, input->height, input->width};
        front.source = *input;
    }
    front.values = oracle::read_cube(front.source, scene.memory);
    front.sentence =
        fmt::format("{}x{}x{}", front.size.width, front.size.height, front.size.channels);
    return front;
}

Layer sdp_layer(Scene& scene, Front front, const SdpWish& wish) {
    oracle::SinglePointJob job = choose_stages(scene, front, wish);
    job.converter =
        fit_converter(scene.random, before_converter(job, front.values, scene.memory), 32);
    Layer layer;
    layer.convolution = front.flying;
    layer.unit = "SDP";
    layer.group = scene.next_group("SDP");
    layer.sentence = front.sentence + " | SDP";
    layer.values = oracle::post_process(job, front.values, scene.memory);
    UnitRegisters sdp("SDP", layer.group);
    set_output(scene, sdp, front, wish);
    set_converter(sdp, job.converter);
    if (wish.to_pool) {
        layer.output.channels = front.size.channels;
    } else {
        scene.place_output(layer, front.size);
        set_destination(sdp, layer.output);
    }
    set_stage_x(scene.random, sdp, "BS", job.bs);
    set_stage_x(scene.random, sdp, "BN", job.bn);
    set_stage_y(scene.random, sdp, job.ew);
    if (wish.table && !job.ew.lut_bypass) {
        layer.tables = lut_writes(scene.random, job.ew.lut, TableUser::Sdp);
    }
    layer.units = {sdp};
    if (!front.flying || from_memory(job)) {
        UnitRegisters rdma("SDP_RDMA", scene.next_group("SDP_RDMA"));
        set_source(rdma, front);
        set_operand_readers(scene.random, rdma, job);
        layer.units.push_back(rdma);
    }
    layer.units.insert(layer.units.end(), front.units.begin(), front.units.end());
    return layer;
}

}  // namespace npuscope
