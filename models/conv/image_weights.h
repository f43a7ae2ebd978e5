// SPDX-License-Identifier: Apache-2.0
// Channel pre-extension of image weights: the columns of a kernel become channels,
// c' = s * C + c with C' = S * C and one column. Rows stay. Channel order is R/Y, G/U, B/V, A/X
// whatever the pixel format.
// source: NVDLA format page, "Basic Weight for image input"; order: nv_small traces, CRC
#pragma once

#include "models/layout/tensor.h"

namespace npuscope {

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

}  // namespace npuscope
