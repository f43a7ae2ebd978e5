// SPDX-License-Identifier: Apache-2.0
// Registers of 16-byte blocks and the perfect shuffle over them. Compiled once per vector type, as
// Highway requires: the guard includes it once for each.
#if defined(NPUSCOPE_RELAYOUT_REGISTERS) == defined(HWY_TARGET_TOGGLE)
#ifdef NPUSCOPE_RELAYOUT_REGISTERS
#undef NPUSCOPE_RELAYOUT_REGISTERS
#else
#define NPUSCOPE_RELAYOUT_REGISTERS
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "models/layout/relayout_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE HWY_MAYBE_UNUSED std::ptrdiff_t times(std::size_t count, std::ptrdiff_t step) {
    return static_cast<std::ptrdiff_t>(count) * step;
}

/// Prefetches the next rows' lines into a second-level cache: many rows share sets of the first.
HWY_INLINE HWY_MAYBE_UNUSED void fetch(ShuffleShape shape, const std::uint8_t* rows) {
    for (std::size_t i = 0; i < shape.lanes && shape.ahead != 0; ++i) {
        __builtin_prefetch(rows + shape.ahead + times(i, shape.row), 0, 2);
    }
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

/// The blocks of 16 bytes of a register, each `step` bytes after the previous one.
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

/// Registers whose blocks are pieces, as from load_rows, to L rows.
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

#if HWY_MAX_BYTES >= 64

// Interleaving into whole lines, where a register holds one: four blocks of 16 bytes.

/// Blocks of two registers, pairwise: [a0 b0 a2 b2] and [a1 b1 a3 b3].
template <class V>
HWY_INLINE void exchange_blocks(V& a, V& b) {
    const V even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
    b = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
    a = even;
}

/// Four registers of four blocks: block b of register i becomes block i of register b.
template <class D>
HWY_INLINE void transpose_blocks(D d, hn::Vec<D> (&q)[4]) {
    exchange_blocks(q[0], q[1]);
    exchange_blocks(q[2], q[3]);
    const hn::Vec<D> first = hn::ConcatLowerLower(d, q[2], q[0]);
    const hn::Vec<D> second = hn::ConcatLowerLower(d, q[3], q[1]);
    q[2] = hn::ConcatUpperUpper(d, q[2], q[0]);
    q[3] = hn::ConcatUpperUpper(d, q[3], q[1]);
    q[0] = first;
    q[1] = second;
}

/// Groups of rows, 64 bytes of each: four pieces at a time form a line, neighbours of one column or
/// of several.
template <class T, std::size_t L, std::size_t Groups>
HWY_INLINE void interleave_lines(ShuffleShape shape, const std::uint8_t* rows,
                                 std::uint8_t* pieces) {
    using D = Vectors<T, 64>;
    const D d;
    hn::Vec<D> v[Groups][L];
    for (std::size_t group = 0; group < Groups; ++group) {
        load_rows<D, L>(d, rows + times(group, shape.group_row), shape.row, v[group]);
    }
    constexpr std::size_t columns = 4 / Groups;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < L; i += columns) {
        hn::Vec<D> q[4];
        for (std::size_t k = 0; k < 4; ++k) {
            q[k] = v[k % Groups][i + k / Groups];
        }
        transpose_blocks(d, q);
        for (std::size_t b = 0; b < 4; ++b) {
            store<D>(q[b], pieces + times(b * L + i, shape.piece), shape.stream);
        }
    }
}

/// Returns the columns done: whole vectors where groups form lines.
template <class T, std::size_t L, std::size_t Groups>
std::size_t interleave_wide(ShuffleShape shape, const std::uint8_t* rows, std::uint8_t* pieces) {
    std::size_t done = 0;
    for (; done + 64 / sizeof(T) <= shape.columns; done += 64 / sizeof(T)) {
        for (std::size_t group = 0; group < Groups; ++group) {
            fetch(shape, rows + times(group, shape.group_row));
        }
        interleave_lines<T, L, Groups>(shape, rows, pieces);
        rows += 64;
        pieces += times(4 * L, shape.piece);
    }
    return done;
}

#endif

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#endif
