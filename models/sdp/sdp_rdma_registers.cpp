// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_rdma_registers.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/register_rows.h"

namespace npuscope {
namespace {

// Registers of NVDLA_SDP_RDMA: the read DMA of the single-point processor.
// source: NVDLA register specification, nv_small, NVDLA_SDP_RDMA.rdl
constexpr RegisterText sdp_rdma_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"D_OP_ENABLE", 0x08, {rw("OP_EN", 0, 1)}},
    {"D_DATA_CUBE_WIDTH", 0x0c, {rw("WIDTH", 0, 13)}},
    {"D_DATA_CUBE_HEIGHT", 0x10, {rw("HEIGHT", 0, 13)}},
    {"D_DATA_CUBE_CHANNEL", 0x14, {rw("CHANNEL", 0, 13)}},
    {"D_SRC_BASE_ADDR_LOW", 0x18, {rw("SRC_BASE_ADDR_LOW", 0, 32)}},
    {"D_SRC_BASE_ADDR_HIGH", 0x1c, {rw("SRC_BASE_ADDR_HIGH", 0, 32)}},
    {"D_SRC_LINE_STRIDE", 0x20, {rw("SRC_LINE_STRIDE", 0, 32)}},
    {"D_SRC_SURFACE_STRIDE", 0x24, {rw("SRC_SURFACE_STRIDE", 0, 32)}},
    {"D_BRDMA_CFG",
     0x28,
     {rw("BRDMA_DISABLE", 0, 1, 1), rw("BRDMA_DATA_USE", 1, 2), rw("BRDMA_DATA_SIZE", 3, 1),
      rw("BRDMA_DATA_MODE", 4, 1), rw("BRDMA_RAM_TYPE", 5, 1)}},
    {"D_BS_BASE_ADDR_LOW", 0x2c, {rw("BS_BASE_ADDR_LOW", 0, 32)}},
    {"D_BS_BASE_ADDR_HIGH", 0x30, {rw("BS_BASE_ADDR_HIGH", 0, 32)}},
    {"D_BS_LINE_STRIDE", 0x34, {rw("BS_LINE_STRIDE", 0, 32)}},
    {"D_BS_SURFACE_STRIDE", 0x38, {rw("BS_SURFACE_STRIDE", 0, 32)}},
    {"D_BS_BATCH_STRIDE", 0x3c, {rw("BS_BATCH_STRIDE", 0, 32)}},
    {"D_NRDMA_CFG",
     0x40,
     {rw("NRDMA_DISABLE", 0, 1, 1), rw("NRDMA_DATA_USE", 1, 2), rw("NRDMA_DATA_SIZE", 3, 1),
      rw("NRDMA_DATA_MODE", 4, 1), rw("NRDMA_RAM_TYPE", 5, 1)}},
    {"D_BN_BASE_ADDR_LOW", 0x44, {rw("BN_BASE_ADDR_LOW", 0, 32)}},
    {"D_BN_BASE_ADDR_HIGH", 0x48, {rw("BN_BASE_ADDR_HIGH", 0, 32)}},
    {"D_BN_LINE_STRIDE", 0x4c, {rw("BN_LINE_STRIDE", 0, 32)}},
    {"D_BN_SURFACE_STRIDE", 0x50, {rw("BN_SURFACE_STRIDE", 0, 32)}},
    {"D_BN_BATCH_STRIDE", 0x54, {rw("BN_BATCH_STRIDE", 0, 32)}},
    {"D_ERDMA_CFG",
     0x58,
     {rw("ERDMA_DISABLE", 0, 1, 1), rw("ERDMA_DATA_USE", 1, 2), rw("ERDMA_DATA_SIZE", 3, 1),
      rw("ERDMA_DATA_MODE", 4, 1), rw("ERDMA_RAM_TYPE", 5, 1)}},
    {"D_EW_BASE_ADDR_LOW", 0x5c, {rw("EW_BASE_ADDR_LOW", 0, 32)}},
    {"D_EW_BASE_ADDR_HIGH", 0x60, {rw("EW_BASE_ADDR_HIGH", 0, 32)}},
    {"D_EW_LINE_STRIDE", 0x64, {rw("EW_LINE_STRIDE", 0, 32)}},
    {"D_EW_SURFACE_STRIDE", 0x68, {rw("EW_SURFACE_STRIDE", 0, 32)}},
    {"D_EW_BATCH_STRIDE", 0x6c, {rw("EW_BATCH_STRIDE", 0, 32)}},
    {"D_FEATURE_MODE_CFG",
     0x70,
     {rw("FLYING_MODE", 0, 1), rw("WINOGRAD", 1, 1), rw("IN_PRECISION", 2, 2, 1),
      rw("PROC_PRECISION", 4, 2, 1), rw("OUT_PRECISION", 6, 2), rw("BATCH_NUMBER", 8, 5)}},
    {"D_SRC_DMA_CFG", 0x74, {rw("SRC_RAM_TYPE", 0, 1)}},
    {"D_STATUS_NAN_INPUT_NUM", 0x78, {ro("STATUS_NAN_INPUT_NUM", 0, 32)}},
    {"D_STATUS_INF_INPUT_NUM", 0x7c, {ro("STATUS_INF_INPUT_NUM", 0, 32)}},
    {"D_PERF_ENABLE", 0x80, {rw("PERF_DMA_EN", 0, 1), rw("PERF_NAN_INF_COUNT_EN", 1, 1)}},
    {"D_PERF_MRDMA_READ_STALL", 0x84, {ro("MRDMA_STALL", 0, 32)}},
    {"D_PERF_BRDMA_READ_STALL", 0x88, {ro("BRDMA_STALL", 0, 32)}},
    {"D_PERF_NRDMA_READ_STALL", 0x8c, {ro("NRDMA_STALL", 0, 32)}},
    {"D_PERF_ERDMA_READ_STALL", 0x90, {ro("ERDMA_STALL", 0, 32)}},
};
constexpr auto sdp_rdma_rows = to_rows(sdp_rdma_text);

