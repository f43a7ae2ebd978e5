// SPDX-License-Identifier: Apache-2.0
#include "models/arith/convolve_simd.h"

#include <algorithm>
#include <cstring>

// Highway compiles the part between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/arith/convolve_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Sums = hn::ScalableTag<std::int32_t>;
using Values = hn::ScalableTag<std::int16_t>;
using Vector = hn::Vec<Sums>;

/// acc + a0 * b0 + a1 * b1 in every 32-bit lane.
HWY_INLINE Vector multiply_pairs(hn::Vec<Values> a, hn::Vec<Values> b, Vector accumulated) {
    const Sums sums;
    Vector rest = hn::Zero(sums);
    const Vector first = hn::ReorderWidenMulAccumulate(sums, a, b, accumulated, rest);
    return hn::RearrangeToOddPlusEven(first, rest);
}

HWY_INLINE hn::Vec<Values> broadcast_pair(const std::int16_t* pair) {
    std::int32_t bits = 0;
    std::memcpy(&bits, pair, sizeof(bits));
    return hn::BitCast(Values(), hn::Set(Sums(), bits));
}

/// Two vectors of positions, four kernels: all channel pairs and taps.
/// `pairs` points at the first position, `weights` at the kernel block, `to` at the first sum.
HWY_NOINLINE void raster_tile(const RasterPlan& plan, std::size_t channel_pairs,
                              const std::int16_t* pairs, const std::int16_t* weights,
                              std::int32_t* to, std::size_t to_pitch) {
    const Sums sums;
    const Values values;
    const std::size_t lanes = hn::Lanes(sums);
    Vector a0 = hn::Zero(sums), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
    for (std::size_t c = 0; c < channel_pairs; ++c) {
        const std::int16_t* channel = pairs + c * plan.channel_size() * 2;
        for (const std::size_t offset : plan.tap_offsets()) {
            const auto x0 = hn::LoadU(values, channel + offset * 2);
            const auto x1 = hn::LoadU(values, channel + (offset + lanes) * 2);
            const auto wa = broadcast_pair(weights);
            a0 = multiply_pairs(x0, wa, a0);
            a1 = multiply_pairs(x1, wa, a1);
            const auto wb = broadcast_pair(weights + 2);
            b0 = multiply_pairs(x0, wb, b0);
            b1 = multiply_pairs(x1, wb, b1);
            const auto wc = broadcast_pair(weights + 4);
            c0 = multiply_pairs(x0, wc, c0);
            c1 = multiply_pairs(x1, wc, c1);
            const auto wd = broadcast_pair(weights + 6);
            d0 = multiply_pairs(x0, wd, d0);
            d1 = multiply_pairs(x1, wd, d1);
            weights += 2 * kernel_block;
        }
    }
    hn::StoreU(a0, sums, to);
    hn::StoreU(a1, sums, to + lanes);
    hn::StoreU(b0, sums, to + to_pitch);
    hn::StoreU(b1, sums, to + to_pitch + lanes);
    hn::StoreU(c0, sums, to + 2 * to_pitch);
    hn::StoreU(c1, sums, to + 2 * to_pitch + lanes);
    hn::StoreU(d0, sums, to + 3 * to_pitch);
    hn::StoreU(d1, sums, to + 3 * to_pitch + lanes);
}

/// Copies the output rows out of one block's raster of positions.
void copy_rows(const RasterPlan& plan, const std::vector<std::int32_t>& raster,
               std::size_t raster_pitch, std::size_t first_kernel, Tensor<std::int32_t>& sums) {
    const std::size_t height = sums.shape.height;
    const std::size_t width = sums.shape.width;
    const std::size_t last =
        std::min<std::size_t>(first_kernel + kernel_block, sums.shape.channels);
    for (std::size_t k = first_kernel; k < last; ++k) {
        const std::int32_t* from = raster.data() + (k - first_kernel) * raster_pitch;
        for (std::size_t y = 0; y < height; ++y) {
            std::memcpy(sums.values.data() + (k * height + y) * width, from + y * plan.pitch(),
                        width * sizeof(std::int32_t));
        }
    }
}

