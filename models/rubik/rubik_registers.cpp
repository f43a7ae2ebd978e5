// SPDX-License-Identifier: Apache-2.0
#include "models/rubik/rubik_registers.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "models/base/register_rows.h"
#include "models/layout/register_coder.h"

namespace npuscope {
namespace {

// Registers of NVDLA_RBK: the reshape engine RUBIK.
// source: NVDLA register specification, nv_small, NVDLA_RBK.rdl
constexpr RegisterText rbk_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_MISC_CFG", 0x0c, {rw("RUBIK_MODE", 0, 2), rw("IN_PRECISION", 8, 2, 1)}},
    {"D_DAIN_RAM_TYPE", 0x10, {rw("DATAIN_RAM_TYPE", 0, 1)}},
    {"D_DATAIN_SIZE_0", 0x14, {rw("DATAIN_WIDTH", 0, 13), rw("DATAIN_HEIGHT", 16, 13)}},
    {"D_DATAIN_SIZE_1", 0x18, {rw("DATAIN_CHANNEL", 0, 13)}},
    {"D_DAIN_ADDR_HIGH", 0x1c, {rw("DAIN_ADDR_HIGH", 0, 32)}},
    {"D_DAIN_ADDR_LOW", 0x20, {rw("DAIN_ADDR_LOW", 5, 27)}},
    {"D_DAIN_LINE_STRIDE", 0x24, {rw("DAIN_LINE_STRIDE", 5, 27)}},
    {"D_DAIN_SURF_STRIDE", 0x28, {rw("DAIN_SURF_STRIDE", 5, 27)}},
    {"D_DAIN_PLANAR_STRIDE", 0x2c, {rw("DAIN_PLANAR_STRIDE", 5, 27)}},
    {"D_DAOUT_RAM_TYPE", 0x30, {rw("DATAOUT_RAM_TYPE", 0, 1)}},
    {"D_DATAOUT_SIZE_1", 0x34, {rw("DATAOUT_CHANNEL", 0, 13)}},
    {"D_DAOUT_ADDR_HIGH", 0x38, {rw("DAOUT_ADDR_HIGH", 0, 32)}},
    {"D_DAOUT_ADDR_LOW", 0x3c, {rw("DAOUT_ADDR_LOW", 5, 27)}},
    {"D_DAOUT_LINE_STRIDE", 0x40, {rw("DAOUT_LINE_STRIDE", 5, 27)}},
    {"D_CONTRACT_STRIDE_0", 0x44, {rw("CONTRACT_STRIDE_0", 5, 27)}},
    {"D_CONTRACT_STRIDE_1", 0x48, {rw("CONTRACT_STRIDE_1", 5, 27)}},
    {"D_DAOUT_SURF_STRIDE", 0x4c, {rw("DAOUT_SURF_STRIDE", 5, 27)}},
    {"D_DAOUT_PLANAR_STRIDE", 0x50, {rw("DAOUT_PLANAR_STRIDE", 5, 27)}},
    {"D_DECONV_STRIDE", 0x54, {rw("DECONV_X_STRIDE", 0, 5), rw("DECONV_Y_STRIDE", 16, 5)}},
    {"D_PERF_ENABLE", 0x58, {rw("PERF_EN", 0, 1)}},
    {"D_PERF_READ_STALL", 0x5c, {ro("RD_STALL_CNT", 0, 32)}},
    {"D_PERF_WRITE_STALL", 0x60, {ro("WR_STALL_CNT", 0, 32)}},
};
constexpr auto rbk_rows = to_rows(rbk_text);

constexpr FieldName mode_field{"D_MISC_CFG", "RUBIK_MODE"};

/// `side`: DAIN or DAOUT. Addresses and strides are in their registers at their own bit positions.
template <class Visitor, class Place>
void describe_start(Visitor& visit, const std::string& side, Place& base) {
    visit.address("D_" + side + "_ADDR_HIGH", "D_" + side + "_ADDR_LOW", base);
}

template <class Visitor, class Cube>
void describe_feature(Visitor& visit, const std::string& side, Cube& cube) {
    describe_start(visit, side, cube.base);
    visit.bytes("D_" + side + "_LINE_STRIDE", cube.line_stride);
    visit.bytes("D_" + side + "_SURF_STRIDE", cube.surface_stride);
}

template <class Visitor, class Planes>
void describe_planar(Visitor& visit, const std::string& side, Planes& planes) {
    describe_start(visit, side, planes.base);
    visit.bytes("D_" + side + "_LINE_STRIDE", planes.line_stride);
    visit.bytes("D_" + side + "_PLANAR_STRIDE", planes.plane_stride);
}

/// The feature cube at one side, channels rounded up to whole atoms.
FeatureCube decode_feature(RegisterDecoder& rubik, const std::string& side, const Shape& shape,
                           const FeatureCube& elements) {
    FeatureCube cube = elements;
    cube.shape = shape;
    cube.shape.channels = cube.surfaces() * cube.channels_per_atom();
    describe_feature(rubik, side, cube);
    rubik.require_surface("D_DATAIN_SIZE_0", {cube.lines(), cube.line_bytes()});
    return cube;
}

PlanarCube decode_planar(RegisterDecoder& rubik, const std::string& side, const Shape& shape,
                         const FeatureCube& elements) {
    PlanarCube planes;
    planes.line = Bytes(round_up((elements.element * shape.width).value, elements.atom.value));
    describe_planar(rubik, side, planes);
    rubik.require_surface("D_DATAIN_SIZE_1",
                          {std::uint64_t{shape.channels} * shape.height, planes.line});
    return planes;
}

template <class Visitor, class Job, class Number>
void describe_contraction(Visitor& visit, Job& job, Number& channels) {
    visit.size("D_DECONV_STRIDE", "DECONV_X_STRIDE", job.stride_x);
    visit.size("D_DECONV_STRIDE", "DECONV_Y_STRIDE", job.stride_y);
    visit.bytes("D_CONTRACT_STRIDE_1", job.super_line);
    visit.size("D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL", channels);
}

/// Registers that every mode has.
template <class Visitor, class Job>
void describe_common(Visitor& visit, Job& job) {
    visit.shape({"D_DATAIN_SIZE_1", "DATAIN_CHANNEL"}, {"D_DATAIN_SIZE_0", "DATAIN_HEIGHT"},
                {"D_DATAIN_SIZE_0", "DATAIN_WIDTH"}, job.input);
    visit.inverse_flag("D_DAIN_RAM_TYPE", "DATAIN_RAM_TYPE", job.source_in_sram);
    visit.inverse_flag("D_DAOUT_RAM_TYPE", "DATAOUT_RAM_TYPE", job.destination_in_sram);
}

/// From one cube that is read to the next.
Bytes cube_stride(const RubikJob& job) {
    return job.feature.surface_stride * job.contracted.surfaces();
}

/// Two strides follow from others: the RTL steps by the first and ignores the second, the C model
/// does the reverse. source: nv_full RTL, NV_NVDLA_RUBIK_seq_gen.v, cube_stride, mon_block_stride
void check_contraction_strides(RegisterDecoder& rubik, const RubikJob& job) {
    const auto expect = [&](const char* name, Bytes wanted, const std::string& why) {
        const std::uint32_t value = rubik.word(name);
        if (value != wanted.value) {
            rubik.refuse_as({name, ""},
                            fmt::format("{} = {:#x}: {} is {:#x}", spelled(rubik.unit(), name),
                                        value, why, wanted.value),
                            fmt::format("write {:#x}, or correct the other stride", wanted.value));
        }
    };
    const std::uint32_t surfaces = job.contracted.surfaces();
    if (job.stride_x * job.stride_y > 1) {
        expect("D_CONTRACT_STRIDE_0", cube_stride(job),
               fmt::format("D_DAIN_SURF_STRIDE ({:#x}) times the {} surface{} of the output",
                           job.feature.surface_stride.value, surfaces, surfaces == 1 ? "" : "s"));
    }
    if (job.input.height > 1) {
        expect("D_CONTRACT_STRIDE_1", job.contracted.line_stride * job.stride_y,
               fmt::format("D_DAOUT_LINE_STRIDE ({:#x}) times DECONV_Y_STRIDE + 1 ({})",
                           job.contracted.line_stride.value, job.stride_y));
    }
}

void decode_contraction(RegisterDecoder& rubik, const FeatureCube& elements, RubikJob& job) {
    Shape output;
    describe_contraction(rubik, job, output.channels);
    output.height = job.input.height * job.stride_y;
    output.width = job.input.width * job.stride_x;
    job.contracted = decode_feature(rubik, "DAOUT", output, elements);
    const std::uint64_t wanted =
        std::uint64_t{job.contracted.surfaces()} * job.stride_x * job.stride_y;
    rubik.refuse_unless(
        job.feature.surfaces() == wanted, {"D_DATAIN_SIZE_1", "DATAIN_CHANNEL"},
        fmt::format("{} read, but {} x {} x {} are needed",
                    job.feature.surfaces() == 1
                        ? "1 surface is"
                        : fmt::format("{} surfaces are", job.feature.surfaces()),
                    job.stride_y, job.stride_x, job.contracted.surfaces()),
        "make the input's channels D_DECONV_STRIDE times those of D_DATAOUT_SIZE_1");
    check_contraction_strides(rubik, job);
}

SurfaceUse named_side(const MovedSide& side, Address base) {
    SurfaceUse use = ends_use(side, {base, Bytes(0)}, {base, Bytes(0)});
    use.writes = std::string_view(side.surface) == "output";
    const std::string name = use.writes ? "D_DAOUT" : "D_DAIN";
    use.stride_register = name + "_LINE_STRIDE";
    use.placing = {name + "_LINE_STRIDE", name + "_SURF_STRIDE", name + "_PLANAR_STRIDE"};
    if (use.writes) {
        use.placing.emplace_back("D_CONTRACT_STRIDE_1");
    }
    for (const char* size : {"D_DATAIN_SIZE_0", "D_DATAIN_SIZE_1", "D_MISC_CFG", "D_DATAOUT_SIZE_1",
                             "D_DECONV_STRIDE"}) {
        use.placing.emplace_back(size);
    }
    use.piece_register = "D_DATAIN_SIZE_0";
    use.padding = Bytes(31);  // source: RUBIK moves whole atoms of 32 bytes, nv_full
    return use;
}

SurfaceUse use_of(const MovedSide& side, const FeatureCube& cube) {
    return with_runs(named_side(side, cube.base), cube.runs());
}

SurfaceUse use_of(const MovedSide& side, const PlanarCube& planes, const Shape& shape) {
    std::vector<ByteRun> runs;
    for (std::uint32_t channel = 0; channel < shape.channels; ++channel) {
        for (std::uint32_t y = 0; y < shape.height; ++y) {
            runs.push_back({planes.line_address(channel, y), planes.line});
        }
    }
    SurfaceUse use = named_side(side, planes.base);
    if (planes.line_stride != planes.line) {
        use.piece_register.clear();  // padded lines: a wrong size shows in the feature cube
    }
    return with_runs(std::move(use), std::move(runs));
}

SurfaceUse contracted_use(const MovedSide& side, const RubikJob& job) {
    const FeatureCube& cube = job.contracted;
    std::vector<ByteRun> runs;
    for (std::uint32_t surface = 0; surface < cube.surfaces(); ++surface) {
        for (std::uint32_t y = 0; y < job.input.height; ++y) {
            for (std::uint32_t line = 0; line < job.stride_y; ++line) {
                runs.push_back(
                    {cube.line_address(surface, line) + job.super_line * y, cube.line_bytes()});
            }
        }
    }
    return with_runs(named_side(side, cube.base), std::move(runs));
}

void decode_mode(RegisterDecoder& rubik, RubikMode& mode) {
    std::uint32_t code = 0;
    rubik.field(mode_field.register_name, mode_field.field_name, code);
    rubik.refuse_unless(code <= 2, mode_field, "unknown mode", "0 contract, 1 split, 2 merge");
    mode = code <= 2 ? static_cast<RubikMode>(code) : RubikMode::Contract;
}

}  // namespace

