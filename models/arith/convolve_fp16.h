// SPDX-License-Identifier: Apache-2.0
// fp16 convolution, exact to the bit of the hardware: sums of blocks as the MAC cells make them,
// added one after the other as the accumulator rounds them (see fp16_mac.h). Data and kernels hold
// bit patterns, so does the padding's value; results are bit patterns of fp32, [kernel][y][x].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/layout/convolution.h"
#include "models/layout/tensor.h"

namespace npuscope {

// Which products a MAC cell sums at once, and in which order these block sums reach the
// accumulator. Whoever rounds or saturates block by block depends on it.
//
//     direct:  channel block -> row -> column                  one block = one tap's channels
//     image:   block of c' = s * C + c -> row                  columns lie beside each other
//     image, post-extended by f:  group of f rows              one block = f rows of all c'
//
// source: NVDLA doc v1/ias/unit_description.rst, CSC; nv_full C model, runs

struct MacOrder {
    std::uint32_t block_channels = 64;  ///< multipliers of a MAC cell
    bool columns_are_channels = false;  ///< images: channel pre-extension
    std::uint32_t row_group = 1;        ///< images: rows taken at once, channel post-extension
};

/// One element of a kernel: channel and tap.
struct MacElement {
    std::uint32_t channel = 0;
    std::uint32_t row = 0;
    std::uint32_t column = 0;
};

/// The elements of a kernel in the order of the hardware, cut into blocks.
class MacBlocks {
 public:
    MacBlocks(const KernelShape& kernel, const MacOrder& order);

    std::size_t size() const { return ends_.size(); }
    std::span<const MacElement> block(std::size_t index) const {
        const std::size_t first = first_of(index);
        return std::span(elements_).subspan(first, ends_[index] - first);
    }
    /// Index of the block's first element among all.
    std::size_t first_of(std::size_t index) const { return index == 0 ? 0 : ends_[index - 1]; }
    const std::vector<MacElement>& elements() const { return elements_; }

 private:
    void add_direct(const KernelShape& kernel, const MacOrder& order);
    void add_image(const KernelShape& kernel, const MacOrder& order);

    std::vector<MacElement> elements_;
    std::vector<std::size_t> ends_;
};

/// The oracle: one output after the other.
Tensor<std::int32_t> convolve_fp16_plain(const Tensor<std::int16_t>& data,
                                         const Kernels<std::int16_t>& kernels,
                                         const Convolution& geometry, const MacOrder& order);

/// The same, vectorised over output positions.
Tensor<std::int32_t> convolve_fp16(const Tensor<std::int16_t>& data,
                                   const Kernels<std::int16_t>& kernels,
                                   const Convolution& geometry, const MacOrder& order);

}  // namespace npuscope
