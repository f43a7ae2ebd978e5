// SPDX-License-Identifier: Apache-2.0
#include "sim/check/operation_surfaces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "models/base/check.h"
#include "models/base/rule_ids.h"
#include "models/conv/conv_findings.h"
#include "models/conv/conv_work.h"
#include "models/npu/pipelines.h"
#include "sim/check/bank_rules.h"
#include "sim/check/placing.h"

namespace npuscope {
namespace {

using Surfaces = std::vector<SurfaceUse>;

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
        // the zeros that fill up the last block may be missing
        const bool padded = cdma.weight_bytes <= job.weights.stored_bytes();
        operation.uses.push_back(weights_at(
            "weights", "D_WEIGHT_ADDR_LOW",
            {cdma.weight_address, padded ? job.weights.used_bytes() : cdma.weight_bytes}));
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
    input.surface_stride_register = "D_SURF_STRIDE";
    if (cdma.mode == ConvMode::Image) {
        input.kind = DataKind::Pixels;
        for (std::uint32_t plane = 0; plane < cdma.pixels.format->planes; ++plane) {
            if (plane == 1) {
                input.surface = "input's second plane";
                input.address_register = "D_DAIN_ADDR_LOW_1";
                input.stride_register = "D_LINE_UV_STRIDE";
            }
            input.surface_stride_register.clear();
            input.base = cdma.pixels.base[plane];
            const Bytes stored = cdma.pixels.skipped(plane) + cdma.pixels.line({plane, 0}).bytes;
            input.overlaps_itself =
                cdma.pixels.height > 1 && stored > cdma.pixels.line_stride[plane];
            if (cdma.pixels.height > 1) {
                input.strides.line = cdma.pixels.line_stride[plane];
            }
            std::vector<ByteRun> lines;
            for (std::uint32_t y = 0; y < cdma.pixels.height; ++y) {
                lines.push_back(cdma.pixels.line({plane, y}));
            }
            uses.push_back(with_runs(input, std::move(lines)));
        }
    } else {
        uses.push_back(cube_use(std::move(input), cdma.feature));
    }
}

void add_operand(const std::optional<SdpOperandFetch>& fetch, const SurfaceUse& use,
                 Surfaces& uses) {
    if (!fetch) {
        return;
    }
    const OperandSurface& operand = fetch->surface;
    uses.push_back(operand_use(use, operand));
    if (uses.back().constant) {  // per-channel values, one atom after the other
        FeatureCube& cube = uses.back().cube.emplace();
        cube.base = operand.base;
        cube.line_stride = operand.atom();
        cube.surface_stride = operand.atom();
        cube.shape = {operand.shape.channels, 1, 1};
        cube.atom = operand.atom();
        cube.element = operand.component * operand.components;
    }
}

/// A factor of 0 makes all results the same.
struct Factor {
    const char* unit;
    const char* register_name;
    const char* field;
    const char* what = "every result is the same";
    const char* remedy = "program the scale, 1 where nothing is converted";
};

void warn_if_zero(std::int64_t value, const Factor& factor, CheckedOperation& operation) {
    if (value != 0) {
        return;
    }
    const std::string name = spelled(factor.unit, factor.register_name);
    operation.findings.push_back({.severity = Severity::Warning,
                                  .id = rule_ids::suspicious_register,
                                  .sentence = fmt::format("{} is 0: {}", name, factor.what),
                                  .remedy = factor.remedy,
                                  .unit = factor.unit,
                                  .register_name = name,
                                  .field = factor.field});
}

void check_average(const PdpPooling& pooling, CheckedOperation& operation) {
    if (pooling.method != PoolingMethod::Average) {
        return;
    }
    constexpr const char* remedy = "write 65536 / kernel size";
    warn_if_zero(pooling.recip_width,
                 {"NVDLA_PDP", "D_RECIP_KERNEL_WIDTH", "RECIP_KERNEL_WIDTH",
                  "every average is the same", remedy},
                 operation);
    warn_if_zero(pooling.recip_height,
                 {"NVDLA_PDP", "D_RECIP_KERNEL_HEIGHT", "RECIP_KERNEL_HEIGHT",
                  "every average is the same", remedy},
                 operation);
}

/// The source as far as its channels reach: whatever the wider atoms of the processing read beyond
/// them belongs to no channel.
FeatureCube read_source(const SdpJob& job) {
    FeatureCube cube = *job.source;
    const auto whole =
        static_cast<std::uint32_t>(round_up(job.shape.channels, cube.channels_per_atom()));
    cube.shape.channels = std::min(cube.shape.channels, whole);
    return cube;
}

/// The result of each batch, one batch stride after the other.
SurfaceUse batched_result(const SdpJob& job) {
    FeatureCube cube = *job.destination;
    SurfaceUse use = result_use("NVDLA_SDP", cube);
    std::vector<ByteRun> runs = std::move(use.runs);
    const std::size_t one = runs.size();
    for (std::uint32_t batch = 1; batch < job.batches; ++batch) {
        for (std::size_t i = 0; i < one; ++i) {
            runs.push_back({runs[i].address + job.batch_stride * batch, runs[i].bytes});
        }
    }
    const bool overlaps = use.overlaps_itself;
    use = with_runs(std::move(use), std::move(runs));
    use.overlaps_itself = use.overlaps_itself || overlaps;
    use.batches = job.batches;
    return use;
}

/// The SDP moves a cube of one pixel in one go, whatever the strides are; source: sdp::decode_cube.
void clear_unused_strides(const SdpJob& job, Surfaces& uses) {
    if (job.shape.width > 1 || job.shape.height > 1) {
        return;
    }
    for (SurfaceUse& use : uses) {
        if (!use.writes || job.batches == 1) {
            use.stride_register.clear();
            use.surface_stride_register.clear();
        }
    }
}

/// Jobs have whole atoms of channels; only the first `channels` of them are meaningful.
void set_channels(Surfaces& uses, std::uint32_t channels) {
    for (SurfaceUse& use : uses) {
        if (use.cube && use.cube->shape.channels > channels) {
            const std::uint32_t surfaces = use.cube->surfaces();
            const std::uint32_t whole = use.cube->shape.channels;
            use.cube->shape.channels = channels;
            use.cube->shape.channels = use.cube->surfaces() == surfaces ? channels : whole;
        }
    }
}

/// Adds the surfaces that one job accesses.
struct AddSurfaces {
    const Launch& launch;
    const NpuConfig& npu;
    CheckedOperation& operation;

