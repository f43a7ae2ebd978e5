// SPDX-License-Identifier: Apache-2.0
#include "models/conv/conv_registers.h"

#include "models/conv/cacc_registers.h"
#include "models/conv/cdma_registers.h"
#include "models/conv/cmac_registers.h"
#include "models/conv/csc_registers.h"

namespace npuscope {

std::optional<ConvParts> decode_conv(const ConvRegisters& registers, const ConvFeatures& features,
                                     Diagnostics& findings) {
    const auto cdma = decode_cdma(registers.cdma, features, findings);
    const auto csc = cdma ? decode_csc(registers.csc, features, findings) : std::nullopt;
    const auto cmac_a = csc ? decode_cmac(registers.cmac_a, features, findings) : std::nullopt;
    const auto cmac_b = cmac_a ? decode_cmac(registers.cmac_b, features, findings) : std::nullopt;
    const auto cacc = cmac_b ? decode_cacc(registers.cacc, features, findings) : std::nullopt;
    if (!cacc) {
        return std::nullopt;
    }
    return ConvParts{.cdma = *cdma, .csc = *csc, .cmac = {*cmac_a, *cmac_b}, .cacc = *cacc};
}

std::vector<RegisterValues> encode_conv(const ConvParts& parts, const FeatureCube& output) {
    return {encode_cacc(parts.cacc, output), encode_cmac(cmac_a_block, parts.cmac[0]),
            encode_cmac(cmac_b_block, parts.cmac[1]), encode_csc(parts.csc),
            encode_cdma(parts.cdma, parts.csc)};
}

}  // namespace npuscope