constinit const RegisterBlock rbk_block{"NVDLA_RBK", 0x11000, rbk_rows};

std::optional<RubikJob> decode_rubik(const RegisterValues& values, const RubikConfig& config,
                                     const DatapathConfig& datapath, Diagnostics& findings) {
    RegisterDecoder rubik(values, findings);
    rubik.refuse_unless(config.present, mode_field, "this NPU has no RUBIK",
                        "choose a preset with rubik.present = true");
    RubikJob job;
    Precision precision = Precision::Int8;
    rubik.precision({"D_MISC_CFG", "IN_PRECISION"}, datapath, precision);
    FeatureCube elements;
    elements.atom = datapath.memory_atom;
    elements.element = Bytes(bytes_of(precision));
    decode_mode(rubik, job.mode);
    describe_common(rubik, job);
    const bool merge = job.mode == RubikMode::Merge;
    job.feature = decode_feature(rubik, merge ? "DAOUT" : "DAIN", job.input, elements);
    if (job.mode == RubikMode::Contract) {
        decode_contraction(rubik, elements, job);
    } else {
        job.planar = decode_planar(rubik, merge ? "DAIN" : "DAOUT", job.input, elements);
    }
    return unless_refused(job, findings);
}

RegisterValues encode_rubik(const RubikJob& job) {
    RegisterEncoder rubik(rbk_block);
    rubik.field(mode_field.register_name, mode_field.field_name, job.mode);
    rubik.field("D_MISC_CFG", "IN_PRECISION",
                job.feature.element == Bytes(1) ? Precision::Int8 : Precision::Int16);
    describe_common(rubik, job);
    const bool merge = job.mode == RubikMode::Merge;
    describe_feature(rubik, merge ? "DAOUT" : "DAIN", job.feature);
    if (job.mode == RubikMode::Contract) {
        describe_contraction(rubik, job, job.contracted.shape.channels);
        describe_feature(rubik, "DAOUT", job.contracted);
        rubik.bytes("D_CONTRACT_STRIDE_0", cube_stride(job));
    } else {
        describe_planar(rubik, merge ? "DAIN" : "DAOUT", job.planar);
    }
    return rubik.values();
}

