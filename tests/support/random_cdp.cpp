// SPDX-License-Identifier: Apache-2.0
// CDP with flat tables: every entry has one value, so that whatever the sum of squares, the element
// is multiplied by it. source: NVDLA precision page; nv_full C model, compared by running
#include "tests/support/random_full.h"

namespace npuscope::full {

namespace {

struct Converter {
    std::int32_t offset = 0;
    std::int32_t scale = 1;
    std::uint32_t shift = 0;
};

Converter random_converter(Random& random, std::uint32_t largest_shift) {
    Converter converter;
    converter.offset = static_cast<std::int32_t>(random.between(-100, 100));
    converter.scale = static_cast<std::int32_t>(random.between(-300, 300));
    converter.shift = random.size(0, largest_shift);
    return converter;
}

double convert(const Converter& converter, double value, unsigned bits) {
    return shifted((value - converter.offset) * converter.scale, converter.shift, bits);
}

void write_flat_tables(Builder& builder, std::uint32_t code) {
    constexpr std::uint32_t kWrite = 1U << 17U;
    constexpr std::uint32_t kLo = 1U << 16U;
    builder.write("CDP.S_LUT_ACCESS_CFG", kWrite);
    for (int i = 0; i < 65; ++i) {
        builder.write("CDP.S_LUT_ACCESS_DATA", code);
    }
    builder.write("CDP.S_LUT_ACCESS_CFG", kWrite | kLo);
    for (int i = 0; i < 257; ++i) {
        builder.write("CDP.S_LUT_ACCESS_DATA", code);
    }
    builder.write("CDP.S_LUT_CFG", builder.random.size(0, 7) << 4U);
}

/// Range of the tables: their own ends, slopes of zero.
void write_ranges(Builder& builder, Type type) {
    const bool floats = type == Type::Fp16;
    builder.write("CDP.S_LUT_INFO", 0);
    builder.write("CDP.S_LUT_LE_START_LOW", 0);
    builder.write("CDP.S_LUT_LE_START_HIGH", 0);
    builder.write("CDP.S_LUT_LE_END_LOW", floats ? 0x42800000 : 64);  // 64.0F
    builder.write("CDP.S_LUT_LE_END_HIGH", 0);
    builder.write("CDP.S_LUT_LO_START_LOW", 0);
    builder.write("CDP.S_LUT_LO_START_HIGH", 0);
    builder.write("CDP.S_LUT_LO_END_LOW", floats ? 0x43800000 : 256);  // 256.0F
    builder.write("CDP.S_LUT_LO_END_HIGH", 0);
    for (const char* name :
         {"LE_SLOPE_SCALE", "LE_SLOPE_SHIFT", "LO_SLOPE_SCALE", "LO_SLOPE_SHIFT"}) {
        builder.write(std::string("CDP.S_LUT_") + name, 0);
    }
}

void write_cubes(Builder& builder, const PlacedCube& in, const PlacedCube& out) {
    builder.write("CDP_RDMA.D_DATA_CUBE_WIDTH", in.width - 1);
    builder.write("CDP_RDMA.D_DATA_CUBE_HEIGHT", in.height - 1);
    builder.write("CDP_RDMA.D_DATA_CUBE_CHANNEL", in.channels - 1);
    builder.write("CDP_RDMA.D_SRC_BASE_ADDR_LOW", low_word(in.base));
    builder.write("CDP_RDMA.D_SRC_LINE_STRIDE", low_word(in.line));
    builder.write("CDP_RDMA.D_SRC_SURFACE_STRIDE", low_word(in.surface));
    builder.write("CDP_RDMA.D_SRC_DMA_CFG", ram_type(in.base));
    builder.write("CDP_RDMA.D_DATA_FORMAT", code_of(in.type));
    builder.write("CDP.D_DST_BASE_ADDR_LOW", low_word(out.base));
    builder.write("CDP.D_DST_LINE_STRIDE", low_word(out.line));
    builder.write("CDP.D_DST_SURFACE_STRIDE", low_word(out.surface));
    builder.write("CDP.D_DST_DMA_CFG", ram_type(out.base));
    builder.write("CDP.D_DATA_FORMAT", code_of(in.type));
}

void write_converters(Builder& builder, const Converter& in, const Converter& out) {
    builder.write("CDP.D_LRN_CFG", builder.random.size(0, 3));
    builder.write("CDP.D_DATIN_OFFSET", static_cast<std::uint32_t>(in.offset) & 0xffffU);
    builder.write("CDP.D_DATIN_SCALE", static_cast<std::uint32_t>(in.scale) & 0xffffU);
    builder.write("CDP.D_DATIN_SHIFTER", in.shift);
    builder.write("CDP.D_DATOUT_OFFSET", static_cast<std::uint32_t>(out.offset));
    builder.write("CDP.D_DATOUT_SCALE", static_cast<std::uint32_t>(out.scale) & 0xffffU);
    builder.write("CDP.D_DATOUT_SHIFTER", out.shift);
    builder.write("CDP.D_FUNC_BYPASS", 0);
}

}  // namespace

Program random_cdp(Type type, std::uint64_t seed) {
    Builder builder(seed);
    Random& random = builder.random;
    const std::uint32_t channels = random.size(1, 4) * lanes_of(type);
    const PlacedCube in = builder.place(type, channels, random.size(1, 6), random.size(1, 12));
    const PlacedCube out = builder.place(type, in.channels, in.height, in.width);
    const ByteVector source = builder.random_elements(type, in.extent());
    const bool floats = type == Type::Fp16;
    const double factor = floats ? fp16_value(random.size(9 << 10, 20 << 10))
                                 : static_cast<double>(random.between(-3000, 3000));
    // source: precision page: 9 and 17 bits after the input converter
    const unsigned bits = type == Type::Int8 ? 9 : 17;
    const Converter before = random_converter(random, 12);
    const Converter behind = random_converter(random, 30);

    builder.load(in.base, source);
    builder.write("CDP.S_POINTER", 0);
    builder.write("CDP_RDMA.S_POINTER", 0);
    write_flat_tables(
        builder, floats ? fp16_code(factor)
                        : static_cast<std::uint32_t>(static_cast<std::int32_t>(factor)) & 0xffffU);
    write_ranges(builder, type);
    write_cubes(builder, in, out);
    write_converters(builder, before, behind);
    builder.write("CDP_RDMA.D_OP_ENABLE", 1);
    builder.write("CDP.D_OP_ENABLE", 1);
    builder.wait();

    ByteVector result(out.extent());
    for_each_element(out, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        const double element = read_element(source, in.offset(c, y, x), type);
        const double value =
            floats ? fp17(element * factor)
                   : convert(behind, convert(before, element, bits) * factor, 8 * size_of(type));
        write_element(result, out.offset(c, y, x), type, value);
    });
    builder.expect(out.base, std::move(result));
    return builder.finish("random_cdp");
}

}  // namespace npuscope::full
