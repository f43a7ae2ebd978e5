// SPDX-License-Identifier: Apache-2.0
#include "models/bdma/bdma_registers.h"

#include <string>

#include "models/layout/register_decoder.h"

namespace npuscope {
namespace {

/// `side`: SRC or DST. Addresses and strides stand in their registers at their own bit places.
template <class Visitor, class Side>
void describe_side(Visitor& visit, const std::string& side, Side& place) {
    visit.address("CFG_" + side + "_ADDR_HIGH", "CFG_" + side + "_ADDR_LOW", place.base);
    visit.bytes("CFG_" + side + "_LINE", place.line_stride);
    visit.bytes("CFG_" + side + "_SURF", place.surface_stride);
    visit.inverse_flag("CFG_CMD", side + "_RAM_TYPE", place.in_sram);
}

template <class Visitor, class Job>
void describe(Visitor& visit, Job& job, Bytes memory_atom) {
    describe_side(visit, "SRC", job.source);
    describe_side(visit, "DST", job.destination);
    auto atoms = static_cast<std::uint32_t>(job.line / memory_atom);
    visit.size("CFG_LINE", "SIZE", atoms);
    visit.size("CFG_LINE_REPEAT", "NUMBER", job.lines);
    visit.size("CFG_SURF_REPEAT", "NUMBER", job.surfaces);
    if constexpr (Visitor::decodes) {
        job.line = memory_atom * atoms;
    }
}

}  // namespace

std::optional<BdmaJob> decode_bdma(const RegisterValues& values, const BdmaConfig& config,
                                   Bytes memory_atom, Diagnostics& findings) {
    RegisterDecoder bdma(values, findings);
    bdma.refuse_unless(config.present, {"CFG_OP", "EN"}, "this NPU has no BDMA",
                       "choose a preset with bdma.present = true");
    BdmaJob job;
    describe(bdma, job, memory_atom);
    bdma.require_surface("CFG_LINE_REPEAT", {std::uint64_t{job.lines} * job.surfaces, job.line});
    return unless_refused(job, findings);
}

}  // namespace npuscope
