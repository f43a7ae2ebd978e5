// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_job.h"

#include "models/data/register_reading.h"
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

    std::optional<SdpOperandFetch> read(const OperandNeed& need, const Shape& shape,
                                        const DatapathConfig& datapath) const {
        if (!need.any()) {
            return std::nullopt;
        }
        check_enabled();
        SdpOperandFetch fetch = read_use(need);
        OperandSurface& surface = fetch.surface;
        surface.shape = shape;
        surface.elements_per_atom = static_cast<std::uint32_t>(datapath.memory_atom.value);
        surface.components = fetch.alu && fetch.mul ? 2 : 1;
        surface.component = Bytes(field("DATA_SIZE") + 1U);
        surface.spread =
            field("DATA_MODE") == 0 ? OperandSpread::PerChannel : OperandSpread::PerElement;
        place(surface, datapath.memory_atom);
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
    }

    const RegisterValues& rdma_;
    const OperandRegisters& names_;
    std::string register_;
};

constexpr OperandRegisters kBsOperand{"B", "BS", DataKind::Bias};
constexpr OperandRegisters kBnOperand{"N", "BN", DataKind::BatchNorm};
constexpr OperandRegisters kEwOperand{"E", "EW", DataKind::ElementWise};

/// A cube of one pixel is moved in one go: its surfaces lie behind each other.
/// source: NV_NVDLA_SDP_MRDMA_ig.v and NV_NVDLA_SDP_WDMA_cmd.v, cfg_mode_1x1_pack
FeatureCube read_sdp_cube(const RegisterValues& values, std::string_view stem, const Shape& shape,
                          Bytes memory_atom) {
    if (shape.width > 1 || shape.height > 1) {
        return read_cube(values, stem, shape, memory_atom);
    }
    const Address base =
        read_base(values, stem, {DataKind::Feature, AlignedPart::Start, memory_atom});
    return {base, memory_atom, memory_atom, shape, memory_atom, Bytes(1)};
}

void check_int8(const RegisterValues& values, const FieldName& name) {
    if (values.field(name.register_name, name.field_name) != 0) {
        refuse(values, name, "this NPU's SDP works on int8 only", "program 0 (int8)");
    }
}

void check_off(const RegisterValues& values, std::string_view field, const char* what) {
    const FieldName name{"D_FEATURE_MODE_CFG", field};
    if (values.field(name.register_name, name.field_name) != 0) {
        refuse(values, name, fmt::format("this NPU has no {}", what), "program 0");
    }
}

void check_modes(const RegisterValues& sdp) {
    check_int8(sdp, {"D_DATA_FORMAT", "PROC_PRECISION"});
    check_int8(sdp, {"D_DATA_FORMAT", "OUT_PRECISION"});
    check_off(sdp, "WINOGRAD", "Winograd mode");
    check_off(sdp, "BATCH_NUMBER", "multi-batch mode");
}

/// The read DMA has sizes and modes of its own.
void check_rdma(const RegisterValues& sdp, const RegisterValues& rdma) {
    for (const FieldName& name :
         {FieldName{"D_DATA_CUBE_WIDTH", "WIDTH"}, FieldName{"D_DATA_CUBE_HEIGHT", "HEIGHT"},
          FieldName{"D_DATA_CUBE_CHANNEL", "CHANNEL"}, kFlying}) {
        require_same(rdma, sdp, name);
    }
    check_int8(rdma, {"D_FEATURE_MODE_CFG", "PROC_PRECISION"});
    check_off(rdma, "WINOGRAD", "Winograd mode");
    check_off(rdma, "BATCH_NUMBER", "multi-batch mode");
}

void read_destination(const RegisterValues& sdp, const Shape& shape, Bytes memory_atom,
                      SdpJob& job) {
    job.to_pdp = sdp.field("D_FEATURE_MODE_CFG", "OUTPUT_DST") != 0;
    if (job.to_pdp && job.stages.compares()) {
        refuse(sdp, {"D_FEATURE_MODE_CFG", "OUTPUT_DST"},
               "the element-wise ALU compares, there is no output for the PDP",
               "program 0, or another D_DP_EW_CFG.EW_ALU_ALGO");
    }
    if (!job.to_pdp && !job.stages.compares()) {
        job.destination = read_sdp_cube(sdp, "DST", shape, memory_atom);
        job.destination_in_sram = sdp.field("D_DST_DMA_CFG", "DST_RAM_TYPE") == 0;
    }
}

void read_source(const RegisterValues& rdma, const Shape& shape, Bytes memory_atom, SdpJob& job) {
    check_int8(rdma, {"D_FEATURE_MODE_CFG", "IN_PRECISION"});
    job.source = read_sdp_cube(rdma, "SRC", shape, memory_atom);
    job.source_in_sram = rdma.field("D_SRC_DMA_CFG", "SRC_RAM_TYPE") == 0;
}

}  // namespace

Shape SdpJob::whole_atoms(const DatapathConfig& datapath) const {
    Shape whole = shape;
    whole.channels =
        static_cast<std::uint32_t>(round_up(shape.channels, datapath.memory_atom.value));
    return whole;
}

SdpJob SdpJob::from_registers(const RegisterValues& sdp, const RegisterValues& rdma,
                              const SdpConfig& config, const DatapathConfig& datapath) {
    check_modes(sdp);
    SdpJob job;
    job.shape = {sdp.size("D_DATA_CUBE_CHANNEL", "CHANNEL"),
                 sdp.size("D_DATA_CUBE_HEIGHT", "HEIGHT"), sdp.size("D_DATA_CUBE_WIDTH", "WIDTH")};
    job.stages = read_sdp_stages(sdp, config);
    job.count_stalls = sdp.field("D_PERF_ENABLE", "PERF_DMA_EN") != 0;
    job.count_lookups = sdp.field("D_PERF_ENABLE", "PERF_LUT_EN") != 0;
    const Shape whole = job.whole_atoms(datapath);
    read_destination(sdp, whole, datapath.memory_atom, job);
    const bool from_memory = sdp.field(kFlying.register_name, kFlying.field_name) == 0;
    const OperandNeed bs = need_of(job.stages.bs);
    const OperandNeed bn = need_of(job.stages.bn);
    const OperandNeed ew = need_of(job.stages.ew);
    if (from_memory || bs.any() || bn.any() || ew.any()) {
        check_rdma(sdp, rdma);
    }
    if (from_memory) {
        read_source(rdma, whole, datapath.memory_atom, job);
    }
    job.bs_operand = OperandDecoder(rdma, kBsOperand).read(bs, whole, datapath);
    job.bn_operand = OperandDecoder(rdma, kBnOperand).read(bn, whole, datapath);
    job.ew_operand = OperandDecoder(rdma, kEwOperand).read(ew, whole, datapath);
    return job;
}

}  // namespace npuscope