std::vector<SurfaceUse> surfaces_of(const RubikJob& job) {
    constexpr MovedSide input{"NVDLA_RBK", "input", "D_DAIN_ADDR_LOW"};
    constexpr MovedSide output{"NVDLA_RBK", "output", "D_DAOUT_ADDR_LOW"};
    switch (job.mode) {
        case RubikMode::Contract:
            return {use_of(input, job.feature), contracted_use(output, job)};
        case RubikMode::Split:
            return {use_of(input, job.feature), use_of(output, job.planar, job.input)};
        case RubikMode::Merge:
            break;
    }
    return {use_of(input, job.planar, job.input), use_of(output, job.feature)};
}

PlainSurface plain_result(const ElementReader& read, const RubikJob& job) {
    const Bytes element = job.feature.element;
    const std::uint32_t lanes = job.feature.channels_per_atom();
    const auto in_planes = [planar = job.planar, element](const SurfacePlace& at) {
        return planar.line_address(at.channel, at.row) + element * at.column;
    };
    PlainSurface surface;
    surface.precision = element == Bytes(1) ? Precision::Int8 : Precision::Int16;
    surface.shape = job.input;
    if (job.mode == RubikMode::Contract) {
        surface.shape = job.contracted.shape;
        surface.address = [job](const SurfacePlace& at) {
            SurfacePlace line = at;
            line.row = at.row % job.stride_y;
            return in_cube(job.contracted, line) + job.super_line * (at.row / job.stride_y);
        };
        const std::uint32_t surfaces = job.contracted.shape.channels / lanes;
        surface.fill([&](const SurfacePlace& at) {
            const std::uint32_t cube =
                at.row % job.stride_y * job.stride_x + at.column % job.stride_x;
            const std::uint32_t from = cube * surfaces + at.channel / lanes;
            const SurfacePlace source{0, from * lanes + at.channel % lanes, at.row / job.stride_y,
                                      at.column / job.stride_x};
            return read(in_cube(job.feature, source), element);
        });
    } else if (job.mode == RubikMode::Split) {
        surface.shape.width = static_cast<std::uint32_t>(job.planar.line / element);
        surface.address = in_planes;
        surface.fill([&](const SurfacePlace& at) {
            return at.column < job.input.width ? read(in_cube(job.feature, at), element) : 0;
        });
    } else {
        surface.shape.channels = job.feature.shape.channels;
        surface.address = [job](const SurfacePlace& at) { return in_cube(job.feature, at); };
        surface.fill([&](const SurfacePlace& at) {
            return at.channel < job.input.channels ? read(in_planes(at), element) : 0;
        });
    }
    return surface;
}

std::string meaning_of(const RubikJob& job) {
    const std::string shape =
        fmt::format("{}x{}x{}, elements of {}", job.input.channels, job.input.height,
                    job.input.width, job.feature.element == Bytes(1) ? "1 byte" : "2 bytes");
    switch (job.mode) {
        case RubikMode::Contract:
            return fmt::format("{} at {} -> contracted {}x{} -> {}x{}x{} at {}", shape,
                               to_hex(job.feature.base), job.stride_y, job.stride_x,
                               job.contracted.shape.channels, job.contracted.shape.height,
                               job.contracted.shape.width, to_hex(job.contracted.base));
        case RubikMode::Split:
            return fmt::format("{} at {} -> split into planes at {}", shape,
                               to_hex(job.feature.base), to_hex(job.planar.base));
        case RubikMode::Merge:
            break;
    }
    return fmt::format("{}, planes at {} -> merged into a feature cube at {}", shape,
                       to_hex(job.planar.base), to_hex(job.feature.base));
}

}  // namespace npuscope
