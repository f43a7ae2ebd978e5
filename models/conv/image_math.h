// SPDX-License-Identifier: Apache-2.0
// An image job whose blocks the sequencer miscounts (image_walk.h), and the bytes that meet its
// weights.
#pragma once

#include <optional>

#include "models/conv/conv_job.h"
#include "models/conv/csc_config.h"
#include "models/conv/image_walk.h"
#include "models/conv/operands.h"

namespace npuscope {

/// Cycles in which the MAC cells take the weights of a full kernel group; `entry`: of the buffer.
std::uint32_t loading_cycles(const ConvJob& job, const DatapathConfig& datapath, Bytes entry);

struct MiscountedImage {
    ImageWalk walk;
    ImageRow row;
    Miscount first;
};

/// Nothing where the job meets the right pixels.
std::optional<MiscountedImage> miscounted_image(const ConvJob& job, const CscConfig& config,
                                                const DatapathConfig& datapath, Bytes entry);

/// The data as the kernels meet them: for each line of input, [C'][line][column of the output].
Tensor<std::int8_t> met_pixels(const Tensor<std::int8_t>& data, const ConvJob& job,
                               const MiscountedImage& image);
/// The geometry in which stored kernels of one column meet them.
Convolution met_geometry(const ConvJob& job);

}  // namespace npuscope
