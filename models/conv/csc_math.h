// SPDX-License-Identifier: Apache-2.0
// What the sequence controller does to values: it only selects. It decides which data the MAC array
// multiplies by which weight, and inserts the padding value where a window leaves the input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/conv/conv_config.h"
#include "models/conv/conv_job.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// Kernels as the sums need them: image kernels get their columns back from the channels.
WeightKernels sequenced_kernels(const ConvJob& job, const WeightKernels& stored);

/// Multiplications of the layer that are part of a sum, padding included: outputs x C x R x S x K.
/// With Winograd, those of the 3 x 3 kernels before they were transformed.
std::uint64_t useful_macs(const ConvJob& job);

/// Such multiplications that a product of the array stands for: 2.25 with Winograd, otherwise 1.
double macs_per_cell(ConvMode mode);

// Channel pre-extension of image weights: the columns of a kernel become channels,
// c' = s * C + c with C' = S * C and one column. Rows stay. Channel order is R/Y, G/U, B/V, A/X
// whatever the pixel format.
// source: NVDLA format page, "Basic Weight for image input"; order: nv_small traces, CRC

/// K x C x R x S to K x (S * C) x R x 1.
template <class T>
Kernels<T> extend_channels(const Kernels<T>& kernels) {
    const KernelShape& plain = kernels.shape;
    Kernels<T> extended({plain.kernels, plain.columns * plain.channels, plain.rows, 1});
    for (std::uint32_t k = 0; k < plain.kernels; ++k) {
        for (std::uint32_t c = 0; c < extended.shape.channels; ++c) {
            for (std::uint32_t r = 0; r < plain.rows; ++r) {
                extended.at(k, c, r, 0) = kernels.at(k, c % plain.channels, r, c / plain.channels);
            }
        }
    }
    return extended;
}

/// The reverse: K x C' x R x 1 to K x C x R x (C' / C).
template <class T>
Kernels<T> restore_columns(const Kernels<T>& extended, std::uint32_t channels) {
    const KernelShape& shape = extended.shape;
    Kernels<T> kernels({shape.kernels, channels, shape.rows, shape.channels / channels});
    for (std::uint32_t k = 0; k < shape.kernels; ++k) {
        for (std::uint32_t c = 0; c < kernels.shape.columns * channels; ++c) {
            for (std::uint32_t r = 0; r < shape.rows; ++r) {
                kernels.at(k, c % channels, r, c / channels) = extended.at(k, c, r, 0);
            }
        }
    }
    return kernels;
}

/// Which bytes of a line of pixels are multiplied by which weights. A kernel's row of C' bytes is
/// processed in blocks of the MAC cells' width, block by block for a stripe of outputs. For every
/// block the sequencer tracks the position of the last byte that the stripe's first output needs;
/// from it follows which entries of the buffer are read.
///
/// Hardware that miscounts adds the last block's width where it should have added a full block's:
/// - its count of blocks runs on, cycle by cycle, during a stripe of one output, which corrupts
///   rows of four or more blocks from the fourth on;
/// - it takes C' = 8 n + 1 for n blocks: of three or more blocks the last two are wrong.
/// Where C' is a multiple of a block's width both widths are the same.
/// source: nv_small RTL, NV_NVDLA_CSC_dl.v channel_op_cnt and total_channel_op, replayed
struct ImageWalk {
    std::uint32_t row_bytes = 0;  ///< of a kernel: columns x channels, C'
    std::uint32_t step = 1;       ///< bytes from one output's window to the next one's
    std::uint32_t width = 8;      ///< bytes of a block, and of an entry of the buffer
    std::uint32_t shortest = 8;   ///< minimum cycles of a block
    bool miscounts = false;

    std::uint32_t blocks() const { return (row_bytes + width - 1) / width; }
    /// Bytes of a block.
    std::uint32_t bytes_of(std::uint32_t block) const {
        return block + 1 < blocks() ? width : row_bytes - block * width;
    }
    /// For every block of a stripe of `length` outputs: the byte, counted from the stripe's first,
    /// up to which its first output is assumed to reach.
    std::vector<std::uint32_t> reaches(std::uint32_t length) const;
};

/// The columns of an image's outputs, and how many of them make a stripe.
struct ImageRow {
    std::uint32_t outputs = 1;
    std::uint32_t stripe = 16;

    /// Length of the stripe that begins at this column.
    std::uint32_t length_at(std::uint32_t column) const {
        return outputs - column < stripe ? outputs - column : stripe;
    }
};

/// Where wrong bytes are used first.
struct Miscount {
    std::uint32_t block = 0;
    std::uint32_t column = 0;  ///< of the output: first of its stripe
};

/// Nothing if no block is wrong.
std::optional<Miscount> find_miscount(const ImageWalk& walk, const ImageRow& row);

/// Columns of zeros that a kernel of `channels` needs so that no block is wrong.
std::uint32_t columns_to_add(ImageWalk walk, const ImageRow& row, std::uint32_t channels);

/// The first block of a stripe that uses wrong bytes; nothing if there is none.
std::optional<std::uint32_t> first_wrong_block(const ImageWalk& walk, std::uint32_t length);

/// The byte, counted from the stripe's first, that a lane of a block uses; nothing: it uses zero.
/// `reach`: of the block in its stripe; `output`: in the stripe.
std::optional<std::uint32_t> met_byte(const ImageWalk& walk, std::uint32_t block,
                                      std::uint32_t reach, std::uint32_t output,
                                      std::uint32_t lane);

// An image job whose blocks the sequencer miscounts: the bytes that its weights are applied to.

/// Cycles in which the MAC cells load a full kernel group's weights; `entry`: size in the buffer.
std::uint32_t loading_cycles(const ConvJob& job, const DatapathConfig& datapath, Bytes entry);

/// Cycles in which the buffer provides the data that one output needs, an entry in each.
std::uint32_t reading_cycles(const ConvJob& job, const DatapathConfig& datapath, Bytes entry);

struct MiscountedImage {
    ImageWalk walk;
    ImageRow row;
    Miscount first;
};

/// Nothing if the job uses the right pixels.
std::optional<MiscountedImage> miscounted_image(const ConvJob& job, const CscConfig& config,
                                                const DatapathConfig& datapath, Bytes entry);

/// The data as the kernels see them: for each line of input, [C'][line][column of the output].
Tensor<std::int8_t> met_pixels(const Tensor<std::int8_t>& data, const ConvJob& job,
                               const MiscountedImage& image);
/// The geometry in which stored kernels of one column are applied to them.
Convolution met_geometry(const ConvJob& job);

}  // namespace npuscope
