// SPDX-License-Identifier: Apache-2.0
#include "tests/support/generate_stage.h"

#include <algorithm>

#include "tests/support/generate_fit.h"
#include "tests/support/generate_parts.h"

namespace npuscope {

namespace {

using oracle::AluAlgorithm;
using oracle::Cube;
using oracle::Operands;
using oracle::StageX;
using oracle::StageY;

template <class Stage>
bool alu_reads(const Stage& stage) {
    return !stage.bypass && !stage.alu_bypass && stage.alu_from_memory;
}

template <class Stage>
bool mul_reads(const Stage& stage) {
    return !stage.bypass && !stage.mul_bypass && stage.mul_from_memory;
}

template <class Stage>
bool reads(const Stage& stage) {
    return alu_reads(stage) || mul_reads(stage);
}

/// Operands for every lane of a cube, per channel or per element, in their own file.
Operands load_operands(Scene& scene, const Cube& cube, std::uint32_t components,
                       const std::string& name) {
    Random& random = scene.random;
    Operands o;
    o.atom = scene.preset.atom;
    o.bytes = random.size(1, 2);
    o.components = components;
    o.per_element = random.chance(50);
    const std::uint64_t atom = std::uint64_t{o.atom} * o.bytes * components;
    const bool one_pixel = cube.width == 1 && cube.height == 1;
    const bool gaps = !one_pixel && random.chance(40);
    o.line_stride = atom * (cube.width + (gaps ? random.size(0, 3) : 0));
    o.surface_stride = o.line_stride * cube.height + (gaps ? atom * random.size(0, 4) : 0);
    const std::uint64_t surfaces = cube.channels / o.atom;
    const std::uint64_t bytes = o.per_element ? o.surface_stride * surfaces : atom * surfaces;
    o.base = scene.allocate(bytes);
    scene.load_random(o.base, bytes, name, true);
    return o;
}

/// A number of a random size, of either sign.
std::int64_t random_value(Random& random, std::uint32_t bits) {
    const std::int64_t top = (std::int64_t{1} << random.size(1, bits - 1)) - 1;
    return random.between(-top - 1, top);
}

AluAlgorithm random_algorithm(Random& random) {
    return random.one_of(
        {AluAlgorithm::Sum, AluAlgorithm::Sum, AluAlgorithm::Max, AluAlgorithm::Min});
}

std::uint32_t near(Random& random, std::int64_t shift, std::uint32_t most) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(shift + random.between(-2, 2), 0, most));
}

template <class Stage>
std::uint32_t component_count(const Stage& stage) {
    return alu_reads(stage) && mul_reads(stage) ? 2 : 1;
}

void choose_numbers(Random& random, StageX& stage, std::uint32_t data_bits) {
    const bool wide = stage.operands.bytes == 2;
    stage.alu_value = static_cast<std::int32_t>(random_value(random, 16));
    stage.mul_value = static_cast<std::int32_t>(random_value(random, 16));
    const std::uint32_t alu_bits =
        alu_reads(stage) ? (wide ? 15 : 7) : magnitude_bits(std::abs(stage.alu_value));
    const std::uint32_t mul_bits =
        mul_reads(stage) ? (wide ? 15 : 7) : magnitude_bits(std::abs(stage.mul_value));
    stage.alu_shift = random.chance(5) ? random.size(0, 63)
                                       : near(random, std::int64_t{data_bits} - alu_bits - 1, 40);
    stage.mul_shift = random.chance(5) ? random.size(0, 63) : near(random, mul_bits, 40);
    if (stage.mul_bypass) {
        stage.mul_shift = random.chance(60) ? 0 : random.size(0, 5);
    }
}

Cube through(const StageX& stage, const Cube& values, const oracle::Memory& memory) {
    oracle::SinglePointJob job;
    job.bs = stage;
    return oracle::apply_x_stages(job, values, memory);
}

void choose_prelu(Random& random, StageX& stage) {
    stage.prelu = !stage.mul_bypass && random.chance(25);
    if (stage.prelu) {  // source: NVDLA unit description, PReLU wants the ALU and ReLU bypassed
        stage.alu_bypass = true;
        stage.relu_bypass = true;
    }
}