/// A block of kernels, and the start of its first one.
template <class T>
struct KernelBlock {
    const T* values;
    std::size_t count;     ///< of kernel_block; the remaining ones are zeros
    std::size_t channels;  ///< per kernel
    std::size_t taps;

    const T* channel(std::size_t kernel, std::size_t channel) const {
        return values + (kernel * channels + channel) * taps;
    }
};

/// Weights of a channel pair as the inner loop reads them: [tap][kernel][2].
template <class T>
void arrange_taps(const KernelBlock<T>& block, std::size_t channel, std::int16_t* to) {
    const bool pair = channel + 1 < block.channels;
    const auto wide = [](T weight) -> std::int16_t { return weight; };
    for (std::size_t tap = 0; tap < block.taps; ++tap, to += 2 * kernel_block) {
        for (std::size_t k = 0; k < block.count; ++k) {
            const T* from = block.channel(k, channel) + tap;
            to[2 * k] = wide(from[0]);
            to[2 * k + 1] = pair ? wide(from[block.taps]) : std::int16_t{0};
        }
    }
}

/// The weights of a block from channel `c` on, as [channel pair][tap][kernel][2]; `to` is for
/// channel 0.
template <class T>
void arrange_channels(const KernelBlock<T>& block, std::size_t c, std::int16_t* to) {
    for (; c < block.channels; c += 2) {
        arrange_taps(block, c, to + c * block.taps * kernel_block);
    }
}

void arrange_block(const KernelBlock<std::int16_t>& block, std::int16_t* to) {
    arrange_channels(block, 0, to);
}

#if HWY_TARGET == HWY_SCALAR
void arrange_block(const KernelBlock<std::int8_t>& block, std::int16_t* to) {
    arrange_channels(block, 0, to);
}
#else
using Bytes16 = hn::FixedTag<std::int8_t, 16>;
using BytePairs = hn::Vec<Bytes16>;

/// Eight pairs of bytes of each of four kernels as [pair][kernel][2], widened.
HWY_INLINE void store_pairs(BytePairs k0, BytePairs k1, BytePairs k2, BytePairs k3,
                            std::int16_t* to) {
    const hn::FixedTag<std::uint16_t, 8> pairs;
    const hn::FixedTag<std::uint32_t, 4> twos;
    const hn::FixedTag<std::int16_t, 8> wide;
    const Bytes16 bytes;
    const auto store = [&](auto of_two_pairs) {
        const BytePairs both = hn::BitCast(bytes, of_two_pairs);
        hn::StoreU(hn::PromoteTo(wide, hn::LowerHalf(both)), wide, to);
        hn::StoreU(hn::PromoteTo(wide, hn::UpperHalf(hn::Half<Bytes16>(), both)), wide, to + 8);
        to += 16;
    };
    const auto a = hn::BitCast(pairs, k0);
    const auto b = hn::BitCast(pairs, k1);
    const auto c = hn::BitCast(pairs, k2);
    const auto d = hn::BitCast(pairs, k3);
    const auto low_ab = hn::BitCast(twos, hn::InterleaveLower(pairs, a, b));
    const auto low_cd = hn::BitCast(twos, hn::InterleaveLower(pairs, c, d));
    store(hn::InterleaveLower(twos, low_ab, low_cd));
    store(hn::InterleaveUpper(twos, low_ab, low_cd));
    const auto high_ab = hn::BitCast(twos, hn::InterleaveUpper(pairs, a, b));
    const auto high_cd = hn::BitCast(twos, hn::InterleaveUpper(pairs, c, d));
    store(hn::InterleaveLower(twos, high_ab, high_cd));
    store(hn::InterleaveUpper(twos, high_ab, high_cd));
}

/// Eight taps of two neighbouring channels of a kernel, side by side.
HWY_INLINE BytePairs tap_pairs(const std::int8_t* channel, std::size_t taps) {
    const Bytes16 bytes;
    const hn::Half<Bytes16> half;
    return hn::InterleaveLower(bytes, hn::ZeroExtendVector(bytes, hn::LoadU(half, channel)),
                               hn::ZeroExtendVector(bytes, hn::LoadU(half, channel + taps)));
}

