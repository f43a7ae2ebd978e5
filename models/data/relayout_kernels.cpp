// SPDX-License-Identifier: Apache-2.0
#include "models/data/relayout_kernels.h"

#include <cstring>

#include "models/base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/data/relayout_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // no vectors: the same result unit by unit

/// Byte of lane `lane` of column `column` among the pieces of L lanes.
template <class T, std::size_t L>
std::ptrdiff_t in_pieces(std::size_t column, std::size_t lane, std::ptrdiff_t piece) {
    const std::size_t unit = column * L + lane;
    constexpr std::size_t units = 16 / sizeof(T);
    return static_cast<std::ptrdiff_t>(unit / units) * piece +
           static_cast<std::ptrdiff_t>(unit % units * sizeof(T));
}

template <class T, std::size_t L>
void interleave(const ShuffleShape& shape, const std::uint8_t* rows, std::uint8_t* pieces) {
    for (std::size_t column = 0; column < shape.columns; ++column) {
        for (std::size_t lane = 0; lane < L; ++lane) {
            std::memcpy(pieces + in_pieces<T, L>(column, lane, shape.piece),
                        rows + static_cast<std::ptrdiff_t>(lane) * shape.row + column * sizeof(T),
                        sizeof(T));
        }
    }
}

template <class T, std::size_t L>
void deinterleave(const ShuffleShape& shape, const std::uint8_t* pieces, std::uint8_t* rows) {
    for (std::size_t column = 0; column < shape.columns; ++column) {
        for (std::size_t lane = 0; lane < L; ++lane) {
            std::memcpy(rows + static_cast<std::ptrdiff_t>(lane) * shape.row + column * sizeof(T),
                        pieces + in_pieces<T, L>(column, lane, shape.piece), sizeof(T));
        }
    }
}

void stream_lines(const std::uint8_t* from, std::uint8_t* to, std::size_t bytes) {
    std::memcpy(to, from, bytes);
}

#else

template <class T, std::size_t N>
using Blocks = hn::CappedTag<T, N>;

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

/// Rows at `rows` for two (or one) blocks of 16 bytes to L pieces for each block.
template <class T, std::size_t L, std::size_t Vector>
HWY_INLINE void interleave_block(const std::uint8_t* rows, std::ptrdiff_t row, std::uint8_t* pieces,
                                 std::ptrdiff_t piece) {
    const Blocks<T, Vector / sizeof(T)> d;
    using V = hn::Vec<decltype(d)>;
    V v[L];
    for (std::size_t i = 0; i < L; ++i) {
        v[i] =
            hn::LoadU(d, reinterpret_cast<const T*>(rows + static_cast<std::ptrdiff_t>(i) * row));
    }
    for (std::size_t step = 0; step < log2_of(L); ++step) {
        shuffle_step<decltype(d), L>(d, v);
    }
    const auto at = [&](std::size_t index) {
        return reinterpret_cast<T*>(pieces + static_cast<std::ptrdiff_t>(index) * piece);
    };
    if constexpr (Vector == 16) {
        for (std::size_t i = 0; i < L; ++i) {
            hn::StoreU(v[i], d, at(i));
        }
    } else {
        if (piece == 16) {
            for (std::size_t i = 0; i < L; i += 2) {
                hn::StoreU(hn::ConcatLowerLower(d, v[i + 1], v[i]), d, at(i));
                hn::StoreU(hn::ConcatUpperUpper(d, v[i + 1], v[i]), d, at(L + i));
            }
            return;
        }
        const hn::Half<decltype(d)> half;
        for (std::size_t i = 0; i < L; ++i) {
            hn::StoreU(hn::LowerHalf(half, v[i]), half, at(i));
            hn::StoreU(hn::UpperHalf(half, v[i]), half, at(L + i));
        }
    }
}

/// The reverse.
template <class T, std::size_t L, std::size_t Vector>
HWY_INLINE void deinterleave_block(const std::uint8_t* pieces, std::ptrdiff_t piece,
                                   std::uint8_t* rows, std::ptrdiff_t row) {
    const Blocks<T, Vector / sizeof(T)> d;
    using V = hn::Vec<decltype(d)>;
    V v[L];
    const auto at = [&](std::size_t index) {
        return reinterpret_cast<const T*>(pieces + static_cast<std::ptrdiff_t>(index) * piece);
    };
    for (std::size_t i = 0; i < L; ++i) {
        if constexpr (Vector == 16) {
            v[i] = hn::LoadU(d, at(i));
        } else {
            const hn::Half<decltype(d)> half;
            v[i] = hn::Combine(d, hn::LoadU(half, at(L + i)), hn::LoadU(half, at(i)));
        }
    }
    for (std::size_t step = 0; step < log2_of(16 / sizeof(T)); ++step) {
        shuffle_step<decltype(d), L>(d, v);
    }
    for (std::size_t i = 0; i < L; ++i) {
        hn::StoreU(v[i], d, reinterpret_cast<T*>(rows + static_cast<std::ptrdiff_t>(i) * row));
    }
}

constexpr std::size_t wide = HWY_MAX_BYTES < 32 ? 16 : 32;  // vectors of one or two 16-byte blocks