/// The part of CFG that BS, BN and EW share; `last` is bit 6, ReLU or LUT bypass.
template <class Stage>
std::uint32_t stage_bits(const Stage& stage, bool last) {
    const auto algorithm = static_cast<std::uint32_t>(stage.algorithm);
    return (stage.bypass ? 1U : 0U) | (stage.alu_bypass ? 2U : 0U) | algorithm << 2U |
           (stage.mul_bypass ? 0x10U : 0U) | (stage.prelu ? 0x20U : 0U) | (last ? 0x40U : 0U);
}

template <class Stage>
void set_reader(Random& random, UnitRegisters& rdma, const std::string& letters,
                const Stage& stage) {
    const std::string cfg = "D_" + letters.substr(0, 1) + "RDMA_CFG";
    const std::string name = "D_" + letters.substr(1);
    if (!reads(stage)) {
        rdma.set(cfg, (random.word() & 0x3eU) | 1U);
        return;
    }
    const Operands& o = stage.operands;
    const std::uint32_t use = component_count(stage) == 2 ? 2U : alu_reads(stage) ? 1U : 0U;
    rdma.set(cfg, use << 1U | (o.bytes - 1) << 3U | (o.per_element ? 0x10U : 0U) |
                      ram_type(o.base) << 5U);
    rdma.set_address(name + "_BASE_ADDR", o.base);
    rdma.set(name + "_LINE_STRIDE", static_cast<std::uint32_t>(o.line_stride));
    rdma.set(name + "_SURFACE_STRIDE", static_cast<std::uint32_t>(o.surface_stride));
}

oracle::OperandConverter random_converter(Random& random) {
    oracle::OperandConverter converter;
    converter.bypass = random.chance(40);
    converter.offset = random_value(random, random.chance(10) ? 32 : 12);
    converter.scale = static_cast<std::int32_t>(random_value(random, 16));
    converter.truncate = random.chance(5)
                             ? random.size(0, 63)
                             : near(random, magnitude_bits(std::abs(converter.scale)), 40);
    return converter;
}

/// PReLU of the Y stage keeps to products that stay negative in 32 bits: RTL and C model differ
/// beyond. source: nv_small RTL, NV_NVDLA_SDP_HLS_Y_int_mul
void choose_multiplier(Random& random, StageY& stage, std::int64_t top) {
    stage.prelu = false;
    stage.mul_value = random_value(random, 20);
    const std::uint32_t bits = mul_reads(stage) ? 14 : magnitude_bits(std::abs(stage.mul_value));
    stage.truncate = random.chance(4) ? random.size(0, 1023) : near(random, bits, 60);
    const std::int64_t most = ((std::int64_t{1} << 31) - 1) / (top + 1);
    if (!stage.mul_bypass && !stage.mul_from_memory && most > 1 && random.chance(30)) {
        stage.prelu = true;
        stage.mul_value = random.between(0, std::min<std::int64_t>(most, 1 << 20));
    }
}

void choose_table(Random& random, StageY& stage, const Cube& core) {
    const auto [low, high] = std::minmax_element(core.values.begin(), core.values.end());
    for (int attempt = 0; attempt < 10; ++attempt) {
        stage.lut = random_lut(random, *low, *high, TableUser::Sdp);
        Cube looked_up = core;
        for (std::int64_t& value : looked_up.values) {
            value = oracle::look_up_sdp(stage.lut, value);
        }
        if (still_varied(core, looked_up)) {
            return;
        }
    }
}

std::uint32_t source_bits(bool memory, const oracle::OperandConverter& converter) {
    return (memory ? 1U : 0U) | (converter.bypass ? 2U : 0U);
}

void set_operand_converter(UnitRegisters& sdp, const std::string& name,
                           const oracle::OperandConverter& converter) {
    sdp.set_signed(name + "_OFFSET_VALUE", converter.offset, 32);
    sdp.set_signed(name + "_SCALE_VALUE", converter.scale, 16);
    sdp.set(name + "_TRUNCATE_VALUE", converter.truncate);
}

}  // namespace