constexpr FieldName input_field{"D_FEATURE_MODE_CFG", "IN_PRECISION"};
constexpr FieldName rdma_processing_field{"D_FEATURE_MODE_CFG", "PROC_PRECISION"};
constexpr FieldName sdp_processing_field{"D_DATA_FORMAT", "PROC_PRECISION"};

}  // namespace

constinit const RegisterBlock sdp_rdma_block{"NVDLA_SDP_RDMA", 0x8000, sdp_rdma_rows};

namespace sdp {

PrecisionCell conversion(Precision input, Precision output) {
    return precision_cell(ConvertingUnit::Sdp, feature_input(input), output);
}

FeatureCube decode_cube(RegisterDecoder& registers, std::string_view stem, const Shape& shape,
                        Bytes atom, Bytes element) {
    if (shape.width > 1 || shape.height > 1) {
        return npuscope::decode_cube(registers, stem, shape, atom, element);
    }
    FeatureCube cube{{}, atom, atom, shape, atom, element};
    registers.start(stem, DataKind::Feature, atom, cube.base);
    cube.shape.channels = cube.surfaces() * cube.channels_per_atom();
    return cube;
}

void encode_cube(RegisterEncoder& registers, std::string_view stem, const FeatureCube& cube) {
    registers.start(stem, DataKind::Feature, cube.atom, cube.base);
    registers.strides(stem, DataKind::Feature, cube.atom, cube.line_stride, cube.surface_stride);
}

namespace {

/// The read DMA has its own sizes and modes.
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
    if (processing != job.stages.processing) {
        rdma.refuse(
            rdma_processing_field,
            fmt::format("{} has {}", spelled(sdp.unit(), sdp_processing_field.register_name),
                        static_cast<unsigned>(job.stages.processing)),
            "program the same value in both units");
    }
}

/// int16 becomes int8 two surfaces at a time; every other source has the processing precision.
void decode_source(RegisterDecoder& rdma, const DatapathConfig& datapath, SdpJob& job) {
    Precision input = Precision::Int8;
    rdma.precision(input_field, datapath, input);
    const Precision processing = job.stages.processing;
    rdma.refuse_unless(
        input == processing || (input == Precision::Int16 && processing == Precision::Int8),
        input_field, "the SDP stages process a different precision",
        "program the same PROC_PRECISION; int16 may be processed as int8");
    rdma.require_valid(conversion(input, job.stages.output), input_field);
    job.source = sdp::decode_cube(rdma, "SRC", job.whole_atoms(datapath), datapath.memory_atom,
                                  Bytes(bytes_of(input)));
    rdma.inverse_flag("D_SRC_DMA_CFG", "SRC_RAM_TYPE", job.source_in_sram);
    rdma.flag("D_PERF_ENABLE", "PERF_NAN_INF_COUNT_EN", job.stages.count_input_specials);
    job.stages.count_input_specials &= input == Precision::Fp16;
}

/// What a stage requires of its operand DMA.
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

    std::string register_name() const { return name_of({"D_", letter, "RDMA_CFG"}); }
    std::string field(std::string_view rest) const { return name_of({letter, "RDMA_", rest}); }
};

constexpr PerStage<OperandNames> operand_names{{{"B", "BS", DataKind::Bias},
                                                {"N", "BN", DataKind::BatchNorm},
                                                {"E", "EW", DataKind::ElementWise}}};

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

/// Strides matter per element only; a cube of one pixel is read in one go without them.
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
    rdma.require_surface(name_of({"D_", names.stage, "_BASE_ADDR_LOW"}),
                         {std::uint64_t{surface.surfaces()} * surface.shape.height,
                          surface.atom() * surface.shape.width});
}