/// Eight pairs at a time, while that many remain.
void arrange_block(const KernelBlock<std::int8_t>& block, std::int16_t* to) {
    constexpr std::size_t together = 8;
    const std::size_t taps = block.taps;
    const bool whole = block.count == kernel_block;
    std::size_t c = 0;
    if (whole && taps == 1) {
        const auto channels = [&](std::size_t kernel) {
            return hn::LoadU(Bytes16(), block.channel(kernel, c));
        };
        for (; c + 2 * together <= block.channels; c += 2 * together) {
            store_pairs(channels(0), channels(1), channels(2), channels(3), to + c * kernel_block);
        }
    } else if (whole && taps >= together) {
        for (; c + 2 <= block.channels; c += 2) {
            for (std::size_t tap = 0; tap < taps; tap += together) {
                const std::size_t first = std::min(tap, taps - together);  // some taps twice
                const auto pairs = [&](std::size_t kernel) {
                    return tap_pairs(block.channel(kernel, c) + first, taps);
                };
                store_pairs(pairs(0), pairs(1), pairs(2), pairs(3),
                            to + (c * taps + first * 2) * kernel_block);
            }
        }
    }
    arrange_channels(block, c, to);
}
#endif

template <class T>
void convolve_any_raster(const RasterPlan& plan, const std::vector<std::int16_t>& pairs,
                         const Kernels<T>& kernels, Tensor<std::int32_t>& sums) {
    const std::size_t step = 2 * hn::Lanes(Sums());
    const std::size_t channel_pairs = pairs.size() / (2 * plan.channel_size());
    const std::size_t taps = plan.tap_offsets().size();
    const std::size_t raster_pitch = plan.positions() + position_slack;
    std::vector<std::int32_t> raster(kernel_block * raster_pitch);
    std::vector<std::int16_t> weights(channel_pairs * taps * kernel_block * 2);
    for (std::size_t k = 0; k < sums.shape.channels; k += kernel_block) {
        const std::size_t count = std::min<std::size_t>(kernel_block, sums.shape.channels - k);
        if (count < kernel_block) {
            std::fill(weights.begin(), weights.end(), std::int16_t{0});
        }
        arrange_block(KernelBlock<T>{kernels.values.data() + k * kernels.shape.channels * taps,
                                     count, kernels.shape.channels, taps},
                      weights.data());
        for (std::size_t position = 0; position < plan.positions(); position += step) {
            raster_tile(plan, channel_pairs, pairs.data() + position * 2, weights.data(),
                        raster.data() + position, raster_pitch);
        }
        copy_rows(plan, raster, raster_pitch, k, sums);
    }
}

void convolve_byte_raster(const RasterPlan& plan, const std::vector<std::int16_t>& pairs,
                          const Kernels<std::int8_t>& kernels, Tensor<std::int32_t>& sums) {
    convolve_any_raster(plan, pairs, kernels, sums);
}

void convolve_word_raster(const RasterPlan& plan, const std::vector<std::int16_t>& pairs,
                          const Kernels<std::int16_t>& kernels, Tensor<std::int32_t>& sums) {
    convolve_any_raster(plan, pairs, kernels, sums);
}

/// Dot products of one widened kernel with up to four columns; `length` is a multiple of 64.
HWY_NOINLINE void column_tile(const std::int16_t* kernel, const std::int16_t* columns,
                              std::size_t pitch, std::size_t length, std::int32_t* to) {
    const Sums sums;
    const Values values;
    Vector a = hn::Zero(sums), b = a, c = a, d = a;
    for (std::size_t i = 0; i < length; i += hn::Lanes(values)) {
        const auto weight = hn::LoadU(values, kernel + i);
        a = multiply_pairs(weight, hn::LoadU(values, columns + i), a);
        b = multiply_pairs(weight, hn::LoadU(values, columns + pitch + i), b);
        c = multiply_pairs(weight, hn::LoadU(values, columns + 2 * pitch + i), c);
        d = multiply_pairs(weight, hn::LoadU(values, columns + 3 * pitch + i), d);
    }
    to[0] = hn::GetLane(hn::SumOfLanes(sums, a));
    to[1] = hn::GetLane(hn::SumOfLanes(sums, b));
    to[2] = hn::GetLane(hn::SumOfLanes(sums, c));
    to[3] = hn::GetLane(hn::SumOfLanes(sums, d));
}

