// SPDX-License-Identifier: Apache-2.0
// What the convolution DMA does to values on their way into the buffer: pixels, and feature data
// where conversion is enabled, become int8. y = saturate8(saturate17(round((x - m) * scale >>
// truncate))) with m the channel's mean or the offset. Without conversion the bits pass as they
// are. Padding is inserted behind the conversion, in the processing precision. source: nv_small
// RTL, NV_NVDLA_CDMA_cvt.v, NV_NVDLA_CDMA_CVT_cell.v, NV_NVDLA_CDMA_IMG_pack.v
#pragma once

#include <cstdint>

#include "models/data/conv_job.h"
#include "models/data/tensor.h"

namespace npuscope {

/// Raw 8-bit codes of an image, channels in the order R/Y, G/U, B/V, A/X.
Tensor<std::int8_t> convert_pixels(const Tensor<std::uint16_t>& codes,
                                   const InputConversion& conversion);

/// Feature data of direct mode; the identity where conversion is off.
void convert_feature(Tensor<std::int8_t>& data, const InputConversion& conversion);

}  // namespace npuscope
