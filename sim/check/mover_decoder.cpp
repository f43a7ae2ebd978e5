// SPDX-License-Identifier: Apache-2.0
#include "sim/check/mover_decoder.h"

#include <utility>

#include "models/bdma/bdma_registers.h"
#include "models/rubik/rubik_registers.h"

namespace npuscope {
namespace {

struct Side {
    const char* unit;
    const char* surface;
    const char* address_register;
};

SurfaceUse ends_of(const Side& side, const ByteRun& first, const ByteRun& last) {
    SurfaceUse use;
    use.unit = side.unit;
    use.surface = side.surface;
    use.address_register = side.address_register;
    use.base = first.address;
    use.runs = {first};
    if (last != first) {
        use.runs.push_back(last);
    }
    return use;
}

SurfaceUse ends_of(const Side& side, const FeatureCube& cube) {
    const Bytes line = cube.line_bytes();
    return ends_of(side, {cube.base, line},
                   {cube.line_address(cube.surfaces() - 1, cube.shape.height - 1), line});
}

SurfaceUse ends_of(const Side& side, const PlanarCube& planes, const Shape& shape) {
    return ends_of(side, {planes.base, planes.line},
                   {planes.line_address(shape.channels - 1, shape.height - 1), planes.line});
}

constexpr Side rubik_input{"NVDLA_RBK", "input", "D_DAIN_ADDR_LOW"};
constexpr Side rubik_output{"NVDLA_RBK", "output", "D_DAOUT_ADDR_LOW"};

SurfaceUse contracted_ends(const RubikJob& job) {
    const Bytes line = job.contracted.line_bytes();
    const Address last =
        job.contracted.line_address(job.contracted.surfaces() - 1, job.stride_y - 1) +
        job.super_line * (job.input.height - 1);
    return ends_of(rubik_output, {job.contracted.base, line}, {last, line});
}

}  // namespace

std::vector<SurfaceUse> bdma_uses(const RegisterValues& bdma, const NpuConfig& npu,
                                  std::vector<Found>& found) {
    Diagnostics findings;
    const auto job = decode_bdma(bdma, npu.bdma, npu.datapath.memory_atom, findings);
    add_findings(findings, found);
    if (!job) {
        return {};
    }
    const auto ends = [&job](const Side& names, const BdmaSide& side) {
        return ends_of(names, {side.base, job->line},
                       {side.line(job->lines - 1, job->surfaces - 1), job->line});
    };
    return {ends({"NVDLA_BDMA", "source", "CFG_SRC_ADDR_LOW"}, job->source),
            ends({"NVDLA_BDMA", "destination", "CFG_DST_ADDR_LOW"}, job->destination)};
}

std::vector<SurfaceUse> rubik_uses(const RegisterValues& rubik, const NpuConfig& npu,
                                   std::vector<Found>& found) {
    Diagnostics findings;
    const auto job = decode_rubik(rubik, npu.rubik, npu.datapath, findings);
    add_findings(findings, found);
    if (!job) {
        return {};
    }
    switch (job->mode) {
        case RubikMode::Contract:
            return {ends_of(rubik_input, job->feature), contracted_ends(*job)};
        case RubikMode::Split:
            return {ends_of(rubik_input, job->feature),
                    ends_of(rubik_output, job->planar, job->input)};
        case RubikMode::Merge:
            return {ends_of(rubik_input, job->planar, job->input),
                    ends_of(rubik_output, job->feature)};
    }
    return {};
}

}  // namespace npuscope