    void operator()(std::monostate /*job*/) const { operation.undecoded = true; }

    void operator()(const ConvJob& job) const {
        const std::uint32_t cells = npu.datapath.atomic_k;
        if (npu.cacc.ends_may_meet(delivered_atoms(job), cells)) {
            operation.short_delivery =
                ends_meet(job, fmt::format("may enter the accumulator's delivery buffer of {} "
                                           "atoms in the cycle in which the last one of",
                                           npu.cacc.depth(cells)));
        }
        operation.lines_left = job.parts.csc.stride_y - 1;
        operation.columns_left = job.parts.csc.stride_x - 1;
        const CdmaJob& cdma = job.parts.cdma;
        if (cdma.mode == ConvMode::Image && cdma.pixels.height == 1) {
            operation.next_line = cdma.pixels.line_stride[0];
        }
        // padding of the last block of plain weights is less than a whole kernel
        constexpr Bytes weight_block(128);  // source: NVDLA format page, table 35
        operation.weights_left =
            job.parts.cdma.compression
                ? weight_block
                : std::min(weight_block, Bytes(job.weights.kernel_bytes().value - 1));
        if (std::optional<Diagnostic> finding = too_few_data_banks(job, launch.start, npu)) {
            operation.findings.push_back(std::move(*finding));
        }
        if (cdma.conversion.enabled && cdma.in_precision != Precision::Fp16) {
            warn_if_zero(cdma.conversion.scale,
                         {"NVDLA_CDMA", "D_CVT_SCALE", "CVT_SCALE", "every input is the same"},
                         operation);
        }
        if (!launch.start.data_reused) {
            add_input(job.parts.cdma, operation.uses);
        }
        if (launch.start.weights_reused) {
            return;
        }
        add_weight_surfaces(job, operation);
        const WeightStore store{cdma.banks.weight, job.parts.csc.reuse.skip_weight_release};
        if (operation.compressed) {
            operation.compressed->store = store;
            return;
        }
        std::vector<std::uint64_t> ends;
        for (std::uint32_t group = 1; group < job.weights.groups(); ++group) {
            ends.push_back(job.weights.group_offset(group).value);
        }
        ends.push_back(cdma.weight_bytes.value);
        if (auto finding = too_few_weight_banks(job.weights, store, ends, npu)) {
            operation.findings.push_back(std::move(*finding));
        }
    }

    void operator()(const SdpJob& job) const {
        if (job.stages.processing != Precision::Fp16) {
            warn_if_zero(job.stages.convertor.scale, {"NVDLA_SDP", "D_CVT_SCALE", "CVT_SCALE"},
                         operation);
        }
        operation.only_compares = job.stages.compares();
        Surfaces& uses = operation.uses;
        const char* const rdma = "NVDLA_SDP_RDMA";
        if (job.source) {
            uses.push_back(source_use(rdma, read_source(job)));
        }
        add_operand(job.operands[bs_stage], surface_at("bs_operand", rdma, "BS", DataKind::Bias),
                    uses);
        add_operand(job.operands[bn_stage],
                    surface_at("bn_operand", rdma, "BN", DataKind::BatchNorm), uses);
        add_operand(job.operands[ew_stage],
                    surface_at("ew_operand", rdma, "EW", DataKind::ElementWise), uses);
        if (!job.to_pdp && job.destination) {
            uses.push_back(batched_result(job));
        }
        clear_unused_strides(job, uses);
        set_channels(uses, job.shape.channels);
    }

