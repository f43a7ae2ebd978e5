// SPDX-License-Identifier: Apache-2.0
#include "models/bdma/bdma_job.h"

#include "models/layout/register_reading.h"

namespace npuscope {
namespace {

/// Addresses and strides stand in their registers at their own bit places, without the low five.
constexpr unsigned kLowBits = 5;  // source: NVDLA_BDMA.rdl

Bytes read_stride(const RegisterValues& bdma, const std::string& name) {
    return Bytes(std::uint64_t{bdma.field(name, "STRIDE")} << kLowBits);
}

/// `side`: SRC or DST.
BdmaSide read_side(const RegisterValues& bdma, const std::string& side) {
    const std::uint64_t high = bdma.field("CFG_" + side + "_ADDR_HIGH", "V8");
    const std::uint64_t low = bdma.field("CFG_" + side + "_ADDR_LOW", "V32");
    return {Address(high << 32U | low << kLowBits), read_stride(bdma, "CFG_" + side + "_LINE"),
            read_stride(bdma, "CFG_" + side + "_SURF"),
            bdma.field("CFG_CMD", side + "_RAM_TYPE") == 0};
}

}  // namespace

BdmaJob BdmaJob::from_registers(const RegisterValues& bdma, const BdmaConfig& config,
                                Bytes memory_atom) {
    if (!config.present) {
        refuse(bdma, {"CFG_OP", "EN"}, "this NPU has no BDMA",
               "choose a preset with bdma.present = true");
    }
    BdmaJob job;
    job.source = read_side(bdma, "SRC");
    job.destination = read_side(bdma, "DST");
    job.line = memory_atom * bdma.size("CFG_LINE", "SIZE");
    job.lines = bdma.size("CFG_LINE_REPEAT", "NUMBER");
    job.surfaces = bdma.size("CFG_SURF_REPEAT", "NUMBER");
    require_surface(bdma, "CFG_LINE_REPEAT", {std::uint64_t{job.lines} * job.surfaces, job.line});
    return job;
}

}  // namespace npuscope
