// SPDX-License-Identifier: Apache-2.0
#include "sim/check/operation_surfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "models/conv/delivery_rule.h"

namespace npuscope {
namespace {

using Surfaces = std::vector<SurfaceUse>;

SurfaceStrides strides_of(const Shape& shape, std::uint32_t surfaces, Bytes line, Bytes surface) {
    SurfaceStrides strides;
    if (shape.height > 1) {
        strides.line = line;
    }
    if (surfaces > 1) {
        strides.surface = surface;
    }
    return strides;
}

SurfaceUse reads(const char* surface, const char* unit, const char* stem, DataKind kind) {
    SurfaceUse use;
    use.surface = surface;
    use.unit = unit;
    use.address_register = std::string("D_") + stem + "_BASE_ADDR_LOW";
    use.stride_register = std::string("D_") + stem + "_LINE_STRIDE";
    use.kind = kind;
    return use;
}

SurfaceUse source_of(const char* unit) { return reads("source", unit, "SRC", DataKind::Feature); }

SurfaceUse result_of(const char* unit) {
    SurfaceUse use = reads("result", unit, "DST", DataKind::Feature);
    use.writes = true;
    return use;
}

SurfaceUse weights_at(const char* surface, const char* address_register, const ByteRun& run) {
    SurfaceUse use;
    use.surface = surface;
    use.unit = "NVDLA_CDMA";
    use.address_register = address_register;
    use.kind = DataKind::Weights;
    use.constant = true;
    use.base = run.address;
    return with_runs(std::move(use), {run});
}

void add_weight_surfaces(const ConvJob& job, CheckedOperation& operation) {
    const CdmaJob& cdma = job.parts.cdma;
    if (!cdma.compression) {
        operation.uses.push_back(weights_at("weights", "D_WEIGHT_ADDR_LOW",
                                            {cdma.weight_address, job.weights.used_bytes()}));
        return;
    }
    const CompressedPlaces places = compressed_places(cdma);
    operation.compressed = CompressedUse{job.weights, places};
    operation.uses.push_back(
        weights_at("weights", "D_WEIGHT_ADDR_LOW", {places.values, places.value_bytes}));
    operation.uses.push_back(
        weights_at("WMB", "D_WMB_ADDR_LOW", {places.mask, used_mask_bytes(job.weights)}));
    operation.uses.push_back(
        weights_at("WGS", "D_WGS_ADDR_LOW", {places.sizes, Bytes(4) * job.weights.groups()}));
}

void add_input(const CdmaJob& cdma, Surfaces& uses) {
    SurfaceUse input;
    input.surface = "input";
    input.unit = "NVDLA_CDMA";
    input.address_register = "D_DAIN_ADDR_LOW_0";
    input.stride_register = "D_LINE_STRIDE";
    if (cdma.mode == ConvMode::Image) {
        input.kind = DataKind::Pixels;
        input.base = cdma.pixels.base[0];
        uses.push_back(with_runs(std::move(input), cdma.pixels.runs()));
    } else {
        uses.push_back(cube_use(std::move(input), cdma.feature));
    }
}

void add_operand(const std::optional<SdpOperandFetch>& fetch, const SurfaceUse& use,
                 Surfaces& uses) {
    if (fetch) {
        uses.push_back(operand_use(use, fetch->surface));
    }
}

struct Side {
    const char* unit;
    const char* surface;
    const char* address_register;
};

constexpr Side rubik_input{"NVDLA_RBK", "input", "D_DAIN_ADDR_LOW"};
constexpr Side rubik_output{"NVDLA_RBK", "output", "D_DAOUT_ADDR_LOW"};

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

SurfaceUse contracted_ends(const RubikJob& job) {
    const Bytes line = job.contracted.line_bytes();
    const Address last =
        job.contracted.line_address(job.contracted.surfaces() - 1, job.stride_y - 1) +
        job.super_line * (job.input.height - 1);
    return ends_of(rubik_output, {job.contracted.base, line}, {last, line});
}

/// Adds what one job touches.
struct AddSurfaces {
    const Launch& launch;
    const NpuConfig& npu;
    CheckedOperation& operation;