/// What is fetched must be what the stage consumes: otherwise the unit waits for ever.
/// source: NVDLA format page, bias, PReLU and batch normalisation data: fp16 has two bytes
void check_need(RegisterDecoder& rdma, const OperandNames& names, const OperandNeed& need,
                const SdpOperandFetch& fetch, Precision processing) {
    const std::string name = names.register_name();
    const std::string disable = names.field("DISABLE");
    const std::string use = names.field("DATA_USE");
    if (rdma.values().field(name, disable) != 0) {
        rdma.refuse({name, disable}, fmt::format("{} selects an operand from memory", names.stage),
                    "write 0, or take the operand from a register");
    }
    if (fetch.alu != need.alu || fetch.mul != need.mul) {
        rdma.refuse({name, use},
                    fmt::format("{} takes {} from memory", names.stage,
                                need.alu && need.mul ? "both operands"
                                : need.alu           ? "its ALU operand"
                                                     : "its multiplier's operand"),
                    "0 multiplier, 1 ALU, 2 both");
    }
    rdma.refuse_unless(processing != Precision::Fp16 || fetch.surface.component == Bytes(2),
                       {name, names.field("DATA_SIZE")}, "operands of fp16 have two bytes",
                       "write 1 (two bytes)");
}

std::optional<SdpOperandFetch> decode_operand(RegisterDecoder& rdma, const OperandNames& names,
                                              const OperandNeed& need, const SdpJob& job,
                                              const DatapathConfig& datapath) {
    if (!need.any()) {
        return std::nullopt;
    }
    SdpOperandFetch fetch;
    describe_fetch(rdma, names, fetch);
    check_need(rdma, names, need, fetch, job.stages.processing);
    fetch.surface.shape = job.whole_atoms(datapath);
    if (fetch.surface.spread == OperandSpread::PerChannel) {  // used by the pixels of all batches
        fetch.surface.shape.height *= job.batches;
    }
    fetch.surface.elements_per_atom = datapath.atom_channels(job.stages.processing);
    fetch.surface.components = need.alu && need.mul ? 2 : 1;
    place_operand(rdma, names, datapath.memory_atom, fetch.surface);
    return fetch;
}

void encode_operand(RegisterEncoder& registers, const OperandNames& names,
                    const std::optional<SdpOperandFetch>& fetch) {
    registers.flag(names.register_name(), names.field("DISABLE"), !fetch);
    if (!fetch) {
        return;
    }
    const OperandSurface& surface = fetch->surface;
    describe_fetch(registers, names, *fetch);
    registers.start(names.stage, names.kind, Bytes(1), surface.base);
    registers.strides(names.stage, names.kind, Bytes(1), surface.line_stride,
                      surface.surface_stride);
}

/// Precision of the source in memory; the processing precision if there is none.
Precision input_precision(const SdpJob& job) {
    const Precision processing = job.stages.processing;
    if (!job.source || job.source->element == Bytes(bytes_of(processing))) {
        return processing;
    }
    return job.source->element == Bytes(1) ? Precision::Int8 : Precision::Int16;
}

}  // namespace

void decode_rdma(RegisterDecoder& rdma, const RegisterDecoder& sdp, bool flying,
                 const DatapathConfig& datapath, SdpJob& job) {
    PerStage<OperandNeed> needs;
    for_each_stage(job.stages,
                   [&](const auto& stage, std::size_t i) { needs[i] = need_of(stage); });
    if (flying && std::ranges::none_of(needs, &OperandNeed::any)) {
        return;
    }
    check_rdma(rdma, sdp, job, datapath);
    if (!flying) {
        decode_source(rdma, datapath, job);
    }
    for (std::size_t i = 0; i < needs.size(); ++i) {
        job.operands[i] = decode_operand(rdma, operand_names[i], needs[i], job, datapath);
    }
}

RegisterValues encode_rdma(const SdpJob& job) {
    RegisterEncoder registers(sdp_rdma_block);
    describe_shape(registers, job.shape);
    registers.flag(flying_field.register_name, flying_field.field_name, job.flying());
    registers.flag(winograd_field.register_name, winograd_field.field_name, job.winograd);
    registers.size(batches_field.register_name, batches_field.field_name, job.batches);
    registers.field(input_field.register_name, input_field.field_name, input_precision(job));
    registers.field(rdma_processing_field.register_name, rdma_processing_field.field_name,
                    job.stages.processing);
    if (job.source) {
        encode_cube(registers, "SRC", *job.source);
    }
    registers.inverse_flag("D_SRC_DMA_CFG", "SRC_RAM_TYPE", job.source_in_sram);
    registers.flag("D_PERF_ENABLE", "PERF_DMA_EN", job.count_stalls);
    registers.flag("D_PERF_ENABLE", "PERF_NAN_INF_COUNT_EN", job.stages.count_input_specials);
    for (std::size_t i = 0; i < job.operands.size(); ++i) {
        encode_operand(registers, operand_names[i], job.operands[i]);
    }
    return registers.values();
}

}  // namespace sdp
}  // namespace npuscope
