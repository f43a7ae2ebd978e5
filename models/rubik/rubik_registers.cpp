// SPDX-License-Identifier: Apache-2.0
#include "models/rubik/rubik_registers.h"

#include <fmt/format.h>

#include <string>

#include "models/layout/register_decoder.h"

namespace npuscope {
namespace {

constexpr FieldName mode_field{"D_MISC_CFG", "RUBIK_MODE"};

/// `side`: DAIN or DAOUT. Addresses and strides stand in their registers at their own bit places.
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

void decode_contraction(RegisterDecoder& rubik, const FeatureCube& elements, RubikJob& job) {
    Shape output;
    rubik.size("D_DECONV_STRIDE", "DECONV_X_STRIDE", job.stride_x);
    rubik.size("D_DECONV_STRIDE", "DECONV_Y_STRIDE", job.stride_y);
    rubik.bytes("D_CONTRACT_STRIDE_1", job.super_line);
    rubik.size("D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL", output.channels);
    output.height = job.input.height * job.stride_y;
    output.width = job.input.width * job.stride_x;
    job.contracted = decode_feature(rubik, "DAOUT", output, elements);
    const std::uint64_t wanted =
        std::uint64_t{job.contracted.surfaces()} * job.stride_x * job.stride_y;
    rubik.refuse_unless(
        job.feature.surfaces() == wanted, {"D_DATAIN_SIZE_1", "DATAIN_CHANNEL"},
        fmt::format("{} surfaces go in, {} x {} x {} are asked for", job.feature.surfaces(),
                    job.stride_y, job.stride_x, job.contracted.surfaces()),
        "make the input's channels D_DECONV_STRIDE times those of D_DATAOUT_SIZE_1");
}

void decode_mode(RegisterDecoder& rubik, RubikMode& mode) {
    std::uint32_t code = 0;
    rubik.field(mode_field.register_name, mode_field.field_name, code);
    rubik.refuse_unless(code <= 2, mode_field, "no such mode", "0 contract, 1 split, 2 merge");
    mode = code <= 2 ? static_cast<RubikMode>(code) : RubikMode::Contract;
}

}  // namespace

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
    rubik.shape({"D_DATAIN_SIZE_1", "DATAIN_CHANNEL"}, {"D_DATAIN_SIZE_0", "DATAIN_HEIGHT"},
                {"D_DATAIN_SIZE_0", "DATAIN_WIDTH"}, job.input);
    rubik.inverse_flag("D_DAIN_RAM_TYPE", "DATAIN_RAM_TYPE", job.source_in_sram);
    rubik.inverse_flag("D_DAOUT_RAM_TYPE", "DATAOUT_RAM_TYPE", job.destination_in_sram);
    const bool merge = job.mode == RubikMode::Merge;
    job.feature = decode_feature(rubik, merge ? "DAOUT" : "DAIN", job.input, elements);
    if (job.mode == RubikMode::Contract) {
        decode_contraction(rubik, elements, job);
    } else {
        job.planar = decode_planar(rubik, merge ? "DAIN" : "DAOUT", job.input, elements);
    }
    return unless_refused(job, findings);
}

}  // namespace npuscope
