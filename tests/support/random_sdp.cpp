// SPDX-License-Identifier: Apache-2.0
// SDP from memory to memory: BS and BN with operands from registers or memory, one or two bytes,
// per channel or per element; output converter; int8 <-> int16, int16 <-> fp16. source: NVDLA
// precision page and in-memory format page
#include <algorithm>
#include <cmath>

#include "tests/support/random_full.h"

namespace npuscope::full {

namespace {

struct Position {
    std::uint32_t c, y, x;
};

enum class Algorithm : std::uint8_t { Max = 0, Min = 1, Sum = 2 };

/// What one stage does, and its operands in memory: the ALU's component before the multiplier's.
struct Stage {
    bool bypass = true;
    bool alu = false;
    bool mul = false;
    bool prelu = false;
    bool relu = false;
    Algorithm algorithm = Algorithm::Sum;
    bool alu_memory = false;
    bool mul_memory = false;
    std::uint32_t alu_shift = 0;
    std::uint32_t mul_shift = 0;
    double alu_value = 0;
    double mul_value = 0;

    Type operand = Type::Int16;
    bool per_element = false;
    std::uint32_t lanes = 32;
    std::uint64_t base = 0;
    std::uint64_t line = 0;
    std::uint64_t surface = 0;
    ByteVector operands;