template <class T>
void convolve_any_columns(const Columns& columns, const Kernels<T>& kernels,
                          Tensor<std::int32_t>& sums) {
    const std::size_t outputs = std::size_t{sums.shape.height} * sums.shape.width;
    std::vector<std::int16_t> kernel(columns.pitch, 0);
    std::vector<std::int16_t> tail;  // the last positions, repeated to a whole tile
    const std::size_t whole = outputs / 4 * 4;
    if (whole < outputs) {
        tail.assign(4 * columns.pitch, 0);
        std::copy(columns.values.begin() + static_cast<std::ptrdiff_t>(whole * columns.pitch),
                  columns.values.end(), tail.begin());
    }
    std::int32_t tile[4] = {};
    for (std::size_t k = 0; k < sums.shape.channels; ++k) {
        std::copy_n(kernels.values.data() + k * columns.length, columns.length, kernel.data());
        for (std::size_t position = 0; position < outputs; position += 4) {
            const std::int16_t* from =
                position < whole ? columns.values.data() + position * columns.pitch : tail.data();
            column_tile(kernel.data(), from, columns.pitch, columns.pitch, tile);
            std::copy_n(tile, std::min<std::size_t>(4, outputs - position),
                        sums.values.data() + k * outputs + position);
        }
    }
}

void convolve_byte_columns(const Columns& columns, const Kernels<std::int8_t>& kernels,
                           Tensor<std::int32_t>& sums) {
    convolve_any_columns(columns, kernels, sums);
}

void convolve_word_columns(const Columns& columns, const Kernels<std::int16_t>& kernels,
                           Tensor<std::int32_t>& sums) {
    convolve_any_columns(columns, kernels, sums);
}

using Ints = hn::CappedTag<std::int32_t, fp16_lanes>;
using Bits = hn::CappedTag<std::uint32_t, fp16_lanes>;
using IntVector = hn::Vec<Ints>;
using BitVector = hn::Vec<Bits>;

struct Pair {
    BitVector sum;
    BitVector carry;
};

HWY_INLINE Pair compress(BitVector a, BitVector b, BitVector c) {
    const BitVector half = hn::Xor(a, b);
    return {hn::Xor(half, c), hn::ShiftLeft<1>(hn::Or(hn::And(a, b), hn::And(half, c)))};
}

/// The multiples of the data that a Booth digit selects, each with its inverted sign in bit 16, and
/// the one that completes an inverted multiple.
class Multiples {
 public:
    HWY_INLINE Multiples(BitVector mantissa, BitVector negative) {
        const Bits bits;
        const BitVector all = hn::Set(bits, 0x1FFFFU);
        const BitVector top = hn::Set(bits, 0x10000U);
        const BitVector flip = hn::And(negative, all);
        const BitVector one = hn::Xor(hn::Or(mantissa, top), flip);
        const BitVector two = hn::Xor(hn::Or(hn::ShiftLeft<1>(mantissa), top), flip);
        const BitVector completes = hn::ShiftRight<31>(negative);
        const BitVector otherwise = hn::Xor(completes, hn::Set(bits, 1U));
        put(0, top, hn::Zero(bits));
        put(1, one, completes);
        put(2, two, completes);
        put(3, hn::Xor(one, all), otherwise);
        put(4, hn::Xor(two, all), otherwise);
    }
    HWY_INLINE BitVector of(std::uint8_t digit) const {
        return hn::Load(Bits(), multiples_ + digit * fp16_lanes);
    }
    HWY_INLINE BitVector completion(std::uint8_t digit) const {
        return hn::Load(Bits(), completions_ + digit * fp16_lanes);
    }

