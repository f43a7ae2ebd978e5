// SPDX-License-Identifier: Apache-2.0
// A layer as stored in memory for a TINPU: 32 words of 4 bytes, low byte first. The format is our
// own, because the vendor's is not public.
//
//     word   31      24 23 22 21 20 19 18 17 16 15       8 7        0
//       0    | version | 0 | u| p| c| s| r| o| i| weight bits | work |     version 1
//              u: ties round up     p: padding counts      c: there are constants
//              s: residual signed   r: there is a residual o, i: output, input signed
//              weight bits: 8, 4, 2 or 0 (none)
//              work: 0 convolution, 1 depth-wise, 2 transposed, 3 average pool, 4 max pool
//       1,2  input, address low and high       3,4  output    5,6  residual
//       7,8  weights                           9,10 constants
//      11-13 input channels, height, width     14-16 output channels, height, width
//      17    | window columns | window rows |  16 bits each, like all that follow
//      18    | stride x | stride y |           19    | dilation x | dilation y |
//      20    | padding left | padding top |    21    | padding right | padding bottom |
//      22    | clip high | clip low |          two's complement
//      23-31 0
//
// Maps, weights and constants are laid out as in packed_surface.h and tinpu_job.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/layout/surface_use.h"
#include "models/tinpu/tinpu_job.h"

namespace npuscope {

inline constexpr std::size_t descriptor_bytes = 128;

/// NPU_CHECK that every value fits its field.
std::vector<std::uint8_t> store_descriptor(const TinpuJob& job);
/// ConfigError for an invalid layer; the message names the word, or the field as check_layer does.
TinpuJob load_descriptor(std::span<const std::uint8_t, descriptor_bytes> bytes);

/// Maps, weights and constants; the one that it writes is the last.
std::vector<SurfaceUse> surfaces_of(const TinpuJob& job);

}  // namespace npuscope