    bool from_memory() const { return (alu && alu_memory) || (mul && mul_memory); }
    std::uint32_t components() const { return alu && alu_memory && mul && mul_memory ? 2 : 1; }
    double read(std::uint32_t component, Position at) const {
        const std::uint32_t element = components() * size_of(operand);
        const std::uint64_t inner = std::uint64_t{component} * size_of(operand);
        const std::uint64_t offset = per_element ? at.c / lanes * surface + at.y * line +
                                                       std::uint64_t{at.x} * lanes * element +
                                                       std::uint64_t{at.c} % lanes * element
                                                 : std::uint64_t{at.c} * element;
        return read_element(operands, offset + inner, operand);
    }
    double alu_operand(Position at) const { return alu_memory ? read(0, at) : alu_value; }
    double mul_operand(Position at) const {
        return mul_memory ? read(components() - 1, at) : mul_value;
    }
};

double register_value(Random& random, Type type) {
    return type == Type::Fp16 ? fp16_value(random.size(9 << 10, 20 << 10))
                              : static_cast<double>(random.between(-2000, 2000));
}

Stage random_stage(Builder& builder, Type type, const PlacedCube& cube) {
    Random& random = builder.random;
    Stage stage;
    stage.bypass = random.chance(20);
    if (stage.bypass) {
        return stage;
    }
    stage.alu = random.chance(70);
    stage.mul = random.chance(70);
    stage.prelu = stage.mul && random.chance(30);
    stage.relu = random.chance(30);
    stage.algorithm = random.one_of({Algorithm::Max, Algorithm::Min, Algorithm::Sum});
    stage.alu_memory = random.chance(60);
    stage.mul_memory = random.chance(60);
    if (type != Type::Fp16) {
        stage.alu_shift = random.size(0, 6);
        stage.mul_shift = random.size(0, 16);
    }
    stage.alu_value = register_value(random, type);
    stage.mul_value = register_value(random, type);
    stage.operand = type == Type::Int8 && random.chance(50) ? Type::Int8 : Type::Int16;
    stage.operand = type == Type::Fp16 ? Type::Fp16 : stage.operand;
    if (!stage.from_memory()) {
        return stage;
    }
    stage.per_element = random.chance(50);
    stage.lanes = lanes_of(type);
    const std::uint64_t atom =
        std::uint64_t{stage.lanes} * size_of(stage.operand) * stage.components();
    stage.line = atom * cube.width;
    stage.surface = stage.line * cube.height;
    const std::uint64_t bytes =
        cube.channels / stage.lanes * (stage.per_element ? stage.surface : atom);
    stage.base = builder.allocate(bytes);
    stage.operands = builder.random_elements(stage.operand, bytes);
    builder.load(stage.base, stage.operands);
    return stage;
}

double alu(Algorithm algorithm, double a, double b) {
    switch (algorithm) {
        case Algorithm::Max:
            return std::max(a, b);
        case Algorithm::Min:
            return std::min(a, b);
        case Algorithm::Sum:
            return a + b;
    }
    return 0;
}

/// The low 32 bits as two's complement.
double wrapped(double value) { return value >= 0x1p31 ? value - 0x1p32 : value; }

/// 32 bits in and out; 33 after the ALU, which PReLU truncates.
double through_integers(const Stage& stage, double value, Position at) {
    if (stage.alu) {
        const double operand = std::ldexp(stage.alu_operand(at), static_cast<int>(stage.alu_shift));
        value = alu(stage.algorithm, value, operand);
    }
    if (stage.mul && !(stage.prelu && value >= 0)) {
        value *= stage.mul_operand(at);
    } else if (stage.mul) {
        value = wrapped(value);  // neither multiplied nor shifted
        return stage.relu ? std::max(value, 0.0) : value;
    }
    value = shifted(value, stage.mul_shift, 32);
    return stage.relu ? std::max(value, 0.0) : value;
}

/// A zero's sign counts; a sum of zero has the first operand's. source: nv_full C model, compared
/// by running
double through_floats(const Stage& stage, double value, Position at) {
    if (stage.alu) {
        const double sum = fp32(alu(stage.algorithm, value, stage.alu_operand(at)));
        value = sum == 0.0 ? std::copysign(0.0, value) : sum;
    }
    if (stage.mul && !(stage.prelu && !std::signbit(value))) {
        value = fp32(value * stage.mul_operand(at));
    }
    return stage.relu && std::signbit(value) ? 0.0 : value;
}

void write_operands(Builder& builder, const Stage& stage, const std::string& reader,
                    const std::string& stem) {
    const bool both = stage.components() == 2;
    const std::uint32_t use = both ? 2 : (stage.alu && stage.alu_memory ? 1 : 0);
    const std::uint32_t size = stage.operand == Type::Int8 ? 0 : 1;
    const std::uint32_t disable = !stage.bypass && stage.from_memory() ? 0 : 1;
    builder.write("SDP_RDMA.D_" + reader + "_CFG", disable | use << 1U | size << 3U |
                                                       (stage.per_element ? 1U : 0U) << 4U |
                                                       ram_type(stage.base) << 5U);
    builder.write("SDP_RDMA.D_" + stem + "_BASE_ADDR_LOW", low_word(stage.base));
    builder.write("SDP_RDMA.D_" + stem + "_LINE_STRIDE", low_word(stage.line));
    builder.write("SDP_RDMA.D_" + stem + "_SURFACE_STRIDE", low_word(stage.surface));
}

void write_stage(Builder& builder, const Stage& stage, const std::string& stem, Type type) {
    const auto code = [&](double value) {
        return type == Type::Fp16
                   ? std::uint32_t{fp16_code(value)}
                   : static_cast<std::uint32_t>(static_cast<std::int32_t>(value)) & 0xffffU;
    };
    const std::string start = "SDP.D_DP_" + stem;
    builder.write(start + "_CFG", (stage.bypass ? 1U : 0U) | (stage.alu ? 0U : 1U) << 1U |
                                      static_cast<std::uint32_t>(stage.algorithm) << 2U |
                                      (stage.mul ? 0U : 1U) << 4U | (stage.prelu ? 1U : 0U) << 5U |
                                      (stage.relu ? 0U : 1U) << 6U);
    builder.write(start + "_ALU_CFG", (stage.alu_memory ? 1U : 0U) | stage.alu_shift << 8U);
    builder.write(start + "_ALU_SRC_VALUE", code(stage.alu_value));
    builder.write(start + "_MUL_CFG", (stage.mul_memory ? 1U : 0U) | stage.mul_shift << 8U);
    builder.write(start + "_MUL_SRC_VALUE", code(stage.mul_value));
}

struct OutputConverter {
    double offset = 0;
    double scale = 1;
    std::uint32_t shift = 0;
};

double to_output(const OutputConverter& converter, double value, Type from, Type to) {
    if (from == Type::Fp16) {
        return to == Type::Fp16 ? value : shifted(fp16_value(fp16_code(value)), 0, 16);
    }
    const double exact = (value - converter.offset) * converter.scale;
    return shifted(exact, converter.shift, to == Type::Fp16 ? 17 : 8 * size_of(to));
}

void write_cubes(Builder& builder, Type type, const PlacedCube& in, const PlacedCube& out) {
    builder.write("SDP_RDMA.D_FEATURE_MODE_CFG",
                  code_of(in.type) << 2U | code_of(type) << 4U | code_of(out.type) << 6U);
    builder.write("SDP_RDMA.D_SRC_BASE_ADDR_LOW", low_word(in.base));
    builder.write("SDP_RDMA.D_SRC_LINE_STRIDE", low_word(in.line));
    builder.write("SDP_RDMA.D_SRC_SURFACE_STRIDE", low_word(in.surface));
    builder.write("SDP_RDMA.D_SRC_DMA_CFG", ram_type(in.base));
    for (const char* unit : {"SDP_RDMA.", "SDP."}) {
        builder.write(std::string(unit) + "D_DATA_CUBE_WIDTH", in.width - 1);
        builder.write(std::string(unit) + "D_DATA_CUBE_HEIGHT", in.height - 1);
        builder.write(std::string(unit) + "D_DATA_CUBE_CHANNEL", in.channels - 1);
    }
    builder.write("SDP.D_DST_BASE_ADDR_LOW", low_word(out.base));
    builder.write("SDP.D_DST_LINE_STRIDE", low_word(out.line));
    builder.write("SDP.D_DST_SURFACE_STRIDE", low_word(out.surface));
    builder.write("SDP.D_FEATURE_MODE_CFG", 0);
    builder.write("SDP.D_DST_DMA_CFG", ram_type(out.base));
    builder.write("SDP.D_DATA_FORMAT", code_of(type) | code_of(out.type) << 2U);
}

Type random_output(Random& random, Type type) {
    return type == Type::Int8 ? random.one_of({Type::Int8, Type::Int16})
                              : random.one_of({Type::Int16, Type::Fp16});
}

}  // namespace

Program random_sdp(Type type, std::uint64_t seed) {
    Builder builder(seed);
    Random& random = builder.random;
    const std::uint32_t channels = 32 * random.size(1, 3);
    const bool wide = type == Type::Int8 && random.chance(30);  // int16 in memory
    const PlacedCube in =
        builder.place(wide ? Type::Int16 : type, channels, random.size(1, 6), random.size(1, 12));
    const PlacedCube out =
        builder.place(random_output(random, type), channels, in.height, in.width);
    const ByteVector source = builder.random_elements(in.type, in.extent());
    builder.load(in.base, source);
    const Stage bs = random_stage(builder, type, in);
    const Stage bn = random_stage(builder, type, in);
    OutputConverter converter;
    if (type != Type::Fp16) {
        converter.offset = static_cast<double>(random.between(-500, 500));
        converter.scale = static_cast<double>(random.between(-500, 500));
        converter.shift = random.size(0, 20);
    }

    builder.write("SDP_RDMA.S_POINTER", 0);
    builder.write("SDP.S_POINTER", 0);
    write_cubes(builder, type, in, out);
    write_operands(builder, bs, "BRDMA", "BS");
    write_operands(builder, bn, "NRDMA", "BN");
    builder.write("SDP_RDMA.D_ERDMA_CFG", 1);
    write_stage(builder, bs, "BS", type);
    write_stage(builder, bn, "BN", type);
    builder.write("SDP.D_DP_EW_CFG", 0x5b);  // everything bypassed
    builder.write(
        "SDP.D_CVT_OFFSET",
        low_word(static_cast<std::uint64_t>(static_cast<std::int64_t>(converter.offset))));
    builder.write("SDP.D_CVT_SCALE",
                  static_cast<std::uint32_t>(static_cast<std::int32_t>(converter.scale)) & 0xffffU);
    builder.write("SDP.D_CVT_SHIFT", converter.shift);
    builder.write("SDP_RDMA.D_OP_ENABLE", 1);
    builder.write("SDP.D_OP_ENABLE", 1);
    builder.wait();

    ByteVector result(out.extent());
    for_each_element(in, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        const Position at{c, y, x};
        double value = read_element(source, in.offset(c, y, x), in.type);
        for (const Stage* stage : {&bs, &bn}) {
            if (!stage->bypass) {
                value = type == Type::Fp16 ? through_floats(*stage, value, at)
                                           : through_integers(*stage, value, at);
            }
        }
        write_element(result, out.offset(c, y, x), out.type,
                      to_output(converter, value, type, out.type));
    });
    builder.expect(out.base, std::move(result));
    return builder.finish("random_sdp");
}

}  // namespace npuscope::full
