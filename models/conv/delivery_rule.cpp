// SPDX-License-Identifier: Apache-2.0
#include "models/conv/delivery_rule.h"

#include <fmt/format.h>

#include "models/layout/alignment.h"

namespace npuscope {

std::uint64_t delivered_atoms(const ConvJob& job) {
    return std::uint64_t{job.output().width} * job.output().height * job.batches() *
           job.weights.groups();
}

Diagnostic ends_meet(const ConvJob& job, const std::string& what) {
    const std::uint32_t groups = job.weights.groups();
    Diagnostic finding;
    finding.severity = Severity::Warning;
    finding.id = "ends_meet";
    finding.unit = "NVDLA_CACC";
    finding.register_name = spelled("NVDLA_CACC", "D_DATAOUT_SIZE_0");
    finding.sentence = fmt::format("the last of its {} atoms ({} is {:#x}, {} kernel group{}) {}",
                                   delivered_atoms(job), finding.register_name,
                                   (job.output().height - 1) << 16U | (job.output().width - 1),
                                   groups, groups == 1 ? "" : "s", what);
    finding.remedy =
        "wait for the interrupt of the convolution before (its SDP's, or its PDP's) before "
        "enabling "
        "this one, or let it deliver as many atoms as the buffer holds";
    return finding;
}

}  // namespace npuscope
