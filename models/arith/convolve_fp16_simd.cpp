// SPDX-License-Identifier: Apache-2.0
#include "models/arith/convolve_fp16_simd.h"

#include <cstring>

// Highway compiles the part between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/arith/convolve_fp16_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

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

/// Partial product I with the completion of the one before it.
template <int I>
HWY_INLINE BitVector partial(const Multiples& multiples, const Fp16Weight& weight) {
    return hn::Or(hn::ShiftLeft<2 * I>(multiples.of(weight.digits[I])),
                  hn::ShiftLeft<2 * I - 2>(multiples.completion(weight.digits[I - 1])));
}

/// What is left of the sign correction behind a shift (see fp16_mac.cpp).
HWY_INLINE BitVector correction(IntVector shift) {
    const Ints ints;
    const IntVector all = hn::Set(ints, static_cast<std::int32_t>(0xAAAB0000U));
    const IntVector shifted = hn::Shr(all, shift);
    const IntVector rounded = hn::IfThenElse(hn::Gt(shift, hn::Set(ints, 19)),
                                             hn::Add(shifted, hn::Set(ints, 1)), shifted);
    return hn::BitCast(Bits(), hn::IfThenZeroElse(hn::Gt(shift, hn::Set(ints, 28)), rounded));
}

/// Products behind their shift (0 to 31), cut as the two vectors of the adders.
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
    if (hn::AllTrue(ints, hn::Or(far, near))) {  // nothing is cut: plain products
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

HWY_EXPORT(multiply_fp16_block);

void multiply_fp16_block(std::span<const Fp16Weight> weights, const std::uint32_t* columns,
                         std::size_t slots, Fp16LaneSums& sums) {
    HWY_DYNAMIC_DISPATCH(multiply_fp16_block)(weights, columns, slots, sums);
}

}  // namespace npuscope
#endif