 private:
    HWY_INLINE void put(std::size_t digit, BitVector multiple, BitVector completion) {
        hn::Store(multiple, Bits(), multiples_ + digit * fp16_lanes);
        hn::Store(completion, Bits(), completions_ + digit * fp16_lanes);
    }
    alignas(64) std::uint32_t multiples_[5 * fp16_lanes];
    alignas(64) std::uint32_t completions_[5 * fp16_lanes];
};

/// Partial product I with the completion of the previous one.
template <int I>
HWY_INLINE BitVector partial(const Multiples& multiples, const Fp16Weight& weight) {
    return hn::Or(hn::ShiftLeft<2 * I>(multiples.of(weight.digits[I])),
                  hn::ShiftLeft<2 * I - 2>(multiples.completion(weight.digits[I - 1])));
}

/// What is left of the sign correction after a shift (see fp16_mac.cpp).
HWY_INLINE BitVector correction(IntVector shift) {
    const Ints ints;
    const IntVector all = hn::Set(ints, static_cast<std::int32_t>(0xAAAB0000U));
    const IntVector shifted = hn::Shr(all, shift);
    const IntVector rounded = hn::IfThenElse(hn::Gt(shift, hn::Set(ints, 19)),
                                             hn::Add(shifted, hn::Set(ints, 1)), shifted);
    return hn::BitCast(Bits(), hn::IfThenZeroElse(hn::Gt(shift, hn::Set(ints, 28)), rounded));
}

/// Products after their shift (0 to 31), truncated as the two vectors of the adders are.
HWY_INLINE IntVector cut_product(const Fp16Weight& weight, BitVector mantissa, BitVector negative,
                                 IntVector shift) {
    const Multiples multiples(mantissa, negative);
    const std::array<std::uint8_t, 8>& digits = weight.digits;
    Pair low = compress(multiples.of(digits[0]), partial<1>(multiples, weight),
                        partial<2>(multiples, weight));
    low = compress(low.sum, low.carry, partial<3>(multiples, weight));
    low = compress(low.sum, low.carry, hn::ShiftLeft<6>(multiples.completion(digits[3])));
    Pair high = compress(hn::ShiftLeft<8>(multiples.of(digits[4])), partial<5>(multiples, weight),
                         partial<6>(multiples, weight));
    high = compress(high.sum, high.carry, partial<7>(multiples, weight));
    high = compress(high.sum, high.carry, hn::ShiftLeft<14>(multiples.completion(digits[7])));
    Pair two = compress(low.sum, low.carry, high.sum);
    two = compress(two.sum, two.carry, high.carry);
    const BitVector amount = hn::BitCast(Bits(), shift);
    const BitVector sum = hn::Add(hn::Shr(two.sum, amount), hn::Shr(two.carry, amount));
    return hn::BitCast(Ints(), hn::Add(sum, correction(shift)));
}

HWY_INLINE IntVector exponents(const Fp16Weight& weight, IntVector column) {
    return hn::Add(hn::ShiftRight<16>(column), hn::Set(Ints(), weight.exponent));
}

/// Signed products of one weight with the columns, aligned to the largest exponents.
HWY_INLINE IntVector products(const Fp16Weight& weight, IntVector column, IntVector largest) {
    const Ints ints;
    const IntVector shift = hn::ShiftLeft<2>(hn::Sub(largest, exponents(weight, column)));
    const auto far = hn::Gt(shift, hn::Set(ints, 31));
    const auto near = hn::Eq(shift, hn::Zero(ints));
    const IntVector mantissa = hn::And(column, hn::Set(ints, 0x3FFF));
    const IntVector negative = hn::Xor(hn::ShiftRight<31>(hn::ShiftLeft<16>(column)),
                                       hn::Set(ints, static_cast<std::int32_t>(weight.sign)));
    if (hn::AllTrue(ints, hn::Or(far, near))) {  // nothing is truncated: simple products
        const IntVector product =
            hn::Mul(mantissa, hn::Set(ints, static_cast<std::int32_t>(weight.mantissa)));
        return hn::IfThenZeroElse(far, hn::Sub(hn::Xor(product, negative), negative));
    }
    const IntVector cut =
        cut_product(weight, hn::BitCast(Bits(), mantissa), hn::BitCast(Bits(), negative),
                    hn::Min(shift, hn::Set(ints, 31)));
    return hn::IfThenZeroElse(far, cut);
}