oracle::StageX choose_stage_x(Scene& scene, const Cube& values, const std::string& name) {
    Random& random = scene.random;
    StageX stage;
    stage.bypass = random.chance(25);
    if (stage.bypass) {
        return stage;
    }
    stage.alu_bypass = random.chance(30);
    stage.mul_bypass = random.chance(40);
    stage.relu_bypass = random.chance(50);
    stage.algorithm = random_algorithm(random);
    stage.alu_from_memory = random.chance(50);
    stage.mul_from_memory = random.chance(50);
    choose_prelu(random, stage);
    if (reads(stage)) {
        stage.operands = load_operands(scene, values, component_count(stage), name);
    }
    for (int attempt = 0; attempt < 12; ++attempt) {
        choose_numbers(random, stage, magnitude_bits(largest(values)));
        if (still_varied(values, through(stage, values, scene.memory))) {
            break;
        }
    }
    return stage;
}

oracle::StageY choose_stage_y(Scene& scene, const Cube& values, bool table) {
    Random& random = scene.random;
    StageY stage;
    stage.bypass = false;
    stage.alu_bypass = random.chance(30);
    stage.mul_bypass = random.chance(30);
    stage.algorithm = random_algorithm(random);
    stage.alu_from_memory = random.chance(50);
    stage.mul_from_memory = random.chance(50);
    if (reads(stage)) {
        stage.operands = load_operands(scene, values, component_count(stage), "ew");
    }
    const std::int64_t top = largest(values);
    Cube core;
    for (int attempt = 0; attempt < 12; ++attempt) {
        choose_multiplier(random, stage, top);
        stage.alu_value = random_value(random, std::clamp(magnitude_bits(top), 4U, 32U));
        stage.alu_converter = random_converter(random);
        stage.mul_converter = random_converter(random);
        core = oracle::apply_y_core(stage, values, scene.memory);
        if (still_varied(values, core)) {
            break;
        }
    }
    stage.lut_bypass = !table;
    if (table) {
        choose_table(random, stage, core);
    }
    return stage;
}

void set_stage_x(Random& random, UnitRegisters& sdp, const std::string& stage, const StageX& job) {
    const std::string name = "D_DP_" + stage;
    if (job.bypass) {
        sdp.set(name + "_CFG", (random.word() & 0x7eU) | 1U);
        return;
    }
    sdp.set(name + "_CFG", stage_bits(job, job.relu_bypass));
    sdp.set(name + "_MUL_CFG", (job.mul_from_memory ? 1U : 0U) | job.mul_shift << 8U);
    if (!job.alu_bypass) {
        sdp.set(name + "_ALU_CFG", (job.alu_from_memory ? 1U : 0U) | job.alu_shift << 8U);
        sdp.set_signed(name + "_ALU_SRC_VALUE", job.alu_value, 16);
    }
    if (!job.mul_bypass) {
        sdp.set_signed(name + "_MUL_SRC_VALUE", job.mul_value, 16);
    }
}

void set_stage_y(Random& random, UnitRegisters& sdp, const StageY& job) {
    if (job.bypass) {
        sdp.set("D_DP_EW_CFG", (random.word() & 0x7eU) | 1U);
        return;
    }
    sdp.set("D_DP_EW_CFG", stage_bits(job, job.lut_bypass));
    sdp.set("D_DP_EW_ALU_CFG", source_bits(job.alu_from_memory, job.alu_converter));
    sdp.set("D_DP_EW_MUL_CFG", source_bits(job.mul_from_memory, job.mul_converter));
    sdp.set_signed("D_DP_EW_ALU_SRC_VALUE", job.alu_value, 32);
    sdp.set_signed("D_DP_EW_MUL_SRC_VALUE", job.mul_value, 32);
    set_operand_converter(sdp, "D_DP_EW_ALU_CVT", job.alu_converter);
    set_operand_converter(sdp, "D_DP_EW_MUL_CVT", job.mul_converter);
    sdp.set("D_DP_EW_TRUNCATE_VALUE", job.truncate);
}

void set_operand_readers(Random& random, UnitRegisters& rdma, const oracle::SinglePointJob& job) {
    set_reader(random, rdma, "BBS", job.bs);
    set_reader(random, rdma, "NBN", job.bn);
    set_reader(random, rdma, "EEW", job.ew);
}

bool from_memory(const oracle::SinglePointJob& job) {
    return reads(job.bs) || reads(job.bn) || reads(job.ew);
}

}  // namespace npuscope
