// SPDX-License-Identifier: Apache-2.0
// What the convolution DMA does to values on their way into the buffer: pixels, and feature data
// where conversion is enabled, become the processing precision. y = saturate(saturate17(round((x -
// m) * scale >> truncate))) with m the channel's mean or the offset, saturated to int8 or int16, or
// the 17 bits as fp16. Without conversion the bits pass unchanged, as does anything already in
// fp16. Padding is inserted after the conversion, in the processing precision. source: nv_small
// RTL, NV_NVDLA_CDMA_cvt.v, NV_NVDLA_CDMA_CVT_cell.v, NV_NVDLA_CDMA_IMG_pack.v; nv_full C model
#pragma once

#include <cstdint>
#include <span>

#include "models/conv/conv_job.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// Raw codes of an image, channels in the order R/Y, G/U, B/V, A/X.
ElementTensor convert_pixels(const Tensor<std::uint16_t>& codes, const CdmaJob& job);

/// Feature data; the identity where conversion is off.
void convert_feature(ElementTensor& data, const CdmaJob& job);

/// Counts in little-endian fp16 elements, for D_NAN_INPUT_* and D_INF_INPUT_*; an odd byte at the
/// end is ignored. The hardware looks at whole atoms, lanes beyond the last channel included.
SpecialCount count_special(std::span<const std::uint8_t> bytes);
/// fp16 elements that are NaN become 0.
void flush_nans(std::span<std::uint8_t> bytes);

/// The input of a Winograd convolution as the patches see it: padded, channels zero-filled to whole
/// atoms, strides turned into channels c' = (sy * stride_x + sx) * C + c.
ElementTensor extend_winograd(const ElementTensor& data, const CdmaJob& job,
                              std::uint32_t channels_per_atom);

}  // namespace npuscope
