// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_registers.h"

#include <fmt/format.h>

#include "models/sdp/sdp_stage_registers.h"

namespace npuscope {
namespace {

constexpr FieldName flying_field{"D_FEATURE_MODE_CFG", "FLYING_MODE"};
constexpr FieldName winograd_field{"D_FEATURE_MODE_CFG", "WINOGRAD"};
constexpr FieldName batches_field{"D_FEATURE_MODE_CFG", "BATCH_NUMBER"};
constexpr FieldName destination_field{"D_FEATURE_MODE_CFG", "OUTPUT_DST"};
constexpr FieldName processing_field{"D_DATA_FORMAT", "PROC_PRECISION"};
constexpr FieldName output_field{"D_DATA_FORMAT", "OUT_PRECISION"};
constexpr FieldName rdma_input_field{"D_FEATURE_MODE_CFG", "IN_PRECISION"};
constexpr FieldName rdma_processing_field{"D_FEATURE_MODE_CFG", "PROC_PRECISION"};

// --- element types ------------------------------------------------------------------------------

PrecisionCell cell_of(Precision input, Precision output) {
    return precision_cell(ConvertingUnit::Sdp, feature_input(input), output);
}

/// Elements of two bytes leave as int8 only where the stages process int8: the accumulators' int16
/// packed to int8 puts two neighbouring pixels into one atom.
/// source: nv_full C model; format page, "the same bit-depth"
void require_output_width(RegisterDecoder& sdp, const SdpStages& stages, bool flying) {
    if (stages.output != Precision::Int8 || stages.processing == Precision::Int8) {
        return;
    }
    sdp.refuse_unless(
        !flying, output_field,
        fmt::format("{} from the accumulators cannot leave as int8, which is half as wide",
                    precision_name(stages.processing)),
        "write elements of two bytes; the SDP converts int16 to int8 from memory to memory");
    sdp.require_valid(cell_of(stages.processing, stages.output), output_field);
    sdp.refuse(output_field, "int16 leaves as int8 only where int8 is processed",
               "program PROC_PRECISION 0 (int8) in SDP and SDP_RDMA and keep IN_PRECISION 1 "
               "(int16)");
}

template <class Visitor, class Stages>
void describe_precisions(Visitor& visit, Stages& stages, const DatapathConfig& datapath,
                         bool flying) {
    visit.precision(processing_field, datapath, stages.processing);
    visit.precision(output_field, datapath, stages.output);
    visit.flag("D_FEATURE_MODE_CFG", "NAN_TO_ZERO", stages.nan_to_zero);
    visit.flag("D_PERF_ENABLE", "PERF_NAN_INF_COUNT_EN", stages.count_nan_outputs);
    if constexpr (Visitor::decodes) {
        require_output_width(visit, stages, flying);
        stages.nan_to_zero &= stages.processing == Precision::Fp16;
        stages.count_nan_outputs &= stages.output == Precision::Fp16;
        stages.coarse_saturation = datapath.coarse_saturation_count;
    }
}

// --- where values come from and go to -----------------------------------------------------------

/// Winograd and several cubes are modes of the accumulators' output.
template <class Visitor, class Job>
void describe_flight(Visitor& visit, Job& job, const SdpConfig& modes, bool flying) {
    visit.flag(winograd_field.register_name, winograd_field.field_name, job.winograd);
    visit.size(batches_field.register_name, batches_field.field_name, job.batches);
    if constexpr (Visitor::decodes) {
        visit.refuse_unless(
            !job.winograd || (modes.winograd && flying), winograd_field,
            modes.winograd ? "values from memory have no tiles" : "this NPU has no Winograd mode",
            "program 0");
        visit.refuse_unless(
            job.batches == 1 || (job.batches <= modes.max_batch && flying), batches_field,
            modes.max_batch == 1 ? "this NPU has no multi-batch mode"
            : flying             ? fmt::format("this NPU takes {} cubes at most", modes.max_batch)
                                 : "values from memory are one cube",
            "program 0");
    }
}

/// A cube of one pixel is moved in one go: its surfaces follow each other without a gap.
/// source: NV_NVDLA_SDP_MRDMA_ig.v and NV_NVDLA_SDP_WDMA_cmd.v, cfg_mode_1x1_pack
FeatureCube decode_sdp_cube(RegisterDecoder& registers, std::string_view stem, const Shape& shape,
                            Bytes atom, Bytes element) {
    if (shape.width > 1 || shape.height > 1) {
        return decode_cube(registers, stem, shape, atom, element);
    }
    FeatureCube cube{{}, atom, atom, shape, atom, element};
    registers.start(stem, DataKind::Feature, atom, cube.base);
    cube.shape.channels = cube.surfaces() * cube.channels_per_atom();
    return cube;
}

void decode_destination(RegisterDecoder& sdp, Bytes memory_atom, SdpJob& job) {
    sdp.flag(destination_field.register_name, destination_field.field_name, job.to_pdp);
    sdp.refuse_unless(!job.to_pdp || !job.stages.compares(), destination_field,
                      "the element-wise ALU compares, there is no output for the PDP",
                      "program 0, or another D_DP_EW_CFG.EW_ALU_ALGO");
    sdp.refuse_unless(!job.to_pdp || job.batches == 1, destination_field, "the PDP takes one cube",
                      "program 0, or BATCH_NUMBER 0");
    if (job.to_pdp || job.stages.compares()) {
        return;
    }
    job.destination =
        decode_sdp_cube(sdp, "DST", job.shape, memory_atom, Bytes(bytes_of(job.stages.output)));
    sdp.inverse_flag("D_DST_DMA_CFG", "DST_RAM_TYPE", job.destination_in_sram);
    if (job.batches > 1) {
        sdp.align("D_DST_BATCH_STRIDE",
                  {DataKind::Feature, AlignedPart::SurfaceStride, memory_atom});
        sdp.bytes("D_DST_BATCH_STRIDE", job.batch_stride);
    }
}

// --- the read DMA -------------------------------------------------------------------------------

/// The read DMA has sizes and modes of its own.
void check_rdma(RegisterDecoder& rdma, const RegisterDecoder& sdp, const SdpJob& job,
                const DatapathConfig& datapath) {
    for (const FieldName& name :
         {FieldName{"D_DATA_CUBE_WIDTH", "WIDTH"}, FieldName{"D_DATA_CUBE_HEIGHT", "HEIGHT"},
          FieldName{"D_DATA_CUBE_CHANNEL", "CHANNEL"}, flying_field, winograd_field,
          batches_field}) {
        rdma.require_same(sdp.values(), name);
    }
    Precision processing = Precision::Int8;
    rdma.precision(rdma_processing_field, datapath, processing);
    rdma.refuse_unless(
        processing == job.stages.processing, rdma_processing_field,
        fmt::format("{} says {}", spelled(sdp.unit(), processing_field.register_name),
                    static_cast<unsigned>(job.stages.processing)),
        "program the same value in both units");
}

/// int16 becomes int8 two surfaces at a time; every other source has the processing precision.
void decode_source(RegisterDecoder& rdma, const DatapathConfig& datapath, SdpJob& job) {
    Precision input = Precision::Int8;
    rdma.precision(rdma_input_field, datapath, input);
    const Precision processing = job.stages.processing;
    rdma.refuse_unless(
        input == processing || (input == Precision::Int16 && processing == Precision::Int8),
        rdma_input_field, "the stages process another precision",
        "program PROC_PRECISION alike; int16 may be processed as int8");
    rdma.require_valid(cell_of(input, job.stages.output), rdma_input_field);
    job.source = decode_sdp_cube(rdma, "SRC", job.whole_atoms(datapath), datapath.memory_atom,
                                 Bytes(bytes_of(input)));
    rdma.inverse_flag("D_SRC_DMA_CFG", "SRC_RAM_TYPE", job.source_in_sram);
    rdma.flag("D_PERF_ENABLE", "PERF_NAN_INF_COUNT_EN", job.stages.count_input_specials);
    job.stages.count_input_specials &= input == Precision::Fp16;
}

/// What one operand DMA is asked for by its stage.
struct OperandNeed {
    bool alu = false;
    bool mul = false;

