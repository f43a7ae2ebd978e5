// SPDX-License-Identifier: Apache-2.0
// The network's input in the NPU's memory: a feature cube, or pixels for the image mode of the
// first convolution, and the bytes of either.
//
// An input of one channel can be T_R8, one of two to four channels T_A8B8G8R8, whose last channels
// then carry nothing. Pixels of int8 pass as they are; of uint8 the convolution DMA takes 128.
#pragma once

#include "models/data/conv_job.h"
#include "models/npu/npu_config.h"
#include "sim/plan/plan.h"
#include "sim/workload/network.h"

namespace npuscope {

/// The format that the network declares; nothing where it declares none. ConfigError where it
/// cannot hold the input or the NPU cannot read it.
const PixelFormat* declared_pixels(const Network& network, const NpuConfig& npu);

/// The format for an input whose layout nobody declares; nothing for more than four channels.
const PixelFormat* pixels_for(std::uint32_t channels);

InputConversion pixel_conversion(InputType type);

/// Made-up values as memory holds them; without `values` the image is empty.
PlannedImage input_image(const Network& network, const StoredCube& stored, bool values);

}  // namespace npuscope