/// Sums of the products in two halves, so that 64 of them stay within 32 bits.
struct Halves {
    alignas(64) std::int32_t low[Fp16LaneSums::max_slots][fp16_lanes];
    alignas(64) std::int32_t high[Fp16LaneSums::max_slots][fp16_lanes];
};

HWY_INLINE void add_to(std::int32_t* sum, IntVector value) {
    const Ints ints;
    hn::Store(hn::Add(hn::Load(ints, sum), value), ints, sum);
}

void multiply_fp16_block(std::span<const Fp16Weight> weights, const std::uint32_t* columns,
                         std::size_t slots, Fp16LaneSums& sums) {
    const Ints ints;
    Halves halves;
    std::memset(halves.low, 0, slots * sizeof(halves.low[0]));
    std::memset(halves.high, 0, slots * sizeof(halves.high[0]));
    const auto* from = reinterpret_cast<const std::int32_t*>(columns);
    for (std::size_t lane = 0; lane < fp16_lanes; lane += hn::Lanes(ints)) {
        IntVector largest = hn::Zero(ints);
        for (const Fp16Weight& weight : weights) {
            const IntVector column = hn::LoadU(ints, from + weight.element * fp16_lanes + lane);
            largest = hn::Max(largest, exponents(weight, column));
        }
        hn::StoreU(hn::ShiftLeft<2>(largest), ints, sums.exponent + lane);
        for (const Fp16Weight& weight : weights) {
            const IntVector column = hn::LoadU(ints, from + weight.element * fp16_lanes + lane);
            const IntVector product = products(weight, column, largest);
            add_to(halves.low[weight.slot] + lane, hn::And(product, hn::Set(ints, 0xFFFF)));
            add_to(halves.high[weight.slot] + lane, hn::ShiftRight<16>(product));
        }
    }
    for (std::size_t slot = 0; slot < slots; ++slot) {
        for (std::size_t lane = 0; lane < fp16_lanes; ++lane) {
            sums.mantissa[slot][lane] =
                std::int64_t{halves.high[slot][lane]} * 65536 + halves.low[slot][lane];
        }
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npuscope {

HWY_EXPORT(convolve_byte_raster);
HWY_EXPORT(convolve_word_raster);
HWY_EXPORT(convolve_byte_columns);
HWY_EXPORT(convolve_word_columns);

void convolve_raster(const RasterPlan& plan, const std::vector<std::int16_t>& pairs,
                     const Kernels<std::int8_t>& kernels, Tensor<std::int32_t>& sums) {
    HWY_DYNAMIC_DISPATCH(convolve_byte_raster)(plan, pairs, kernels, sums);
}

void convolve_raster(const RasterPlan& plan, const std::vector<std::int16_t>& pairs,
                     const Kernels<std::int16_t>& kernels, Tensor<std::int32_t>& sums) {
    HWY_DYNAMIC_DISPATCH(convolve_word_raster)(plan, pairs, kernels, sums);
}

void convolve_columns(const Columns& columns, const Kernels<std::int8_t>& kernels,
                      Tensor<std::int32_t>& sums) {
    HWY_DYNAMIC_DISPATCH(convolve_byte_columns)(columns, kernels, sums);
}

void convolve_columns(const Columns& columns, const Kernels<std::int16_t>& kernels,
                      Tensor<std::int32_t>& sums) {
    HWY_DYNAMIC_DISPATCH(convolve_word_columns)(columns, kernels, sums);
}

HWY_EXPORT(multiply_fp16_block);

void multiply_fp16_block(std::span<const Fp16Weight> weights, const std::uint32_t* columns,
                         std::size_t slots, Fp16LaneSums& sums) {
    HWY_DYNAMIC_DISPATCH(multiply_fp16_block)(weights, columns, slots, sums);
}

}  // namespace npuscope
#endif
