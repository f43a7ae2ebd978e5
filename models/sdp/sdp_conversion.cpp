// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_conversion.h"

#include "models/layout/precision_table.h"
#include "models/layout/register_reading.h"
#include "models/sdp/sdp_job.h"

namespace npuscope {
namespace {

constexpr FieldName output_field{"D_DATA_FORMAT", "OUT_PRECISION"};

PrecisionCell cell_of(Precision input, Precision output) {
    return precision_cell(ConvertingUnit::Sdp, feature_input(input), output);
}

}  // namespace

void require_output_width(const RegisterValues& sdp, const SdpStages& stages) {
    if (stages.output != Precision::Int8 || stages.processing == Precision::Int8) {
        return;
    }
    if (sdp.field("D_FEATURE_MODE_CFG", "FLYING_MODE") != 0) {
        refuse(sdp, output_field,
               fmt::format("{} from the accumulators cannot leave as int8, which is half as wide",
                           precision_name(stages.processing)),
               "write elements of two bytes; the SDP converts int16 to int8 from memory to memory");
    }
    require_valid(cell_of(stages.processing, stages.output),
                  spelled(sdp.block().name, output_field.register_name));
    refuse(sdp, output_field, "int16 leaves as int8 only where int8 is processed",
           "program PROC_PRECISION 0 (int8) in SDP and SDP_RDMA and keep IN_PRECISION 1 (int16)");
}

void require_table_30(const RegisterValues& rdma, Precision input, const SdpStages& stages) {
    require_valid(cell_of(input, stages.output), spelled(rdma.block().name, "D_FEATURE_MODE_CFG"));
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
    finding.sentence =
        fmt::format("{}: {} is an invalid case; it is computed as nv_full's C model does",
                    spelled("NVDLA_SDP", output_field.register_name), cell.name());
    finding.unit = "sdp";
    return finding;
}

}  // namespace npuscope