template <class T, std::size_t L>
void interleave(const ShuffleShape& shape, const std::uint8_t* rows, std::uint8_t* pieces) {
    constexpr std::size_t block = 16 / sizeof(T);  // columns in 16 bytes of a row
    constexpr std::size_t step = wide / sizeof(T);
    const std::ptrdiff_t advance = static_cast<std::ptrdiff_t>(L) * shape.piece;
    std::size_t done = 0;
    for (; done + step <= shape.columns; done += step) {
        if (done * sizeof(T) % 64 == 0) {
            const std::uint8_t* next = rows + done * sizeof(T) + shape.ahead;
            for (std::size_t i = 0; i < L; ++i, next += shape.row) {
                hwy::Prefetch(next);
            }
        }
        interleave_block<T, L, wide>(rows + done * sizeof(T), shape.row, pieces, shape.piece);
        pieces += advance * static_cast<std::ptrdiff_t>(step / block);
    }
    for (; done < shape.columns; done += block) {
        interleave_block<T, L, 16>(rows + done * sizeof(T), shape.row, pieces, shape.piece);
        pieces += advance;
    }
}

template <class T, std::size_t L>
void deinterleave(const ShuffleShape& shape, const std::uint8_t* pieces, std::uint8_t* rows) {
    constexpr std::size_t block = 16 / sizeof(T);
    constexpr std::size_t step = wide / sizeof(T);
    const std::ptrdiff_t advance = static_cast<std::ptrdiff_t>(L) * shape.piece;
    std::size_t done = 0;
    for (; done + step <= shape.columns; done += step) {
        deinterleave_block<T, L, wide>(pieces, shape.piece, rows + done * sizeof(T), shape.row);
        pieces += advance * static_cast<std::ptrdiff_t>(step / block);
    }
    for (; done < shape.columns; done += block) {
        deinterleave_block<T, L, 16>(pieces, shape.piece, rows + done * sizeof(T), shape.row);
        pieces += advance;
    }
}

void stream_lines(const std::uint8_t* from, std::uint8_t* to, std::size_t bytes) {
    const Blocks<std::uint8_t, wide> d;
    for (std::size_t at = 0; at < bytes; at += hn::Lanes(d)) {
        hn::Stream(hn::LoadU(d, from + at), d, to + at);
    }
}

#endif

template <class T>
bool interleave_lanes(const ShuffleShape& shape, const std::uint8_t* rows, std::uint8_t* pieces) {
    if constexpr (sizeof(T) == 1) {
        if (shape.lanes == 16) {
            return interleave<T, 16>(shape, rows, pieces), true;
        }
    }
    if constexpr (sizeof(T) <= 2) {
        if (shape.lanes == 8) {
            return interleave<T, 8>(shape, rows, pieces), true;
        }
    }
    if constexpr (sizeof(T) <= 4) {
        if (shape.lanes == 4) {
            return interleave<T, 4>(shape, rows, pieces), true;
        }
    }
    return shape.lanes == 2 && (interleave<T, 2>(shape, rows, pieces), true);
}

template <class T>
bool deinterleave_lanes(const ShuffleShape& shape, const std::uint8_t* pieces, std::uint8_t* rows) {
    if constexpr (sizeof(T) == 1) {
        if (shape.lanes == 16) {
            return deinterleave<T, 16>(shape, pieces, rows), true;
        }
    }
    if constexpr (sizeof(T) <= 2) {
        if (shape.lanes == 8) {
            return deinterleave<T, 8>(shape, pieces, rows), true;
        }
    }
    if constexpr (sizeof(T) <= 4) {
        if (shape.lanes == 4) {
            return deinterleave<T, 4>(shape, pieces, rows), true;
        }
    }
    return shape.lanes == 2 && (deinterleave<T, 2>(shape, pieces, rows), true);
}

bool interleave_units(const ShuffleShape& shape, const std::uint8_t* rows, std::uint8_t* pieces) {
    switch (shape.unit) {
        case 1:
            return interleave_lanes<std::uint8_t>(shape, rows, pieces);
        case 2:
            return interleave_lanes<std::uint16_t>(shape, rows, pieces);
        case 4:
            return interleave_lanes<std::uint32_t>(shape, rows, pieces);
        default:
            return shape.unit == 8 && interleave_lanes<std::uint64_t>(shape, rows, pieces);
    }
}

bool deinterleave_units(const ShuffleShape& shape, const std::uint8_t* pieces, std::uint8_t* rows) {
    switch (shape.unit) {
        case 1:
            return deinterleave_lanes<std::uint8_t>(shape, pieces, rows);
        case 2:
            return deinterleave_lanes<std::uint16_t>(shape, pieces, rows);
        case 4:
            return deinterleave_lanes<std::uint32_t>(shape, pieces, rows);
        default:
            return shape.unit == 8 && deinterleave_lanes<std::uint64_t>(shape, pieces, rows);
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npuscope {

HWY_EXPORT(interleave_units);
HWY_EXPORT(deinterleave_units);
HWY_EXPORT(stream_lines);

void interleave_rows(const ShuffleShape& shape, const std::uint8_t* rows, std::uint8_t* pieces) {
    NPU_CHECK(HWY_DYNAMIC_DISPATCH(interleave_units)(shape, rows, pieces),
              "units and lanes have a kernel");
}

void deinterleave_rows(const ShuffleShape& shape, const std::uint8_t* pieces, std::uint8_t* rows) {
    NPU_CHECK(HWY_DYNAMIC_DISPATCH(deinterleave_units)(shape, pieces, rows),
              "units and lanes have a kernel");
}

void stream_bytes(const std::uint8_t* from, std::uint8_t* to, std::size_t bytes) {
    HWY_DYNAMIC_DISPATCH(stream_lines)(from, to, bytes);
}

void end_streams() { hwy::FlushStream(); }

}  // namespace npuscope
#endif  // HWY_ONCE
