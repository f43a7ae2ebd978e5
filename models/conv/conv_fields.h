// SPDX-License-Identifier: Apache-2.0
// Registers that several units of the convolution pipeline have in common, described once for both
// directions: a decoder fills the members of a job, an encoder writes them. What this NPU lacks is
// refused while decoding.
#pragma once

#include <fmt/format.h>

#include "models/conv/conv_job.h"
#include "models/layout/register_coder.h"

namespace npuscope::conv {

/// D_MISC_CFG.CONV_MODE.
template <class Visitor, class Flag>
void describe_winograd(Visitor& visit, Flag& winograd, const ConvFeatures& features) {
    visit.flag("D_MISC_CFG", "CONV_MODE", winograd);
    if constexpr (Visitor::decodes) {
        visit.refuse_unless(!winograd || features.winograd, {"D_MISC_CFG", "CONV_MODE"},
                            "Winograd convolution is not available", "use direct convolution (0)");
    }
}

/// D_MISC_CFG.CONV_MODE and D_DATAIN_FORMAT.DATAIN_FORMAT.
template <class Visitor, class Mode>
void describe_mode(Visitor& visit, Mode& mode, const ConvFeatures& features) {
    bool winograd = mode == ConvMode::Winograd;
    bool image = mode == ConvMode::Image;
    describe_winograd(visit, winograd, features);
    visit.flag("D_DATAIN_FORMAT", "DATAIN_FORMAT", image);
    if constexpr (Visitor::decodes) {
        visit.refuse_unless(!winograd || !image, {"D_DATAIN_FORMAT", "DATAIN_FORMAT"},
                            "Winograd convolution of an image is not available",
                            "use feature data (0) or direct convolution");
        mode = winograd ? ConvMode::Winograd : image ? ConvMode::Image : ConvMode::Direct;
    }
}

/// D_BATCH_NUMBER.
template <class Visitor, class Number>
void describe_batches(Visitor& visit, Number& batches, const ConvFeatures& features) {
    visit.size("D_BATCH_NUMBER", "BATCHES", batches);
    if constexpr (Visitor::decodes) {
        visit.refuse_unless(
            batches <= features.max_batch, {"D_BATCH_NUMBER", "BATCHES"},
            features.max_batch == 1
                ? "more than one batch is not available"
                : fmt::format("more than {} batches are not available", features.max_batch),
            features.max_batch == 1 ? "use 0"
                                    : fmt::format("use {} or less", features.max_batch - 1));
    }
}

/// D_WEIGHT_FORMAT.
template <class Visitor, class Flag>
void describe_compression(Visitor& visit, Flag& compressed, const ConvFeatures& features) {
    visit.flag("D_WEIGHT_FORMAT", "WEIGHT_FORMAT", compressed);
    if constexpr (Visitor::decodes) {
        visit.refuse_unless(
            !compressed || features.weight_compression, {"D_WEIGHT_FORMAT", "WEIGHT_FORMAT"},
            "compressed weights are not available", "store the weights uncompressed (0)");
    }
}

/// D_MISC_CFG.{DATA,WEIGHT}_REUSE, SKIP_{DATA,WEIGHT}_RLS.
template <class Visitor, class Reuse>
void describe_reuse(Visitor& visit, Reuse& reuse) {
    visit.flag("D_MISC_CFG", "DATA_REUSE", reuse.data_reuse);
    visit.flag("D_MISC_CFG", "WEIGHT_REUSE", reuse.weight_reuse);
    visit.flag("D_MISC_CFG", "SKIP_DATA_RLS", reuse.skip_data_release);
    visit.flag("D_MISC_CFG", "SKIP_WEIGHT_RLS", reuse.skip_weight_release);
}

/// D_BANK.
template <class Visitor, class Banks>
void describe_banks(Visitor& visit, Banks& banks) {
    visit.size("D_BANK", "DATA_BANK", banks.data);
    visit.size("D_BANK", "WEIGHT_BANK", banks.weight);
}

/// D_DATAOUT_SIZE_0 and _1.
template <class Visitor, class Size>
void describe_output(Visitor& visit, Size& output) {
    visit.shape({"D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL"}, {"D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT"},
                {"D_DATAOUT_SIZE_0", "DATAOUT_WIDTH"}, output);
}

}  // namespace npuscope::conv