    void operator()(std::monostate /*job*/) const { operation.undecoded = true; }

    void operator()(const ConvJob& job) const {
        const std::uint32_t cells = npu.datapath.atomic_k;
        if (npu.cacc.ends_may_meet(delivered_atoms(job), cells)) {
            operation.short_delivery =
                ends_meet(job, fmt::format("may enter the accumulator's delivery buffer of {} in "
                                           "the cycle in which the last one of",
                                           npu.cacc.depth(cells)));
        }
        if (!launch.start.data_reused) {
            add_input(job.parts.cdma, operation.uses);
        }
        if (!launch.start.weights_reused) {
            add_weight_surfaces(job, operation);
        }
    }

    void operator()(const SdpJob& job) const {
        Surfaces& uses = operation.uses;
        const char* const rdma = "NVDLA_SDP_RDMA";
        if (job.source) {
            uses.push_back(cube_use(source_of(rdma), *job.source));
        }
        add_operand(job.bs_operand, reads("bs_operand", rdma, "BS", DataKind::Bias), uses);
        add_operand(job.bn_operand, reads("bn_operand", rdma, "BN", DataKind::BatchNorm), uses);
        add_operand(job.ew_operand, reads("ew_operand", rdma, "EW", DataKind::ElementWise), uses);
        if (!job.to_pdp && job.destination) {
            uses.push_back(cube_use(result_of("NVDLA_SDP"), *job.destination));
        }
    }

    void operator()(const PdpJob& job) const {
        if (job.source) {
            operation.uses.push_back(cube_use(source_of("NVDLA_PDP_RDMA"), *job.source));
        }
        operation.uses.push_back(cube_use(result_of("NVDLA_PDP"), job.destination));
    }

    void operator()(const CdpJob& job) const {
        operation.uses.push_back(cube_use(source_of("NVDLA_CDP_RDMA"), job.source));
        operation.uses.push_back(cube_use(result_of("NVDLA_CDP"), job.destination));
    }

