// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/left_lines.h"

#include <fmt/format.h>

#include "models/layout/alignment.h"

namespace npuscope {

std::optional<Diagnostic> lines_left(const PdpJob& job, const std::string& name) {
    const std::uint32_t pooled = job.lines_pooled();
    if (pooled == job.input.height) {
        return std::nullopt;
    }
    Diagnostic finding;
    finding.severity = Severity::Warning;
    finding.id = "lines_left";
    finding.unit = "NVDLA_PDP";
    finding.register_name = spelled("NVDLA_PDP", "D_DATA_CUBE_IN_HEIGHT");
    finding.operation = name;
    finding.sentence = fmt::format(
        "{} is {:#x}, {} lines, but the last of {} windows ({} is {:#x}) ends with line {}: the "
        "PDP ends with its last result and takes the {} after it under the other group's "
        "registers",
        finding.register_name, job.input.height - 1, job.input.height, job.output.height,
        spelled("NVDLA_PDP", "D_DATA_CUBE_OUT_HEIGHT"), job.output.height - 1, pooled,
        job.input.height - pooled);
    finding.remedy =
        fmt::format("program {} lines in NVDLA_PDP and NVDLA_PDP_RDMA (or the SDP)", pooled);
    return finding;
}

}  // namespace npuscope
