// SPDX-License-Identifier: Apache-2.0
// BDMA and RUBIK. source: NVDLA register specification, NVDLA_BDMA.rdl, NVDLA_RBK.rdl; doc
// v1/ias/unit_description.rst
#include <algorithm>

#include "tests/support/random_full.h"

namespace npuscope::full {

namespace {

/// Lines of one size, in surfaces.
struct Lines {
    std::uint64_t base = 0;
    std::uint64_t line = 0;
    std::uint64_t surface = 0;
};

Lines place_lines(Builder& builder, std::uint32_t size, std::uint32_t lines,
                  std::uint32_t surfaces) {
    Lines result;
    result.line = size + std::uint64_t{kAtom} * builder.random.size(0, 3);
    result.surface = result.line * lines + std::uint64_t{kAtom} * builder.random.size(0, 3);
    result.base = builder.allocate(result.surface * surfaces);
    return result;
}

/// One command: both cubes, and what the destination must hold afterwards.
void random_command(Builder& builder, std::vector<std::pair<std::uint64_t, ByteVector>>& left) {
    Random& random = builder.random;
    const std::uint32_t atoms = random.size(1, 20);
    const std::uint32_t lines = random.size(1, 9);
    const std::uint32_t surfaces = random.size(1, 4);
    const std::uint32_t size = kAtom * atoms;
    const Lines from = place_lines(builder, size, lines, surfaces);
    const Lines to = place_lines(builder, size, lines, surfaces);
    const ByteVector source = builder.random_elements(Type::Int8, from.surface * surfaces);
    ByteVector result = builder.random_elements(Type::Int8, to.surface * surfaces);
    builder.load(from.base, source);
    builder.load(to.base, result);
    for (std::uint32_t s = 0; s < surfaces; ++s) {
        for (std::uint32_t y = 0; y < lines; ++y) {
            const auto at = source.begin() + static_cast<long>(s * from.surface + y * from.line);
            std::copy_n(at, size, result.begin() + static_cast<long>(s * to.surface + y * to.line));
        }
    }
    builder.write("BDMA.CFG_SRC_ADDR_LOW", low_word(from.base));
    builder.write("BDMA.CFG_SRC_ADDR_HIGH", 0);
    builder.write("BDMA.CFG_DST_ADDR_LOW", low_word(to.base));
    builder.write("BDMA.CFG_DST_ADDR_HIGH", 0);
    builder.write("BDMA.CFG_LINE", atoms - 1);
    builder.write("BDMA.CFG_CMD", ram_type(from.base) | ram_type(to.base) << 1U);
    builder.write("BDMA.CFG_LINE_REPEAT", lines - 1);
    builder.write("BDMA.CFG_SRC_LINE", low_word(from.line));
    builder.write("BDMA.CFG_DST_LINE", low_word(to.line));
    builder.write("BDMA.CFG_SURF_REPEAT", surfaces - 1);
    builder.write("BDMA.CFG_SRC_SURF", low_word(from.surface));
    builder.write("BDMA.CFG_DST_SURF", low_word(to.surface));
    builder.write("BDMA.CFG_OP", 1);
    left.emplace_back(to.base, std::move(result));
}

void write_rubik(Builder& builder, std::uint32_t mode, Type type, std::uint64_t from,
                 std::uint64_t to) {
    builder.write("RBK.S_POINTER", 0);
    builder.write("RBK.D_MISC_CFG", mode | code_of(type) << 8U);
    builder.write("RBK.D_DAIN_RAM_TYPE", ram_type(from));
    builder.write("RBK.D_DAIN_ADDR_HIGH", 0);
    builder.write("RBK.D_DAIN_ADDR_LOW", low_word(from));
    builder.write("RBK.D_DAOUT_RAM_TYPE", ram_type(to));
    builder.write("RBK.D_DAOUT_ADDR_HIGH", 0);
    builder.write("RBK.D_DAOUT_ADDR_LOW", low_word(to));
}

void write_sizes(Builder& builder, const PlacedCube& in, std::uint32_t out_channels) {
    builder.write("RBK.D_DATAIN_SIZE_0", (in.width - 1) | (in.height - 1) << 16U);
    builder.write("RBK.D_DATAIN_SIZE_1", in.channels - 1);
    builder.write("RBK.D_DATAOUT_SIZE_1", out_channels - 1);
}

void start(Builder& builder) {
    builder.write("RBK.D_OP_ENABLE", 1);
    builder.wait();
}

void contract(Builder& builder, Type type) {
    Random& random = builder.random;
    const std::uint32_t stride_x = random.size(1, 3);
    const std::uint32_t stride_y = random.size(1, 3);
    const std::uint32_t surfaces = random.size(1, 3);
    const std::uint32_t out_channels = surfaces * lanes_of(type);
    const PlacedCube in = builder.place(type, out_channels * stride_x * stride_y, random.size(1, 5),
                                        random.size(1, 6));
    const PlacedCube out =
        builder.place(type, out_channels, in.height * stride_y, in.width * stride_x);
    const ByteVector source = builder.random_elements(type, in.extent());
    ByteVector result(out.extent());
    for_each_element(out, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        const std::uint32_t cube = y % stride_y * stride_x + x % stride_x;
        const std::uint64_t from = in.offset(cube * out_channels + c, y / stride_y, x / stride_x);
        write_element(result, out.offset(c, y, x), type, read_element(source, from, type));
    });
    builder.load(in.base, source);
    write_rubik(builder, 0, type, in.base, out.base);
    write_sizes(builder, in, out_channels);
    builder.write("RBK.D_DAIN_LINE_STRIDE", low_word(in.line));
    builder.write("RBK.D_DAIN_SURF_STRIDE", low_word(in.surface));
    builder.write("RBK.D_DAOUT_LINE_STRIDE", low_word(out.line));
    builder.write("RBK.D_DAOUT_SURF_STRIDE", low_word(out.surface));
    builder.write("RBK.D_CONTRACT_STRIDE_0", low_word(in.surface * surfaces));
    builder.write("RBK.D_CONTRACT_STRIDE_1", low_word(out.line * stride_y));
    builder.write("RBK.D_DECONV_STRIDE", (stride_x - 1) | (stride_y - 1) << 16U);
    start(builder);
    builder.expect(out.base, std::move(result));
}

/// Planes of one channel each, lines padded to whole atoms.
Lines place_planes(Builder& builder, const PlacedCube& cube) {
    const std::uint32_t bytes = cube.width * size_of(cube.type);
    return place_lines(builder, (bytes + kAtom - 1) / kAtom * kAtom, cube.height, cube.channels);
}

PlacedCube random_cube(Builder& builder, Type type) {
    Random& random = builder.random;
    return builder.place(type, random.size(1, 70), random.size(1, 5), random.size(1, 40));
}

void split(Builder& builder, Type type) {
    const PlacedCube in = random_cube(builder, type);
    const Lines out = place_planes(builder, in);
    const ByteVector source = builder.random_elements(type, in.extent());
    ByteVector result(out.surface * in.channels);
    for_each_element(in, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        if (c < in.channels) {
            const std::uint64_t to =
                c * out.surface + y * out.line + std::uint64_t{x} * size_of(type);
            write_element(result, to, type, read_element(source, in.offset(c, y, x), type));
        }
    });
    builder.load(in.base, source);
    write_rubik(builder, 1, type, in.base, out.base);
    write_sizes(builder, in, in.channels);
    builder.write("RBK.D_DAIN_LINE_STRIDE", low_word(in.line));
    builder.write("RBK.D_DAIN_SURF_STRIDE", low_word(in.surface));
    builder.write("RBK.D_DAOUT_LINE_STRIDE", low_word(out.line));
    builder.write("RBK.D_DAOUT_PLANAR_STRIDE", low_word(out.surface));
    start(builder);
    builder.expect(out.base, std::move(result));
}

