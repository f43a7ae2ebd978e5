// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_registers.h"

#include <fmt/format.h>

#include "models/arith/lookup_registers.h"
#include "models/layout/register_decoder.h"

namespace npuscope {
namespace {

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

/// Both blocks say what the elements are.
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
    // the CDP has no sizes of its own: its read DMA counts the cube
    rdma.shape({"D_DATA_CUBE_CHANNEL", "CHANNEL"}, {"D_DATA_CUBE_HEIGHT", "HEIGHT"},
               {"D_DATA_CUBE_WIDTH", "WIDTH"}, job.shape);
    job.source = decode_cube(rdma, "SRC", job.shape, datapath.memory_atom, element);
    rdma.inverse_flag("D_SRC_DMA_CFG", "SRC_RAM_TYPE", job.source_in_sram);
    job.destination = decode_cube(cdp, "DST", job.shape, datapath.memory_atom, element);
    cdp.inverse_flag("D_DST_DMA_CFG", "DST_RAM_TYPE", job.destination_in_sram);
    cdp.flag("D_PERF_ENABLE", "LUT_EN", job.count_lookups);
    cdp.flag("D_PERF_ENABLE", "DMA_EN", job.count_stalls);
    job.normalization.channels = job.shape.channels;
    job.normalization.coarse_saturation = datapath.coarse_saturation_count;
    describe_normalization(cdp, job.normalization);
    return unless_refused(std::move(job), findings);
}

}  // namespace npuscope
