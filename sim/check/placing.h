// SPDX-License-Identifier: Apache-2.0
// Which registers place a surface, and which of them is most likely wrong if the surface ought to
// fill a region but does not: the one that, changed alone, makes both agree; preferably one that
// leaves no gaps. Strides that leave gaps as if one of them, or a size, were off by one part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/layout/surface_use.h"
#include "sim/check/operation_surfaces.h"

namespace npuscope {

/// Spelled as in findings: address, strides, sizes.
std::vector<std::string> placing_registers(const SurfaceUse& use);

/// The lower half of the address, or the upper one if that is not 0.
std::string address_name(const SurfaceUse& use);

struct Suspect {
    std::string register_name;
    /// The value it should have; nothing if changing it alone does not help.
    std::optional<std::uint64_t> value{};
};

/// The register that is most likely wrong if the surface should be the region. Addresses are
/// multiples of `atom`.
Suspect suspect_of(const SurfaceUse& use, const ByteRun& region, Bytes atom);

/// `set NVDLA_SDP.D_DST_LINE_STRIDE_0 to 0x80, or correct ...`, followed by the other registers.
std::string remedy_for(const SurfaceUse& use, const Suspect& suspect);

/// Bytes that strides leave after the last line of a surface, plus lines and columns that windows
/// do not reach: the stored surface may be longer by this many.
Bytes gap_after(const SurfaceUse& use, std::uint32_t lines_left = 0,
                std::uint32_t columns_left = 0);

/// The warning `strides_apart` about a surface of the operation, if there is one.
void check_strides_apart(const CheckedOperation& operation, const SurfaceUse& use,
                         DiagnosticLog& log);

}  // namespace npuscope
