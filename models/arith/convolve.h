// SPDX-License-Identifier: Apache-2.0
// Convolutions as the MAC cells and the accumulator compute them: fp16, int8 and int16.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/layout/tensor.h"

namespace npuscope {

/// Which products a MAC cell sums at once, and in which order these block sums reach the
/// accumulator. Rounding and saturation block by block depend on it.
///
///     direct:  channel block -> row -> column                  one block = one tap's channels
///     image:   block of c' = s * C + c -> row                  columns are adjacent
///     image, post-extended by f:  group of f rows              one block = f rows of all c'
///
/// source: NVDLA doc v1/ias/unit_description.rst, CSC; nv_full C model, runs
struct MacOrder {
    std::uint32_t block_channels = 64;  ///< multipliers of a MAC cell
    bool columns_are_channels = false;  ///< images: channel pre-extension
    std::uint32_t row_group = 1;        ///< images: rows combined, channel post-extension
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

// fp16 convolution, bit-exact to the hardware: block sums as the MAC cells form them, added one
// after the other and rounded as in the accumulator (see fp16_mac.h). Data and kernels hold bit
// patterns, and so does the padding value; results are bit patterns of fp32, [kernel][y][x].

/// The oracle: one output at a time.
Tensor<std::int32_t> convolve_fp16_plain(const Tensor<std::int16_t>& data,
                                         const Kernels<std::int16_t>& kernels,
                                         const Convolution& geometry, const MacOrder& order);

/// The same, vectorised over output positions.
Tensor<std::int32_t> convolve_fp16(const Tensor<std::int16_t>& data,
                                   const Kernels<std::int16_t>& kernels,
                                   const Convolution& geometry, const MacOrder& order);

// Exact integer convolution: data [c][y][x] and kernels [k][c][r][s] produce sums [k][y][x]. A
// simple oracle, and fast kernels that agree with it bit for bit. No rounding, no saturation: these
// are the sums that an accumulator of unlimited width would hold. The one exception is
// convolve_saturating, which follows an accumulator of limited width block by block.

/// The oracle: four nested sums, any element type.
template <class T>
Tensor<std::int64_t> convolve_plain(const Tensor<T>& data, const Kernels<T>& kernels,
                                    const Convolution& convolution);

/// True when every sum of int8 products fits into 32 bits, whatever the values.
constexpr bool sums_fit_32_bits(const KernelShape& shape) {
    // 2^14 = largest int8 product, so fewer than 2^17 of them
    return std::uint64_t{shape.channels} * shape.rows * shape.columns < (std::uint64_t{1} << 17U);
}

struct Columns;  // models/arith/convolve_simd.h

/// Data as the fast convolution loads it, in one of two forms, for one tensor and one geometry;
/// kept from one set of kernels to the next.
struct ArrangedData {
    std::vector<std::int16_t> pairs;
    std::shared_ptr<const Columns> columns;
};

/// Fast, for shapes where sums_fit_32_bits(kernels.shape); vectorised for the machine it runs on.
/// `arranged` is filled by the first call, and reused by later calls.
Tensor<std::int32_t> convolve(const Tensor<std::int8_t>& data, const Kernels<std::int8_t>& kernels,
                              const Convolution& convolution, ArrangedData* arranged = nullptr);

/// The same for any number of MACs.
Tensor<std::int64_t> convolve_wide(const Tensor<std::int8_t>& data,
                                   const Kernels<std::int8_t>& kernels,
                                   const Convolution& convolution);

/// int16, any number of MACs.
Tensor<std::int64_t> convolve_wide(const Tensor<std::int16_t>& data,
                                   const Kernels<std::int16_t>& kernels,
                                   const Convolution& convolution);

/// Largest magnitude that any partial sum of any kernel can reach for any data of type T.
template <class T>
std::int64_t partial_sum_bound(const Kernels<T>& kernels);

/// How an accumulator adds up products: the blocks of `order` are summed exactly, then added one
/// after the other to a sum that saturates at `bits` bits.
struct Accumulator {
    MacOrder order;
    unsigned bits = 34;
};

/// T: std::int8_t or std::int16_t.
template <class T>
Tensor<std::int64_t> convolve_saturating(const Tensor<T>& data, const Kernels<T>& kernels,
                                         const Convolution& convolution,
                                         const Accumulator& accumulator);

}  // namespace npuscope
