// SPDX-License-Identifier: Apache-2.0
// The network's input in the NPU's memory: a feature cube, or pixels for the image mode of the
// first convolution, and the bytes of either.
//
// An input of one channel can be T_R8, one of two to four channels T_A8B8G8R8, whose last channels
// are then unused, one of three also T_Y8___V8U8_N444, a plane for the first and one for two.
// Pixels of int8 pass unchanged; from uint8 the convolution DMA subtracts 128, a feature cube holds
// values that already are 128 less.
#pragma once

#include <optional>
#include <vector>

#include "models/conv/conv_job.h"
#include "models/npu/npu_config.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/model/network.h"

namespace npuscope {

/// The format that the network declares; nothing where it declares none. ConfigError where it
/// cannot hold the input or the NPU cannot read it.
const PixelFormat* declared_pixels(const Network& network, const NpuConfig& npu);

bool reads_input(const LayerShapes& layer);
/// The convolution that is the only reader of the network's input and can read it as pixels.
std::optional<std::size_t> pixel_reader(const Network& network,
                                        const std::vector<LayerShapes>& shapes);
/// Formats for an input whose layout neither network nor NPU declares.
std::vector<const PixelFormat*> open_pixels(const Network& network,
                                            const std::vector<LayerShapes>& shapes,
                                            const NpuConfig& npu);

InputConversion pixel_conversion(InputType type);

/// Synthetic values as memory holds them; without `values` the image is empty.
PlannedImage input_image(const Network& network, const StoredCube& stored, bool values);
/// The same for a further input, which is the network's layer of this number.
PlannedImage more_input_image(const Network& network, std::size_t layer, const PlannedInput& input,
                              bool values);

}  // namespace npuscope
