// SPDX-License-Identifier: Apache-2.0
#include "models/conv/unused_registers.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "models/conv/register_claims.h"

namespace npuscope {

std::vector<Diagnostic> unused_register_findings(const ConvJob& job, const RegisterValues& csc) {
    const CdmaJob& cdma = job.parts.cdma;
    ClaimChecks checks;
    // the sequencer works with PROC_PRECISION; NVIDIA's programs have either in IN_PRECISION
    const std::uint64_t input = csc.field("D_MISC_CFG", "IN_PRECISION");
    const auto own = static_cast<std::uint64_t>(cdma.in_precision);
    checks.advise(input == own || input == static_cast<std::uint64_t>(cdma.precision),
                  {csc_unit, "D_MISC_CFG", "IN_PRECISION", input},
                  fmt::format("but {} says {}", spelled(cdma_unit, "D_MISC_CFG"), own),
                  remedy_of_two);
    if (job.mode() == ConvMode::Image) {
        const std::uint64_t left = csc.field("D_ZERO_PADDING", "PAD_LEFT");
        checks.advise(left == cdma.pad_left, {csc_unit, "D_ZERO_PADDING", "PAD_LEFT", left},
                      fmt::format("but {} says {}, which the DMA inserts",
                                  spelled(cdma_unit, "D_ZERO_PADDING"), cdma.pad_left),
                      remedy_of_two);
        for (const std::string_view field : {"X_DILATION_EXT", "Y_DILATION_EXT"}) {
            const std::uint64_t dilation = csc.field("D_DILATION_EXT", field);
            checks.advise(dilation == 0, {csc_unit, "D_DILATION_EXT", field, dilation},
                          "but kernels of images are not dilated", "write 0 to the register");
        }
    }
    return checks.take();
}

}  // namespace npuscope
