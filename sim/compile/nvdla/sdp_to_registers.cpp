// SPDX-License-Identifier: Apache-2.0
#include "models/base/check.h"
#include "sim/compile/nvdla/to_registers.h"

namespace npuscope {
namespace {

std::uint32_t algorithm_code(AluAlgorithm algorithm) {
    switch (algorithm) {
        case AluAlgorithm::Max:
            return 0;
        case AluAlgorithm::Min:
            return 1;
        case AluAlgorithm::Sum:
            return 2;
        case AluAlgorithm::Equal:
            return 3;
    }
    NPU_CHECK(false, "no such ALU algorithm");
    return 0;
}

/// Registers D_DP_<stage>_<part>, fields <stage>_<name>.
class StageWriter {
 public:
    StageWriter(RegisterImage& image, std::string stage)
        : image_(image), stage_(std::move(stage)) {}

    StageWriter& field(const std::string& part, const std::string& name, std::uint64_t value) {
        image_.field("D_DP_" + stage_ + "_" + part, stage_ + "_" + name, value);
        return *this;
    }
    StageWriter& signed_field(const std::string& part, const std::string& name,
                              std::int64_t value) {
        image_.signed_field("D_DP_" + stage_ + "_" + part, stage_ + "_" + name, value);
        return *this;
    }

 private:
    RegisterImage& image_;
    std::string stage_;
};

void write_x_stage(RegisterImage& image, const std::string& name, const SdpXStage& stage) {
    StageWriter(image, name)
        .field("CFG", "BYPASS", stage.bypass ? 1 : 0)
        .field("CFG", "ALU_BYPASS", stage.alu.bypass ? 1 : 0)
        .field("CFG", "ALU_ALGO", stage.alu.bypass ? 0 : algorithm_code(stage.alu.algorithm))
        .field("CFG", "MUL_BYPASS", stage.mul.bypass ? 1 : 0)
        .field("CFG", "MUL_PRELU", stage.mul.prelu ? 1 : 0)
        .field("CFG", "RELU_BYPASS", stage.relu ? 0 : 1)
        .field("ALU_CFG", "ALU_SRC", stage.alu.source == OperandSource::Memory ? 1 : 0)
        .field("ALU_CFG", "ALU_SHIFT_VALUE", stage.alu.shift_left)
        .signed_field("ALU_SRC_VALUE", "ALU_OPERAND", stage.alu.operand)
        .field("MUL_CFG", "MUL_SRC", stage.mul.source == OperandSource::Memory ? 1 : 0)
        .field("MUL_CFG", "MUL_SHIFT_VALUE", stage.shift_right)
        .signed_field("MUL_SRC_VALUE", "MUL_OPERAND", stage.mul.operand);
}

void write_surface(RegisterImage& image, const std::string& stem, const FeatureCube& cube) {
    image.address(stem + "_BASE_ADDR", cube.base)
        .only(stem + "_LINE_STRIDE", cube.line_stride.value)
        .only(stem + "_SURFACE_STRIDE", cube.surface_stride.value);
}

void write_sizes(RegisterImage& image, const Shape& shape) {
    image.size("D_DATA_CUBE_WIDTH", "WIDTH", shape.width)
        .size("D_DATA_CUBE_HEIGHT", "HEIGHT", shape.height)
        .size("D_DATA_CUBE_CHANNEL", "CHANNEL", shape.channels);
}

RegisterImage stages_and_destination(const SdpJob& job) {
    NPU_CHECK(job.stages.ew.bypass, "the element-wise stage is not written");
    RegisterImage image("NVDLA_SDP");
    write_sizes(image, job.shape);
    if (job.destination) {
        write_surface(image, "DST", *job.destination);
    }
    write_x_stage(image, "BS", job.stages.bs);
    write_x_stage(image, "BN", job.stages.bn);
    image.flag("D_FEATURE_MODE_CFG", "FLYING_MODE", job.flying())
        .flag("D_FEATURE_MODE_CFG", "OUTPUT_DST", job.to_pdp)
        .flag("D_FEATURE_MODE_CFG", "WINOGRAD", job.winograd)
        .flag("D_DST_DMA_CFG", "DST_RAM_TYPE", !job.destination_in_sram)
        .whole("D_DATA_FORMAT", 0)
        .signed_field("D_CVT_OFFSET", "CVT_OFFSET", job.stages.convertor.offset)
        .signed_field("D_CVT_SCALE", "CVT_SCALE", job.stages.convertor.scale)
        .field("D_CVT_SHIFT", "CVT_SHIFT", job.stages.convertor.shift)
        .flag("D_PERF_ENABLE", "PERF_DMA_EN", job.count_stalls)
        .flag("D_PERF_ENABLE", "PERF_LUT_EN", job.count_lookups)
        .flag("D_PERF_ENABLE", "PERF_SAT_EN", job.stages.count_saturated);
    return image;
}

/// `letter` B, N or E names the DMA, `stem` BS, BN or EW its surface.
void write_operand(RegisterImage& image, const std::string& letter, const std::string& stem,
                   const std::optional<SdpOperandFetch>& fetch) {
    const std::string name = "D_" + letter + "RDMA_CFG";
    const std::string field = letter + "RDMA_";
    image.flag(name, field + "DISABLE", !fetch);
    if (!fetch) {
        return;
    }
    const OperandSurface& surface = fetch->surface;
    const std::uint32_t use = fetch->alu && fetch->mul ? 2 : (fetch->alu ? 1 : 0);
    image.field(name, field + "DATA_USE", use)
        .size(name, field + "DATA_SIZE", surface.component.value)
        .flag(name, field + "DATA_MODE", surface.spread == OperandSpread::PerElement)
        .flag(name, field + "RAM_TYPE", !fetch->in_sram)
        .address(stem + "_BASE_ADDR", surface.base)
        .only(stem + "_LINE_STRIDE", surface.line_stride.value)
        .only(stem + "_SURFACE_STRIDE", surface.surface_stride.value);
}

RegisterImage rdma_registers(const SdpJob& job) {
    RegisterImage image("NVDLA_SDP_RDMA");
    write_sizes(image, job.shape);
    if (job.source) {
        write_surface(image, "SRC", *job.source);
    }
    write_operand(image, "B", "BS", job.bs_operand);
    write_operand(image, "N", "BN", job.bn_operand);
    write_operand(image, "E", "EW", job.ew_operand);
    image.whole("D_FEATURE_MODE_CFG", 0)
        .flag("D_FEATURE_MODE_CFG", "FLYING_MODE", job.flying())
        .flag("D_FEATURE_MODE_CFG", "WINOGRAD", job.winograd)
        .flag("D_SRC_DMA_CFG", "SRC_RAM_TYPE", !job.source_in_sram)
        .flag("D_PERF_ENABLE", "PERF_DMA_EN", job.count_stalls);
    return image;
}

}  // namespace

std::vector<RegisterImage> sdp_registers(const SdpJob& job) {
    std::vector<RegisterImage> images;
    if (job.reads_memory()) {
        images.push_back(rdma_registers(job));
    }
    images.push_back(stages_and_destination(job));
    return images;
}

}  // namespace npuscope