    void operator()(const RubikJob& job) const {
        switch (job.mode) {
            case RubikMode::Contract:
                operation.uses = {ends_of(rubik_input, job.feature), contracted_ends(job)};
                return;
            case RubikMode::Split:
                operation.uses = {ends_of(rubik_input, job.feature),
                                  ends_of(rubik_output, job.planar, job.input)};
                return;
            case RubikMode::Merge:
                operation.uses = {ends_of(rubik_input, job.planar, job.input),
                                  ends_of(rubik_output, job.feature)};
                return;
        }
    }
};

}  // namespace

SurfaceUse with_runs(SurfaceUse use, std::vector<ByteRun> runs) {
    std::erase_if(runs, [](const ByteRun& run) { return run.bytes.value == 0; });
    std::ranges::sort(runs, {}, &ByteRun::address);
    use.runs.clear();
    for (const ByteRun& run : runs) {
        if (use.runs.empty() || use.runs.back().end() < run.address) {
            use.runs.push_back(run);
            continue;
        }
        ByteRun& last = use.runs.back();
        use.overlaps_itself = use.overlaps_itself || last.end() > run.address;
        last.bytes = std::max(last.end(), run.end()) - last.address;
    }
    return use;
}

SurfaceUse cube_use(SurfaceUse use, const FeatureCube& cube) {
    use.base = cube.base;
    use.strides = strides_of(cube.shape, cube.surfaces(), cube.line_stride, cube.surface_stride);
    return with_runs(std::move(use), cube.runs());
}

SurfaceUse operand_use(SurfaceUse use, const OperandSurface& operand) {
    use.base = operand.base;
    use.constant = operand.spread == OperandSpread::PerChannel;
    if (use.constant) {
        use.stride_register.clear();
    } else {
        use.strides = strides_of(operand.shape, operand.surfaces(), operand.line_stride,
                                 operand.surface_stride);
    }
    return with_runs(std::move(use), operand.runs());
}

CheckedOperation checked_operation(const Launch& launch, const NpuConfig& npu) {
    CheckedOperation operation;
    operation.name = launch.name;
    operation.unit = launch.pipeline;
    operation.group = launch.group;
    operation.uses_rdma = launch.rdma_enabled.has_value();
    operation.takes = launch.consumes;
    operation.gives = launch.produces;
    std::visit(AddSurfaces{launch, npu, operation}, launch.job);
    return operation;
}

std::vector<SurfaceUse> surfaces_of(const BdmaJob& job) {
    const auto ends = [&job](const Side& names, const BdmaSide& side) {
        return ends_of(names, {side.base, job.line},
                       {side.line(job.lines - 1, job.surfaces - 1), job.line});
    };
    return {ends({"NVDLA_BDMA", "source", "CFG_SRC_ADDR_LOW"}, job.source),
            ends({"NVDLA_BDMA", "destination", "CFG_DST_ADDR_LOW"}, job.destination)};
}

std::vector<SurfaceUse> surfaces_of(const TinpuJob& job) {
    Surfaces uses;
    const auto add = [&](const char* surface, Address base, Bytes bytes) {
        SurfaceUse use;
        use.surface = surface;
        use.unit = "tinpu";
        use.base = base;
        uses.push_back(with_runs(std::move(use), {{base, bytes}}));
    };
    add("input", job.input.base, job.input.bytes());
    if (job.residual) {
        add("residual", job.residual->base, job.residual->bytes());
    }
    if (job.weights) {
        add("weights", job.weights->base, job.weights->bytes());
    }
    if (job.constants) {
        add("constants", *job.constants, job.constant_bytes());
    }
    add("output", job.output.base, job.output.bytes());
    uses.back().writes = true;
    return uses;
}

InterruptSource interrupt_of(Pipeline unit) {
    constexpr std::array sources{InterruptSource::Cacc, InterruptSource::Sdp, InterruptSource::Pdp,
                                 InterruptSource::Cdp, InterruptSource::Rubik};
    return sources[static_cast<std::size_t>(unit)];
}

std::string surface_label(const CheckedOperation& operation, const SurfaceUse& use) {
    return operation.name.empty() ? fmt::format("'{}'", use.surface)
                                  : fmt::format("{} of {}", use.surface, operation.name);
}

Diagnostic surface_finding(const CheckedOperation& operation, const SurfaceUse& use, const char* id,
                           const std::string& message, const std::string& remedy) {
    return {.id = id,
            .sentence = message,
            .remedy = remedy,
            .address = use.base,
            .unit = use.unit,
            .register_name =
                use.address_register.empty() ? "" : spelled(use.unit, use.address_register),
            .surface = use.surface,
            .operation = operation.name,
            .place = operation.place};
}

std::optional<Address> common_byte(const SurfaceUse& one, const SurfaceUse& other) {
    for (auto a = one.runs.begin(), b = other.runs.begin();
         a != one.runs.end() && b != other.runs.end();) {
        const Address begin = std::max(a->address, b->address);
        if (begin < std::min(a->end(), b->end())) {
            return begin;
        }
        a->end() < b->end() ? ++a : ++b;
    }
    return std::nullopt;
}

void check_pair(const CheckedOperation& newest, const SurfaceUse& one,
                const CheckedOperation& other, const SurfaceUse& two, DiagnosticLog& log) {
    const auto shared = common_byte(one, two);
    if (!shared) {
        return;
    }
    const SurfaceUse& blamed = two.writes ? two : one;
    const SurfaceUse& rest = two.writes ? one : two;
    Diagnostic finding = surface_finding(
        newest, blamed, "surface_overlap",
        fmt::format("{} and {} overlap at {}", surface_label(newest, one),
                    surface_label(other, two), to_hex(*shared)),
        fmt::format("move it away from {}", rest.address_register.empty()
                                                ? surface_label(other, rest)
                                                : spelled(rest.unit, rest.address_register)));
    finding.address = *shared;
    log.add(std::move(finding));
}

}  // namespace npuscope
