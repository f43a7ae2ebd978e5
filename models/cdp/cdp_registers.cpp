// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_registers.h"

#include <fmt/format.h>

#include "models/arith/lookup_table.h"
#include "models/base/register_rows.h"
#include "models/layout/register_coder.h"

namespace npuscope {
namespace {

// Registers of NVDLA_CDP: the channel (LRN) processor.
// source: NVDLA register specification, nv_small, NVDLA_CDP.rdl
constexpr RegisterText cdp_text[] = {
    {"S_STATUS", 0x00, {ro("STATUS_0", 0, 2), ro("STATUS_1", 16, 2)}},
    {"S_POINTER", 0x04, {rw("PRODUCER", 0, 1), ro("CONSUMER", 16, 1)}},
    {"S_LUT_ACCESS_CFG",
     0x08,
     {rw("LUT_ADDR", 0, 10), rw("LUT_TABLE_ID", 16, 1), rw("LUT_ACCESS_TYPE", 17, 1)}},
    {"S_LUT_ACCESS_DATA", 0x0c, {rw("LUT_DATA", 0, 16)}},
    {"S_LUT_CFG",
     0x10,
     {rw("LUT_LE_FUNCTION", 0, 1), rw("LUT_UFLOW_PRIORITY", 4, 1), rw("LUT_OFLOW_PRIORITY", 5, 1),
      rw("LUT_HYBRID_PRIORITY", 6, 1)}},
    {"S_LUT_INFO",
     0x14,
     {rw("LUT_LE_INDEX_OFFSET", 0, 8), rw("LUT_LE_INDEX_SELECT", 8, 8),
      rw("LUT_LO_INDEX_SELECT", 16, 8)}},
    {"S_LUT_LE_START_LOW", 0x18, {rw("LUT_LE_START_LOW", 0, 32)}},
    {"S_LUT_LE_START_HIGH", 0x1c, {rw("LUT_LE_START_HIGH", 0, 6)}},
    {"S_LUT_LE_END_LOW", 0x20, {rw("LUT_LE_END_LOW", 0, 32)}},
    {"S_LUT_LE_END_HIGH", 0x24, {rw("LUT_LE_END_HIGH", 0, 6)}},
    {"S_LUT_LO_START_LOW", 0x28, {rw("LUT_LO_START_LOW", 0, 32)}},
    {"S_LUT_LO_START_HIGH", 0x2c, {rw("LUT_LO_START_HIGH", 0, 6)}},
    {"S_LUT_LO_END_LOW", 0x30, {rw("LUT_LO_END_LOW", 0, 32)}},
    {"S_LUT_LO_END_HIGH", 0x34, {rw("LUT_LO_END_HIGH", 0, 6)}},
    {"S_LUT_LE_SLOPE_SCALE",
     0x38,
     {rw("LUT_LE_SLOPE_UFLOW_SCALE", 0, 16), rw("LUT_LE_SLOPE_OFLOW_SCALE", 16, 16)}},
    {"S_LUT_LE_SLOPE_SHIFT",
     0x3c,
     {rw("LUT_LE_SLOPE_UFLOW_SHIFT", 0, 5), rw("LUT_LE_SLOPE_OFLOW_SHIFT", 5, 5)}},
    {"S_LUT_LO_SLOPE_SCALE",
     0x40,
     {rw("LUT_LO_SLOPE_UFLOW_SCALE", 0, 16), rw("LUT_LO_SLOPE_OFLOW_SCALE", 16, 16)}},
    {"S_LUT_LO_SLOPE_SHIFT",
     0x44,
     {rw("LUT_LO_SLOPE_UFLOW_SHIFT", 0, 5), rw("LUT_LO_SLOPE_OFLOW_SHIFT", 5, 5)}},
    {"D_OP_ENABLE", 0x48, {rw("OP_EN", 0, 1)}},
    {"D_FUNC_BYPASS", 0x4c, {rw("SQSUM_BYPASS", 0, 1), rw("MUL_BYPASS", 1, 1)}},
    {"D_DST_BASE_ADDR_LOW", 0x50, {rw("DST_BASE_ADDR_LOW", 0, 32)}},
    {"D_DST_BASE_ADDR_HIGH", 0x54, {rw("DST_BASE_ADDR_HIGH", 0, 32)}},
    {"D_DST_LINE_STRIDE", 0x58, {rw("DST_LINE_STRIDE", 0, 32)}},
    {"D_DST_SURFACE_STRIDE", 0x5c, {rw("DST_SURFACE_STRIDE", 0, 32)}},
    {"D_DST_DMA_CFG", 0x60, {rw("DST_RAM_TYPE", 0, 1)}},
    {"D_DST_COMPRESSION_EN", 0x64, {ro("DST_COMPRESSION_EN", 0, 1)}},
    {"D_DATA_FORMAT", 0x68, {rw("INPUT_DATA_TYPE", 0, 2, 1)}},
    {"D_NAN_FLUSH_TO_ZERO", 0x6c, {rw("NAN_TO_ZERO", 0, 1)}},
    {"D_LRN_CFG", 0x70, {rw("NORMALZ_LEN", 0, 2)}},
    {"D_DATIN_OFFSET", 0x74, {rw("DATIN_OFFSET", 0, 16)}},
    {"D_DATIN_SCALE", 0x78, {rw("DATIN_SCALE", 0, 16, 1)}},
    {"D_DATIN_SHIFTER", 0x7c, {rw("DATIN_SHIFTER", 0, 5)}},
    {"D_DATOUT_OFFSET", 0x80, {rw("DATOUT_OFFSET", 0, 32)}},
    {"D_DATOUT_SCALE", 0x84, {rw("DATOUT_SCALE", 0, 16, 1)}},
    {"D_DATOUT_SHIFTER", 0x88, {rw("DATOUT_SHIFTER", 0, 6)}},
    {"D_NAN_INPUT_NUM", 0x8c, {ro("NAN_INPUT_NUM", 0, 32)}},
    {"D_INF_INPUT_NUM", 0x90, {ro("INF_INPUT_NUM", 0, 32)}},
    {"D_NAN_OUTPUT_NUM", 0x94, {ro("NAN_OUTPUT_NUM", 0, 32)}},
    {"D_OUT_SATURATION", 0x98, {ro("OUT_SATURATION", 0, 32)}},
    {"D_PERF_ENABLE", 0x9c, {rw("DMA_EN", 0, 1), rw("LUT_EN", 1, 1)}},
    {"D_PERF_WRITE_STALL", 0xa0, {ro("PERF_WRITE_STALL", 0, 32)}},
    {"D_PERF_LUT_UFLOW", 0xa4, {ro("PERF_LUT_UFLOW", 0, 32)}},
    {"D_PERF_LUT_OFLOW", 0xa8, {ro("PERF_LUT_OFLOW", 0, 32)}},
    {"D_PERF_LUT_HYBRID", 0xac, {ro("PERF_LUT_HYBRID", 0, 32)}},
    {"D_PERF_LUT_LE_HIT", 0xb0, {ro("PERF_LUT_LE_HIT", 0, 32)}},
    {"D_PERF_LUT_LO_HIT", 0xb4, {ro("PERF_LUT_LO_HIT", 0, 32)}},
    {"D_CYA", 0xb8, {rw("CYA", 0, 32)}},
};
constexpr auto cdp_rows = to_rows(cdp_text);

// Registers of NVDLA_CDP_RDMA: the read DMA of the channel (LRN) processor.
// source: NVDLA register specification, nv_small, NVDLA_CDP_RDMA.rdl
constexpr RegisterText cdp_rdma_text[] = {
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
    {"D_SRC_DMA_CFG", 0x28, {rw("SRC_RAM_TYPE", 0, 1)}},
    {"D_SRC_COMPRESSION_EN", 0x2c, {ro("SRC_COMPRESSION_EN", 0, 1)}},
    {"D_OPERATION_MODE", 0x30, {ro("OPERATION_MODE", 0, 2)}},
    {"D_DATA_FORMAT", 0x34, {rw("INPUT_DATA", 0, 2)}},
    {"D_PERF_ENABLE", 0x38, {rw("DMA_EN", 0, 1)}},
    {"D_PERF_READ_STALL", 0x3c, {ro("PERF_READ_STALL", 0, 32)}},
    {"D_CYA", 0x40, {rw("CYA", 0, 32)}},
};
constexpr auto cdp_rdma_rows = to_rows(cdp_rdma_text);

constexpr FieldName type_field{"D_DATA_FORMAT", "INPUT_DATA_TYPE"};
constexpr FieldName fetched_field{"D_DATA_FORMAT", "INPUT_DATA"};

/// 38 bits in two registers: S_LUT_<stem>_LOW and _HIGH.
template <class Visitor, class Bound>
void describe_bound(Visitor& visit, const std::string& stem, Bound& bound) {
    auto low = static_cast<std::uint32_t>(bound);
    auto high = static_cast<std::int32_t>(bound >> 32);
    visit.field("S_LUT_" + stem + "_LOW", "LUT_" + stem + "_LOW", low);
    visit.signed_field("S_LUT_" + stem + "_HIGH", "LUT_" + stem + "_HIGH", high);
    if constexpr (Visitor::decodes) {
        bound = std::int64_t{high} * (std::int64_t{1} << 32U) + low;
    }
}

/// `side`: DATIN or DATOUT.
template <class Visitor, class Conversion>
void describe_conversion(Visitor& visit, const std::string& side, Conversion& conversion) {
    visit.signed_field("D_" + side + "_OFFSET", side + "_OFFSET", conversion.offset);
    visit.signed_field("D_" + side + "_SCALE", side + "_SCALE", conversion.scale);
    visit.field("D_" + side + "_SHIFTER", side + "_SHIFTER", conversion.shift);
}

template <class Visitor, class Normalization>
void describe_normalization(Visitor& visit, Normalization& normalization) {
    auto length = (normalization.local_size - 3) / 2;
    visit.flag("D_NAN_FLUSH_TO_ZERO", "NAN_TO_ZERO", normalization.nan_to_zero);
    visit.field("D_LRN_CFG", "NORMALZ_LEN", length);
    visit.flag("D_FUNC_BYPASS", "SQSUM_BYPASS", normalization.square_sum_bypass);
    visit.flag("D_FUNC_BYPASS", "MUL_BYPASS", normalization.multiply_bypass);
    describe_conversion(visit, "DATIN", normalization.input);
    describe_conversion(visit, "DATOUT", normalization.output);
    describe_lookup(visit, normalization.lut, [&visit](const std::string& stem, auto& bound) {
        describe_bound(visit, stem, bound);
    });
    if constexpr (Visitor::decodes) {
        normalization.local_size = 2 * length + 3;
        normalization.nan_to_zero &= normalization.precision == Precision::Fp16;
    }
}

/// In the read DMA's registers: the CDP itself has no sizes.
template <class Visitor, class Job>
void describe_source(Visitor& visit, Job& job) {
    visit.shape({"D_DATA_CUBE_CHANNEL", "CHANNEL"}, {"D_DATA_CUBE_HEIGHT", "HEIGHT"},
                {"D_DATA_CUBE_WIDTH", "WIDTH"}, job.shape);
    visit.inverse_flag("D_SRC_DMA_CFG", "SRC_RAM_TYPE", job.source_in_sram);
}

template <class Visitor, class Job>
void describe_result(Visitor& visit, Job& job) {
    visit.inverse_flag("D_DST_DMA_CFG", "DST_RAM_TYPE", job.destination_in_sram);
    visit.flag("D_PERF_ENABLE", "LUT_EN", job.count_lookups);
    visit.flag("D_PERF_ENABLE", "DMA_EN", job.count_stalls);
    describe_normalization(visit, job.normalization);
}

/// Both blocks specify the element type.
void decode_precision(RegisterDecoder& cdp, RegisterDecoder& rdma, const DatapathConfig& datapath,
                      Precision& precision) {
    Precision fetched = Precision::Int8;
    cdp.precision(type_field, datapath, precision);
    rdma.precision(fetched_field, datapath, fetched);
    rdma.refuse_unless(fetched == precision, fetched_field,
                       fmt::format("{} says {}", spelled(cdp.unit(), type_field.register_name),
                                   static_cast<unsigned>(precision)),
                       "program the same value in both units");
}

}  // namespace

constinit const RegisterBlock cdp_block{"NVDLA_CDP", 0xd000, cdp_rows};
constinit const RegisterBlock cdp_rdma_block{"NVDLA_CDP_RDMA", 0xc000, cdp_rdma_rows};

std::optional<CdpJob> decode_cdp(const RegisterValues& cdp_values,
                                 const RegisterValues& rdma_values, const CdpConfig& config,
                                 const DatapathConfig& datapath, Diagnostics& findings) {
    if (!config.present) {
        refuse_unit("NVDLA_CDP", "this NPU has no CDP", "choose a preset with cdp.present = true",
                    findings);
        return std::nullopt;
    }
    RegisterDecoder cdp(cdp_values, findings);
    RegisterDecoder rdma(rdma_values, findings);
    CdpJob job;
    decode_precision(cdp, rdma, datapath, job.normalization.precision);
    const Bytes element(bytes_of(job.normalization.precision));
    describe_source(rdma, job);
    job.source = decode_cube(rdma, "SRC", job.shape, datapath.memory_atom, element);
    job.destination = decode_cube(cdp, "DST", job.shape, datapath.memory_atom, element);
    job.normalization.channels = job.shape.channels;
    job.normalization.coarse_saturation = datapath.coarse_saturation_count;
    describe_result(cdp, job);
    return unless_refused(job, findings);
}

std::vector<RegisterValues> encode_cdp(const CdpJob& job) {
    const Precision precision = job.normalization.precision;
    RegisterEncoder rdma(cdp_rdma_block);
    rdma.field(fetched_field.register_name, fetched_field.field_name, precision);
    describe_source(rdma, job);
    rdma.cube("SRC", job.source);
    RegisterEncoder cdp(cdp_block);
    cdp.field(type_field.register_name, type_field.field_name, precision);
    cdp.cube("DST", job.destination);
    describe_result(cdp, job);
    return {rdma.values(), cdp.values()};
}

std::vector<SurfaceUse> surfaces_of(const CdpJob& job) {
    return {source_use("NVDLA_CDP_RDMA", job.source), result_use("NVDLA_CDP", job.destination)};
}

}  // namespace npuscope
