// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_job.h"

#include "models/arith/lookup_registers.h"
#include "models/layout/precision_reading.h"

namespace npuscope {
namespace {

/// 38 bits in two registers: S_LUT_<stem>_LOW and _HIGH.
std::int64_t read_bound(const RegisterValues& cdp, const std::string& stem) {
    const std::string low = fmt::format("LUT_{}_LOW", stem);
    const std::string high = fmt::format("LUT_{}_HIGH", stem);
    const std::int64_t upper = cdp.signed_field("S_" + high, high);
    return upper * (std::int64_t{1} << 32U) + cdp.field("S_" + low, low);
}

Conversion read_conversion(const RegisterValues& cdp, std::string_view side) {
    const auto reg = [side](std::string_view part) { return fmt::format("D_{}_{}", side, part); };
    const auto field = [side](std::string_view part) { return fmt::format("{}_{}", side, part); };
    return {cdp.signed_field(reg("OFFSET"), field("OFFSET")),
            static_cast<std::int16_t>(cdp.signed_field(reg("SCALE"), field("SCALE"))),
            cdp.field(reg("SHIFTER"), field("SHIFTER"))};
}

/// The CDP has no sizes of its own: its read DMA counts the cube.
Shape read_shape(const RegisterValues& rdma) {
    return {rdma.size("D_DATA_CUBE_CHANNEL", "CHANNEL"), rdma.size("D_DATA_CUBE_HEIGHT", "HEIGHT"),
            rdma.size("D_DATA_CUBE_WIDTH", "WIDTH")};
}

}  // namespace

CdpJob CdpJob::from_registers(const RegisterValues& cdp, const RegisterValues& rdma,
                              const CdpConfig& config, const DatapathConfig& datapath) {
    if (!config.present) {
        throw ConfigError("this NPU has no CDP", "choose a preset with cdp.present = true");
    }
    constexpr FieldName kType{"D_DATA_FORMAT", "INPUT_DATA_TYPE"};
    constexpr FieldName kFetched{"D_DATA_FORMAT", "INPUT_DATA"};
    const Precision precision = read_precision(cdp, kType, datapath, "CDP");
    if (read_precision(rdma, kFetched, datapath, "CDP") != precision) {
        refuse(rdma, kFetched,
               fmt::format("{} says {}", spelled(cdp.block().name, kType.register_name),
                           cdp.field(kType.register_name, kType.field_name)),
               "program the same value in both units");
    }
    const Bytes element(bytes_of(precision));
    CdpJob job;
    job.shape = read_shape(rdma);
    job.source = read_cube(rdma, "SRC", job.shape, datapath.memory_atom, element);
    job.source_in_sram = rdma.field("D_SRC_DMA_CFG", "SRC_RAM_TYPE") == 0;
    job.destination = read_cube(cdp, "DST", job.shape, datapath.memory_atom, element);
    job.destination_in_sram = cdp.field("D_DST_DMA_CFG", "DST_RAM_TYPE") == 0;
    job.count_lookups = cdp.field("D_PERF_ENABLE", "LUT_EN") != 0;
    job.count_stalls = cdp.field("D_PERF_ENABLE", "DMA_EN") != 0;
    CdpNormalization& normalization = job.normalization;
    normalization.precision = precision;
    normalization.coarse_saturation = datapath.coarse_saturation_count;
    normalization.nan_to_zero =
        precision == Precision::Fp16 && cdp.field("D_NAN_FLUSH_TO_ZERO", "NAN_TO_ZERO") != 0;
    normalization.channels = job.shape.channels;
    normalization.local_size = 2 * cdp.field("D_LRN_CFG", "NORMALZ_LEN") + 3;
    normalization.square_sum_bypass = cdp.field("D_FUNC_BYPASS", "SQSUM_BYPASS") != 0;
    normalization.multiply_bypass = cdp.field("D_FUNC_BYPASS", "MUL_BYPASS") != 0;
    normalization.input = read_conversion(cdp, "DATIN");
    normalization.output = read_conversion(cdp, "DATOUT");
    normalization.lut = read_lookup_config(
        cdp, [&cdp](const std::string& bound) { return read_bound(cdp, bound); });
    return job;
}

}  // namespace npuscope
