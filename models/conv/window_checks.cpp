// SPDX-License-Identifier: Apache-2.0
// Windows, and registers that a unit holds although another one decides: the unit that computes
// ignores them, so a contradiction changes nothing and is seldom meant.
#include <fmt/format.h>

#include "models/conv/conv_registers.h"
#include "models/conv/csc_math.h"
#include "models/conv/register_claims.h"

namespace npuscope {

std::uint32_t reached_columns(const CscJob& csc) {
    return reach(csc.output.width, csc.stride_x, dilated_span(csc.kernels.columns, csc.dilation_x));
}

std::uint32_t reached_lines(const CscJob& csc) {
    return reach(csc.output.height, csc.stride_y, dilated_span(csc.kernels.rows, csc.dilation_y));
}

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

std::vector<Diagnostic> window_findings(const ConvJob& job, const RegisterValues& cdma) {
    const CscJob& csc = job.parts.csc;
    if (csc.mode == ConvMode::Winograd) {
        return {};
    }
    ClaimChecks checks;
    const auto same = [&](std::string_view register_name, std::string_view field,
                          std::string_view csc_register, std::uint32_t plus, std::uint32_t value) {
        const std::uint32_t said = cdma.field(register_name, field) + plus;
        const RegisterClaim own{csc_unit, csc_register, field, value};
        if (said != value) {
            checks.advise(false, own,
                          fmt::format("but {} says {}", spelled(cdma_unit, register_name), said),
                          remedy_of_two);
        }
    };
    same("D_CONV_STRIDE", "CONV_X_STRIDE", "D_CONV_STRIDE_EXT", 1, csc.stride_x);
    same("D_CONV_STRIDE", "CONV_Y_STRIDE", "D_CONV_STRIDE_EXT", 1, csc.stride_y);
    same("D_ZERO_PADDING", "PAD_TOP", "D_ZERO_PADDING", 0, csc.pad_top);
    const auto inside = [&](const RegisterClaim& output, std::uint32_t need, std::uint32_t before,
                            std::uint32_t size, std::uint32_t stride, std::string_view field,
                            const char* what) {
        const std::uint32_t after = cdma.field("D_ZERO_PADDING", field);
        const std::uint32_t all = before + size + after;
        checks.advise(
            need <= all && all - need < stride, output,
            fmt::format(
                "whose windows span {} {}{}, but the input has {}, with {} of padding before "
                "({}) and {} after ({} {}); window size is set by {}, stride by {}",
                need, what, need == 1 ? "" : "s", size, before, spelled(csc_unit, "D_ZERO_PADDING"),
                after, spelled(cdma_unit, "D_ZERO_PADDING"), field,
                names_of(csc_unit, "D_WEIGHT_SIZE_EXT_0", "D_DILATION_EXT"),
                spelled(csc_unit, "D_CONV_STRIDE_EXT")),
            remedy_of_windows);
    };
    if (csc.mode == ConvMode::Direct) {
        same("D_ZERO_PADDING", "PAD_LEFT", "D_ZERO_PADDING", 0, csc.pad_left);
        same("D_ZERO_PADDING_VALUE", "PAD_VALUE", "D_ZERO_PADDING_VALUE", 0, csc.pad_value);
        inside({csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH + 1", csc.output.width},
               reached_columns(csc), csc.pad_left, csc.input.width, csc.stride_x, "PAD_RIGHT",
               "column");
    }
    inside({csc_unit, "D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT + 1", csc.output.height},
           reached_lines(csc), csc.pad_top, csc.input.height, csc.stride_y, "PAD_BOTTOM", "line");
    return checks.take();
}

}  // namespace npuscope