    bool any() const { return alu || mul; }
};

template <class Stage>
OperandNeed need_of(const Stage& stage) {
    const auto from_memory = [&stage](const auto& part) {
        return !stage.bypass && !part.bypass && part.source == OperandSource::Memory;
    };
    return {from_memory(stage.alu), from_memory(stage.mul)};
}

/// The registers of one operand DMA: D_<letter>RDMA_CFG and D_<stage>_...
struct OperandNames {
    const char* letter;  ///< B, N, E
    const char* stage;   ///< BS, BN, EW
    DataKind kind;

    std::string register_name() const { return fmt::format("D_{}RDMA_CFG", letter); }
    std::string field(std::string_view rest) const {
        return fmt::format("{}RDMA_{}", letter, rest);
    }
};

constexpr OperandNames bs_names{"B", "BS", DataKind::Bias};
constexpr OperandNames bn_names{"N", "BN", DataKind::BatchNorm};
constexpr OperandNames ew_names{"E", "EW", DataKind::ElementWise};

template <class Visitor, class Fetch>
void describe_fetch(Visitor& visit, const OperandNames& names, Fetch& fetch) {
    const std::string name = names.register_name();
    auto use = fetch.alu && fetch.mul ? 2U : fetch.alu ? 1U : 0U;
    bool per_element = fetch.surface.spread == OperandSpread::PerElement;
    visit.field(name, names.field("DATA_USE"), use);
    visit.size_in_bytes(name, names.field("DATA_SIZE"), fetch.surface.component);
    visit.flag(name, names.field("DATA_MODE"), per_element);
    visit.inverse_flag(name, names.field("RAM_TYPE"), fetch.in_sram);
    if constexpr (Visitor::decodes) {
        fetch.mul = use == 0 || use == 2;
        fetch.alu = use == 1 || use == 2;
        fetch.surface.spread = per_element ? OperandSpread::PerElement : OperandSpread::PerChannel;
    }
}

/// Strides count per element only; a cube of one pixel is read in one go without them.
void place_operand(RegisterDecoder& rdma, const OperandNames& names, Bytes memory_atom,
                   OperandSurface& surface) {
    rdma.start(names.stage, names.kind, memory_atom, surface.base);
    if (surface.spread == OperandSpread::PerChannel) {
        return;
    }
    if (surface.shape.height == 1 && surface.shape.width == 1) {
        surface.line_stride = surface.atom();
        surface.surface_stride = surface.atom();
        return;
    }
    rdma.strides(names.stage, DataKind::ElementWise, memory_atom, surface.line_stride,
                 surface.surface_stride);
    rdma.require_surface(fmt::format("D_{}_BASE_ADDR_LOW", names.stage),
                         {std::uint64_t{surface.surfaces()} * surface.shape.height,
                          surface.atom() * surface.shape.width});
}

/// What is fetched must be what the stage consumes: the unit waits for ever otherwise.
void check_need(RegisterDecoder& rdma, const OperandNames& names, const OperandNeed& need,
                const SdpOperandFetch& fetch) {
    const std::string name = names.register_name();
    const std::string disable = names.field("DISABLE");
    const std::string use = names.field("DATA_USE");
    rdma.refuse_unless(rdma.values().field(name, disable) == 0, {name, disable},
                       fmt::format("{} takes an operand from memory", names.stage),
                       "program 0, or take the operand from a register");
    rdma.refuse_unless(fetch.alu == need.alu && fetch.mul == need.mul, {name, use},
                       fmt::format("{} takes {} from memory", names.stage,
                                   need.alu && need.mul ? "both operands"
                                   : need.alu           ? "its ALU operand"
                                                        : "its multiplier's operand"),
                       "0 multiplier, 1 ALU, 2 both");
}

std::optional<SdpOperandFetch> decode_operand(RegisterDecoder& rdma, const OperandNames& names,
                                              const OperandNeed& need, const SdpJob& job,
                                              const DatapathConfig& datapath) {
    if (!need.any()) {
        return std::nullopt;
    }
    SdpOperandFetch fetch;
    describe_fetch(rdma, names, fetch);
    check_need(rdma, names, need, fetch);
    fetch.surface.shape = job.whole_atoms(datapath);
    fetch.surface.elements_per_atom = datapath.atom_channels(job.stages.processing);
    fetch.surface.components = need.alu && need.mul ? 2 : 1;
    place_operand(rdma, names, datapath.memory_atom, fetch.surface);
    return fetch;
}

void decode_rdma(RegisterDecoder& rdma, const RegisterDecoder& sdp, bool flying,
                 const DatapathConfig& datapath, SdpJob& job) {
    const OperandNeed bs = need_of(job.stages.bs);
    const OperandNeed bn = need_of(job.stages.bn);
    const OperandNeed ew = need_of(job.stages.ew);
    if (flying && !bs.any() && !bn.any() && !ew.any()) {
        return;
    }
    check_rdma(rdma, sdp, job, datapath);
    if (!flying) {
        decode_source(rdma, datapath, job);
    }
    job.bs_operand = decode_operand(rdma, bs_names, bs, job, datapath);
    job.bn_operand = decode_operand(rdma, bn_names, bn, job, datapath);
    job.ew_operand = decode_operand(rdma, ew_names, ew, job, datapath);
}

}  // namespace

std::optional<SdpJob> decode_sdp(const RegisterValues& sdp_values,
                                 const RegisterValues& rdma_values, const SdpConfig& config,
                                 const DatapathConfig& datapath, Diagnostics& findings) {
    RegisterDecoder sdp(sdp_values, findings);
    RegisterDecoder rdma(rdma_values, findings);
    SdpJob job;
    bool flying = false;
    sdp.shape({"D_DATA_CUBE_CHANNEL", "CHANNEL"}, {"D_DATA_CUBE_HEIGHT", "HEIGHT"},
              {"D_DATA_CUBE_WIDTH", "WIDTH"}, job.shape);
    sdp.flag(flying_field.register_name, flying_field.field_name, flying);
    sdp::describe_stages(sdp, job.stages, config);
    describe_precisions(sdp, job.stages, datapath, flying);
    describe_flight(sdp, job, config, flying);
    sdp.flag("D_PERF_ENABLE", "PERF_DMA_EN", job.count_stalls);
    sdp.flag("D_PERF_ENABLE", "PERF_LUT_EN", job.count_lookups);
    decode_destination(sdp, datapath.memory_atom, job);
    decode_rdma(rdma, sdp, flying, datapath, job);
    return unless_refused(std::move(job), findings);
}

std::optional<Diagnostic> conversion_note(const SdpJob& job) {
    if (!job.source) {
        return std::nullopt;
    }
    const bool one_byte = job.source->element == Bytes(1);
    const Precision input = one_byte                                   ? Precision::Int8
                            : job.stages.processing == Precision::Fp16 ? Precision::Fp16
                                                                       : Precision::Int16;
    const PrecisionCell cell = cell_of(input, job.stages.output);
    if (cell.valid()) {
        return std::nullopt;
    }
    Diagnostic finding;
    finding.severity = Severity::Note;
    finding.id = "conversion_undocumented";
    finding.register_name = spelled("NVDLA_SDP", output_field.register_name);
    finding.field = output_field.field_name;
    finding.sentence =
        fmt::format("{}: {} is an invalid case; it is computed as nv_full's C model does",
                    finding.register_name, cell.name());
    finding.remedy = "write int8, or convert to int16 and that to fp16";
    finding.unit = "sdp";
    return finding;
}

}  // namespace npuscope
