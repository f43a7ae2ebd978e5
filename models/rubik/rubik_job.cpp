// SPDX-License-Identifier: Apache-2.0
#include "models/rubik/rubik_job.h"

#include "models/layout/precision_reading.h"

namespace npuscope {
namespace {

/// Addresses and strides stand in their registers at their own bit places, without the low five.
constexpr unsigned kLowBits = 5;  // source: NVDLA_RBK.rdl
constexpr FieldName kMode{"D_MISC_CFG", "RUBIK_MODE"};

Bytes read_bytes(const RegisterValues& rubik, const std::string& name) {
    return Bytes(std::uint64_t{rubik.field("D_" + name, name)} << kLowBits);
}

/// `side`: DAIN or DAOUT.
Address read_base_of(const RegisterValues& rubik, const std::string& side) {
    const std::uint64_t high = rubik.field("D_" + side + "_ADDR_HIGH", side + "_ADDR_HIGH");
    return Address(high << 32U) + read_bytes(rubik, side + "_ADDR_LOW");
}

RubikMode read_mode(const RegisterValues& rubik) {
    switch (rubik.field(kMode.register_name, kMode.field_name)) {
        case 0:
            return RubikMode::Contract;
        case 1:
            return RubikMode::Split;
        case 2:
            return RubikMode::Merge;
        default:
            refuse(rubik, kMode, "no such mode", "0 contract, 1 split, 2 merge");
    }
}

/// The feature cube at one side, channels rounded up to whole atoms.
FeatureCube read_feature(const RegisterValues& rubik, const std::string& side, const Shape& shape,
                         const FeatureCube& elements) {
    FeatureCube cube{read_base_of(rubik, side),
                     read_bytes(rubik, side + "_LINE_STRIDE"),
                     read_bytes(rubik, side + "_SURF_STRIDE"),
                     shape,
                     elements.atom,
                     elements.element};
    cube.shape.channels = cube.surfaces() * cube.channels_per_atom();
    require_surface(rubik, "D_DATAIN_SIZE_0", {cube.lines(), cube.line_bytes()});
    return cube;
}

PlanarCube read_planar(const RegisterValues& rubik, const std::string& side, const RubikJob& job,
                       const FeatureCube& elements) {
    const Bytes used = elements.element * job.input.width;
    const Bytes line(round_up(used.value, elements.atom.value));
    require_surface(rubik, "D_DATAIN_SIZE_1",
                    {std::uint64_t{job.input.channels} * job.input.height, line});
    return {read_base_of(rubik, side), read_bytes(rubik, side + "_LINE_STRIDE"),
            read_bytes(rubik, side + "_PLANAR_STRIDE"), line};
}

void read_contraction(const RegisterValues& rubik, const FeatureCube& elements, RubikJob& job) {
    job.stride_x = rubik.size("D_DECONV_STRIDE", "DECONV_X_STRIDE");
    job.stride_y = rubik.size("D_DECONV_STRIDE", "DECONV_Y_STRIDE");
    job.super_line = read_bytes(rubik, "CONTRACT_STRIDE_1");
    const Shape output{rubik.size("D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL"),
                       job.input.height * job.stride_y, job.input.width * job.stride_x};
    job.contracted = read_feature(rubik, "DAOUT", output, elements);
    const std::uint64_t wanted =
        std::uint64_t{job.contracted.surfaces()} * job.stride_x * job.stride_y;
    if (job.feature.surfaces() != wanted) {
        refuse(rubik, {"D_DATAIN_SIZE_1", "DATAIN_CHANNEL"},
               fmt::format("{} surfaces go in, {} x {} x {} are asked for", job.feature.surfaces(),
                           job.stride_y, job.stride_x, job.contracted.surfaces()),
               "make the input's channels D_DECONV_STRIDE times those of D_DATAOUT_SIZE_1");
    }
}

}  // namespace

RubikJob RubikJob::from_registers(const RegisterValues& rubik, const RubikConfig& config,
                                  const DatapathConfig& datapath) {
    if (!config.present) {
        refuse(rubik, kMode, "this NPU has no RUBIK", "choose a preset with rubik.present = true");
    }
    const Precision precision =
        read_precision(rubik, {"D_MISC_CFG", "IN_PRECISION"}, datapath, "RUBIK");
    FeatureCube elements;
    elements.atom = datapath.memory_atom;
    elements.element = Bytes(bytes_of(precision));
    RubikJob job;
    job.mode = read_mode(rubik);
    job.input = {rubik.size("D_DATAIN_SIZE_1", "DATAIN_CHANNEL"),
                 rubik.size("D_DATAIN_SIZE_0", "DATAIN_HEIGHT"),
                 rubik.size("D_DATAIN_SIZE_0", "DATAIN_WIDTH")};
    job.source_in_sram = rubik.field("D_DAIN_RAM_TYPE", "DATAIN_RAM_TYPE") == 0;
    job.destination_in_sram = rubik.field("D_DAOUT_RAM_TYPE", "DATAOUT_RAM_TYPE") == 0;
    if (job.mode == RubikMode::Merge) {
        job.feature = read_feature(rubik, "DAOUT", job.input, elements);
        job.planar = read_planar(rubik, "DAIN", job, elements);
        return job;
    }
    job.feature = read_feature(rubik, "DAIN", job.input, elements);
    if (job.mode == RubikMode::Split) {
        job.planar = read_planar(rubik, "DAOUT", job, elements);
    } else {
        read_contraction(rubik, elements, job);
    }
    return job;
}

}  // namespace npuscope
