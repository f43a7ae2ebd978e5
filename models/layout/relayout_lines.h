// SPDX-License-Identifier: Apache-2.0
// Interleaving into whole lines, where a register holds one: four blocks of 16 bytes. Compiled anew
// for each kind of vectors, as relayout_registers.h.
#if defined(NPUSCOPE_RELAYOUT_LINES) == defined(HWY_TARGET_TOGGLE)
#ifdef NPUSCOPE_RELAYOUT_LINES
#undef NPUSCOPE_RELAYOUT_LINES
#else
#define NPUSCOPE_RELAYOUT_LINES
#endif

#include "models/layout/relayout_kernels.h"
#include "models/layout/relayout_registers.h"

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

/// Lines of the next rows, into a second-level cache: many rows share their places in the first.
HWY_INLINE HWY_MAYBE_UNUSED void fetch(ShuffleShape shape, const std::uint8_t* rows) {
    for (std::size_t i = 0; i < shape.lanes && shape.ahead != 0; ++i) {
        __builtin_prefetch(rows + shape.ahead + times(i, shape.row), 0, 2);
    }
}

#if HWY_TARGET != HWY_SCALAR && HWY_MAX_BYTES >= 64

/// Blocks of two registers, two by two: [a0 b0 a2 b2] and [a1 b1 a3 b3].
template <class V>
HWY_INLINE void turn_blocks(V& a, V& b) {
    const V even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
    b = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
    a = even;
}

/// Four registers of four blocks: block b of register i becomes block i of register b.
template <class D>
HWY_INLINE void transpose_blocks(D d, hn::Vec<D> (&q)[4]) {
    turn_blocks(q[0], q[1]);
    turn_blocks(q[2], q[3]);
    const hn::Vec<D> first = hn::ConcatLowerLower(d, q[2], q[0]);
    const hn::Vec<D> second = hn::ConcatLowerLower(d, q[3], q[1]);
    q[2] = hn::ConcatUpperUpper(d, q[2], q[0]);
    q[3] = hn::ConcatUpperUpper(d, q[3], q[1]);
    q[0] = first;
    q[1] = second;
}

/// Groups of rows, 64 bytes of each: four pieces at a time make a line, the neighbours of one
/// column or of several.
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

/// Columns that were done: whole vectors where groups make lines.
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#endif