void merge(Builder& builder, Type type) {
    const PlacedCube out = random_cube(builder, type);
    const Lines in = place_planes(builder, out);
    const ByteVector source = builder.random_elements(type, in.surface * out.channels);
    ByteVector result(out.extent());
    for_each_element(out, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        if (c < out.channels) {
            const std::uint64_t from =
                c * in.surface + y * in.line + std::uint64_t{x} * size_of(type);
            write_element(result, out.offset(c, y, x), type, read_element(source, from, type));
        }
    });
    builder.load(in.base, source);
    write_rubik(builder, 2, type, in.base, out.base);
    write_sizes(builder, out, out.channels);
    builder.write("RBK.D_DAIN_LINE_STRIDE", low_word(in.line));
    builder.write("RBK.D_DAIN_PLANAR_STRIDE", low_word(in.surface));
    builder.write("RBK.D_DAOUT_LINE_STRIDE", low_word(out.line));
    builder.write("RBK.D_DAOUT_SURF_STRIDE", low_word(out.surface));
    start(builder);
    builder.expect(out.base, std::move(result));
}

}  // namespace

/// Up to three groups of up to four commands, one after the other.
Program random_bdma(std::uint64_t seed) {
    Builder builder(seed);
    const std::uint32_t groups = builder.random.size(1, 3);
    for (std::uint32_t group = 0; group < groups; ++group) {
        std::vector<std::pair<std::uint64_t, ByteVector>> left;
        const std::uint32_t commands = builder.random.size(1, 4);
        for (std::uint32_t i = 0; i < commands; ++i) {
            random_command(builder, left);
        }
        builder.write(group % 2 == 0 ? "BDMA.CFG_LAUNCH0" : "BDMA.CFG_LAUNCH1", 1);
        builder.wait();
        for (auto& [address, bytes] : left) {
            builder.expect(address, std::move(bytes));
        }
    }
    return builder.finish("random_bdma");
}

Program random_rubik(Type type, std::uint64_t seed) {
    Builder builder(seed);
    switch (builder.random.size(0, 2)) {
        case 0:
            contract(builder, type);
            break;
        case 1:
            split(builder, type);
            break;
        default:
            merge(builder, type);
    }
    return builder.finish("random_rubik");
}

}  // namespace npuscope::full
