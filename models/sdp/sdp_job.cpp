// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_job.h"

#include "models/layout/precision_reading.h"
#include "models/sdp/sdp_conversion.h"
#include "models/sdp/sdp_stages_reader.h"

namespace npuscope {
namespace {

constexpr FieldName kFlying{"D_FEATURE_MODE_CFG", "FLYING_MODE"};

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
struct OperandRegisters {
    const char* letter;  ///< B, N, E
    const char* stage;   ///< BS, BN, EW
    DataKind kind;
};

class OperandDecoder {
 public:
    OperandDecoder(const RegisterValues& rdma, const OperandRegisters& names)
        : rdma_(rdma), names_(names), register_(fmt::format("D_{}RDMA_CFG", names.letter)) {}

    /// `atom_channels`: of the processing precision.
    std::optional<SdpOperandFetch> read(const OperandNeed& need, const Shape& shape,
                                        std::uint32_t atom_channels, Bytes memory_atom) const {
        if (!need.any()) {
            return std::nullopt;
        }
        check_enabled();
        SdpOperandFetch fetch = read_use(need);
        OperandSurface& surface = fetch.surface;
        surface.shape = shape;
        surface.elements_per_atom = atom_channels;
        surface.components = fetch.alu && fetch.mul ? 2 : 1;
        surface.component = Bytes(field("DATA_SIZE") + 1U);
        surface.spread =
            field("DATA_MODE") == 0 ? OperandSpread::PerChannel : OperandSpread::PerElement;
        place(surface, memory_atom);
        fetch.in_sram = field("RAM_TYPE") == 0;
        return fetch;
    }

 private:
    std::string field_name(std::string_view rest) const {
        return fmt::format("{}RDMA_{}", names_.letter, rest);
    }
    std::uint32_t field(std::string_view rest) const {
        return rdma_.field(register_, field_name(rest));
    }
    [[noreturn]] void refuse_field(std::string_view rest, const std::string& why,
                                   const std::string& remedy) const {
        const std::string name = field_name(rest);
        refuse(rdma_, {register_, name}, why, remedy);
    }

    void check_enabled() const {
        if (field("DISABLE") != 0) {
            refuse_field("DISABLE", fmt::format("{} takes an operand from memory", names_.stage),
                         "program 0, or take the operand from a register");
        }
    }

    /// What is fetched must be what the stage consumes: the unit waits for ever otherwise.
    SdpOperandFetch read_use(const OperandNeed& need) const {
        SdpOperandFetch fetch;
        const std::uint32_t use = field("DATA_USE");
        fetch.mul = use == 0 || use == 2;
        fetch.alu = use == 1 || use == 2;
        if (fetch.alu != need.alu || fetch.mul != need.mul) {
            refuse_field("DATA_USE",
                         fmt::format("{} takes {} from memory", names_.stage,
                                     need.alu && need.mul ? "both operands"
                                     : need.alu           ? "its ALU operand"
                                                          : "its multiplier's operand"),
                         "0 multiplier, 1 ALU, 2 both");
        }
        return fetch;
    }

    /// Strides count per element only; a cube of one pixel is read in one go without them.
    void place(OperandSurface& surface, Bytes memory_atom) const {
        surface.base =
            read_base(rdma_, names_.stage, {names_.kind, AlignedPart::Start, memory_atom});
        if (surface.spread == OperandSpread::PerChannel) {
            return;
        }
        if (surface.shape.height == 1 && surface.shape.width == 1) {
            surface.line_stride = surface.atom();
            surface.surface_stride = surface.atom();
            return;
        }
        const SurfacePlace place =
            read_surface(rdma_, names_.stage, DataKind::ElementWise, memory_atom);
        surface.line_stride = place.line_stride;
        surface.surface_stride = place.surface_stride;
        require_surface(rdma_, fmt::format("D_{}_BASE_ADDR_LOW", names_.stage),
                        {std::uint64_t{surface.surfaces()} * surface.shape.height,
                         surface.atom() * surface.shape.width});
    }