    void operator()(const PdpJob& job) const {
        check_average(job.pooling, operation);
        operation.lines_left = job.pooling.stride_y - 1;
        operation.columns_left = job.pooling.stride_x - 1;
        add_all(job, job.input.channels);
    }
    void operator()(const CdpJob& job) const {
        const CdpNormalization& how = job.normalization;
        if (how.precision != Precision::Fp16) {
            warn_if_zero(how.input.scale,
                         {"NVDLA_CDP", "D_DATIN_SCALE", "DATIN_SCALE", "every input is the same"},
                         operation);
            warn_if_zero(how.output.scale, {"NVDLA_CDP", "D_DATOUT_SCALE", "DATOUT_SCALE"},
                         operation);
        }
        add_all(job, job.shape.channels);
    }
    /// For a unit whose job defines everything.
    template <class Job>
    void operator()(const Job& job) const {
        operation.uses = surfaces_of(job);
    }

 private:
    template <class Job>
    void add_all(const Job& job, std::uint32_t channels) const {
        operation.uses = surfaces_of(job);
        set_channels(operation.uses, channels);
    }
};

}  // namespace

CheckedOperation checked_operation(const Launch& launch, const NpuConfig& npu) {
    CheckedOperation operation;
    operation.name = launch.name;
    operation.unit = launch.pipeline;
    operation.done = row_of(launch.pipeline).done;
    operation.group = launch.group;
    operation.uses_rdma = launch.rdma_enabled.has_value();
    operation.takes = launch.consumes;
    operation.gives = launch.produces;
    std::visit(AddSurfaces{launch, npu, operation}, launch.job);
    for (Diagnostic& finding : operation.findings) {
        finding.operation = operation.name;
    }
    return operation;
}

const RegisterWrite* find_write(const CheckedOperation& operation, std::string_view register_name) {
    for (const auto& [block, writes] : operation.writes) {
        if (!register_name.starts_with(block->name) || register_name[block->name.size()] != '.') {
            continue;
        }
        constexpr std::string_view suffix = "_0";  // of every name as spelled
        std::string_view name = register_name.substr(block->name.size() + 1);
        if (!name.ends_with(suffix)) {
            continue;
        }
        name.remove_suffix(suffix.size());
        for (std::size_t i = 0; i < writes.size(); ++i) {
            if (block->rows[i].name == name) {
                return writes[i].place == nullptr ? nullptr : &writes[i];
            }
        }
    }
    return nullptr;
}

std::string surface_label(const CheckedOperation& operation, const SurfaceUse& use) {
    return operation.name.empty() ? fmt::format("'{}'", use.surface)
                                  : fmt::format("{} of {}", use.surface, operation.name);
}

std::string surface_does(const CheckedOperation& operation, const SurfaceUse& use,
                         std::string_view verb) {
    const bool several = use.surface == "weights" || use.surface == "constants";
    const bool being = verb == "are";
    return fmt::format("{} {}{}", surface_label(operation, use), being && !several ? "is" : verb,
                       being || several ? "" : "s");
}

Diagnostic surface_finding(const CheckedOperation& operation, const SurfaceUse& use, const char* id,
                           const std::string& message, const std::string& remedy) {
    const std::vector<std::string> registers = placing_registers(use);
    // a described image has no registers of its own, and a remedy may already name them
    const bool tell = !operation.name.empty() && !registers.empty() &&
                      remedy.find(registers.front()) == std::string::npos;
    return {.id = id,
            .sentence = message,
            .remedy = tell ? fmt::format("{} ({}: {})", remedy,
                                         registers.front().starts_with("word") ? "of the descriptor"
                                                                               : "registers",
                                         fmt::join(registers, ", "))
                           : remedy,
            .address = use.base,
            .unit = use.unit,
            .register_name = address_name(use),
            .surface = use.surface,
            .operation = operation.name,
            .place = operation.place};
}

void check_pair(const CheckedOperation& newest, const SurfaceUse& one,
                const CheckedOperation& other, const SurfaceUse& two, DiagnosticLog& log) {
    const auto shared = common_byte(one.runs, two.runs);
    if (!shared) {
        return;
    }
    const SurfaceUse& blamed = two.writes ? two : one;
    const SurfaceUse& rest = two.writes ? one : two;
    Diagnostic finding =
        surface_finding(newest, blamed, rule_ids::surface_overlap,
                        fmt::format("{} and {} overlap at {}", surface_label(newest, one),
                                    surface_label(other, two), to_hex(*shared)),
                        fmt::format("move it away from {}",
                                    rest.address_register.empty() ||
                                            other.name.empty()  // surfaces of an image share it
                                        ? surface_label(two.writes ? newest : other, rest)
                                        : spelled(rest.unit, rest.address_register)));
    finding.address = *shared;
    log.add(std::move(finding));
}

}  // namespace npuscope
