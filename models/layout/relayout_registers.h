// SPDX-License-Identifier: Apache-2.0
// Registers of 16-byte blocks and the perfect shuffle over them. Compiled anew for each kind of
// vectors, as Highway asks: the guard lets it in once for each.
#if defined(NPUSCOPE_RELAYOUT_REGISTERS) == defined(HWY_TARGET_TOGGLE)
#ifdef NPUSCOPE_RELAYOUT_REGISTERS
#undef NPUSCOPE_RELAYOUT_REGISTERS
#else
#define NPUSCOPE_RELAYOUT_REGISTERS
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE HWY_MAYBE_UNUSED std::ptrdiff_t times(std::size_t count, std::ptrdiff_t step) {
    return static_cast<std::ptrdiff_t>(count) * step;
}

#if HWY_TARGET != HWY_SCALAR

template <class T, std::size_t Bytes>
using Vectors = hn::CappedTag<T, Bytes / sizeof(T)>;

/// One step of the perfect shuffle over L registers.
template <class D, std::size_t L>
HWY_INLINE void shuffle_step(D d, hn::Vec<D> (&v)[L]) {
    hn::Vec<D> out[L];
    for (std::size_t i = 0; i < L / 2; ++i) {
        out[2 * i] = hn::InterleaveLower(d, v[i], v[i + L / 2]);
        out[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + L / 2]);
    }
    for (std::size_t i = 0; i < L; ++i) {
        v[i] = out[i];
    }
}

constexpr std::size_t log2_of(std::size_t n) { return n < 2 ? 0 : 1 + log2_of(n / 2); }

/// The blocks of 16 bytes of a register, each `step` bytes behind the one before.
template <class D>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, std::uint8_t* to, std::ptrdiff_t step) {
    constexpr std::size_t blocks = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) / 16;
    if constexpr (blocks == 1) {
        hn::StoreU(v, d, reinterpret_cast<hn::TFromD<D>*>(to));
    } else {
        const hn::Half<D> half;
        store_blocks(half, hn::LowerHalf(half, v), to, step);
        store_blocks(half, hn::UpperHalf(half, v), to + times(blocks / 2, step), step);
    }
}

template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const std::uint8_t* from, std::ptrdiff_t step) {
    constexpr std::size_t blocks = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) / 16;
    if constexpr (blocks == 1) {
        return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(from));
    } else {
        const hn::Half<D> half;
        return hn::Combine(d, load_blocks(half, from + times(blocks / 2, step), step),
                           load_blocks(half, from, step));
    }
}

/// L rows as registers whose blocks are pieces: block b of register i is piece b * L + i.
template <class D, std::size_t L>
HWY_INLINE void load_rows(D d, const std::uint8_t* rows, std::ptrdiff_t row, hn::Vec<D> (&v)[L]) {
    for (std::size_t i = 0; i < L; ++i) {
        v[i] = hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(rows + times(i, row)));
    }
    for (std::size_t step = 0; step < log2_of(L); ++step) {
        shuffle_step<D, L>(d, v);
    }
}

template <class D>
HWY_INLINE void store(hn::Vec<D> v, std::uint8_t* to, bool stream) {
    if (stream) {
        hn::Stream(v, D(), reinterpret_cast<hn::TFromD<D>*>(to));
    } else {
        hn::StoreU(v, D(), reinterpret_cast<hn::TFromD<D>*>(to));
    }
}

/// Registers whose blocks are pieces, as load_rows makes them, to L rows.
template <class D, std::size_t L>
HWY_INLINE void store_rows(D d, hn::Vec<D> (&v)[L], std::ptrdiff_t row, std::uint8_t* rows,
                           bool stream) {
    for (std::size_t step = 0; step < log2_of(16 / sizeof(hn::TFromD<D>)); ++step) {
        shuffle_step<D, L>(d, v);
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < L; ++i) {
        store<D>(v[i], rows + times(i, row), stream);
    }
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#endif