    const RegisterValues& rdma_;
    const OperandRegisters& names_;
    std::string register_;
};

constexpr OperandRegisters kBsOperand{"B", "BS", DataKind::Bias};
constexpr OperandRegisters kBnOperand{"N", "BN", DataKind::BatchNorm};
constexpr OperandRegisters kEwOperand{"E", "EW", DataKind::ElementWise};

/// Sizes in memory of what a cube is made of.
struct CubeElements {
    Bytes atom;
    Bytes element;
};

/// A cube of one pixel is moved in one go: its surfaces lie behind each other.
/// source: NV_NVDLA_SDP_MRDMA_ig.v and NV_NVDLA_SDP_WDMA_cmd.v, cfg_mode_1x1_pack
FeatureCube read_sdp_cube(const RegisterValues& values, std::string_view stem, const Shape& shape,
                          const CubeElements& elements) {
    if (shape.width > 1 || shape.height > 1) {
        return read_cube(values, stem, shape, elements.atom, elements.element);
    }
    const Address base =
        read_base(values, stem, {DataKind::Feature, AlignedPart::Start, elements.atom});
    FeatureCube cube{base, elements.atom, elements.atom, shape, elements.atom, elements.element};
    cube.shape.channels = cube.surfaces() * cube.channels_per_atom();
    return cube;
}

constexpr FieldName kProcessing{"D_DATA_FORMAT", "PROC_PRECISION"};
constexpr FieldName kOutput{"D_DATA_FORMAT", "OUT_PRECISION"};
constexpr FieldName kBatches{"D_FEATURE_MODE_CFG", "BATCH_NUMBER"};

void read_precisions(const RegisterValues& sdp, const DatapathConfig& datapath, SdpStages& stages) {
    stages.processing = read_precision(sdp, kProcessing, datapath, "SDP");
    stages.output = read_precision(sdp, kOutput, datapath, "SDP");
    require_output_width(sdp, stages);
    const bool fp16 = stages.processing == Precision::Fp16;
    stages.nan_to_zero = fp16 && sdp.field("D_FEATURE_MODE_CFG", "NAN_TO_ZERO") != 0;
    stages.coarse_saturation = datapath.coarse_saturation_count;
    stages.count_nan_outputs = stages.output == Precision::Fp16 &&
                               sdp.field("D_PERF_ENABLE", "PERF_NAN_INF_COUNT_EN") != 0;
}

/// Winograd and several cubes are modes of the accumulators' output.
void read_flight(const RegisterValues& sdp, const SdpConfig& modes, SdpJob& job) {
    const bool flying = sdp.field(kFlying.register_name, kFlying.field_name) != 0;
    job.winograd = sdp.field("D_FEATURE_MODE_CFG", "WINOGRAD") != 0;
    job.batches = sdp.size(kBatches.register_name, kBatches.field_name);
    if (job.winograd && (!modes.winograd || !flying)) {
        refuse(
            sdp, {"D_FEATURE_MODE_CFG", "WINOGRAD"},
            modes.winograd ? "values from memory have no tiles" : "this NPU has no Winograd mode",
            "program 0");
    }
    if (job.batches > 1 && (job.batches > modes.max_batch || !flying)) {
        refuse(sdp, kBatches,
               modes.max_batch == 1 ? "this NPU has no multi-batch mode"
               : flying ? fmt::format("this NPU takes {} cubes at most", modes.max_batch)
                        : "values from memory are one cube",
               "program 0");
    }
}

/// The read DMA has sizes and modes of its own.
void check_rdma(const RegisterValues& sdp, const RegisterValues& rdma,
                const DatapathConfig& datapath) {
    for (const FieldName& name :
         {FieldName{"D_DATA_CUBE_WIDTH", "WIDTH"}, FieldName{"D_DATA_CUBE_HEIGHT", "HEIGHT"},
          FieldName{"D_DATA_CUBE_CHANNEL", "CHANNEL"}, kFlying,
          FieldName{"D_FEATURE_MODE_CFG", "WINOGRAD"}, kBatches}) {
        require_same(rdma, sdp, name);
    }
    const FieldName mine{"D_FEATURE_MODE_CFG", "PROC_PRECISION"};
    const Precision processing = read_precision(rdma, mine, datapath, "SDP");
    if (processing != read_precision(sdp, kProcessing, datapath, "SDP")) {
        refuse(rdma, mine,
               fmt::format("{} says {}", spelled(sdp.block().name, kProcessing.register_name),
                           sdp.field(kProcessing.register_name, kProcessing.field_name)),
               "program the same value in both units");
    }
}

void read_destination(const RegisterValues& sdp, Bytes memory_atom, SdpJob& job) {
    job.to_pdp = sdp.field("D_FEATURE_MODE_CFG", "OUTPUT_DST") != 0;
    if (job.to_pdp && job.stages.compares()) {
        refuse(sdp, {"D_FEATURE_MODE_CFG", "OUTPUT_DST"},
               "the element-wise ALU compares, there is no output for the PDP",
               "program 0, or another D_DP_EW_CFG.EW_ALU_ALGO");
    }
    if (job.to_pdp && job.batches > 1) {
        refuse(sdp, {"D_FEATURE_MODE_CFG", "OUTPUT_DST"}, "the PDP takes one cube",
               "program 0, or BATCH_NUMBER 0");
    }
    if (job.to_pdp || job.stages.compares()) {
        return;
    }
    const Bytes element(bytes_of(job.stages.output));
    job.destination = read_sdp_cube(sdp, "DST", job.shape, {memory_atom, element});
    job.destination_in_sram = sdp.field("D_DST_DMA_CFG", "DST_RAM_TYPE") == 0;
    if (job.batches > 1) {
        job.batch_stride = read_stride(
            sdp, "DST_BATCH_STRIDE", {DataKind::Feature, AlignedPart::SurfaceStride, memory_atom});
    }
}

/// int16 becomes int8 two surfaces at a time; every other source has the processing precision.
void read_source(const RegisterValues& rdma, const DatapathConfig& datapath, SdpJob& job) {
    const FieldName field{"D_FEATURE_MODE_CFG", "IN_PRECISION"};
    const Precision input = read_precision(rdma, field, datapath, "SDP");
    const Precision processing = job.stages.processing;
    if (input != processing && !(input == Precision::Int16 && processing == Precision::Int8)) {
        refuse(rdma, field, "the stages process another precision",
               "program PROC_PRECISION alike; int16 may be processed as int8");
    }
    require_table_30(rdma, input, job.stages);
    job.source = read_sdp_cube(rdma, "SRC", job.whole_atoms(datapath),
                               {datapath.memory_atom, Bytes(bytes_of(input))});
    job.source_in_sram = rdma.field("D_SRC_DMA_CFG", "SRC_RAM_TYPE") == 0;
    job.stages.count_input_specials =
        input == Precision::Fp16 && rdma.field("D_PERF_ENABLE", "PERF_NAN_INF_COUNT_EN") != 0;
}

}  // namespace

Shape SdpJob::whole_atoms(const DatapathConfig& datapath) const {
    Shape whole = shape;
    whole.channels = static_cast<std::uint32_t>(
        round_up(shape.channels, datapath.atom_channels(stages.processing)));
    return whole;
}

SdpJob SdpJob::from_registers(const RegisterValues& sdp, const RegisterValues& rdma,
                              const SdpConfig& config, const DatapathConfig& datapath) {
    SdpJob job;
    job.shape = {sdp.size("D_DATA_CUBE_CHANNEL", "CHANNEL"),
                 sdp.size("D_DATA_CUBE_HEIGHT", "HEIGHT"), sdp.size("D_DATA_CUBE_WIDTH", "WIDTH")};
    job.stages = read_sdp_stages(sdp, config);
    read_precisions(sdp, datapath, job.stages);
    read_flight(sdp, config, job);
    job.count_stalls = sdp.field("D_PERF_ENABLE", "PERF_DMA_EN") != 0;
    job.count_lookups = sdp.field("D_PERF_ENABLE", "PERF_LUT_EN") != 0;
    read_destination(sdp, datapath.memory_atom, job);
    const bool from_memory = sdp.field(kFlying.register_name, kFlying.field_name) == 0;
    const OperandNeed bs = need_of(job.stages.bs);
    const OperandNeed bn = need_of(job.stages.bn);
    const OperandNeed ew = need_of(job.stages.ew);
    if (from_memory || bs.any() || bn.any() || ew.any()) {
        check_rdma(sdp, rdma, datapath);
    }
    if (from_memory) {
        read_source(rdma, datapath, job);
    }
    const std::uint32_t lanes = datapath.atom_channels(job.stages.processing);
    const Shape whole = job.whole_atoms(datapath);
    const Bytes atom = datapath.memory_atom;
    job.bs_operand = OperandDecoder(rdma, kBsOperand).read(bs, whole, lanes, atom);
    job.bn_operand = OperandDecoder(rdma, kBnOperand).read(bn, whole, lanes, atom);
    job.ew_operand = OperandDecoder(rdma, kEwOperand).read(ew, whole, lanes, atom);
    return job;
}

}  // namespace npuscope
