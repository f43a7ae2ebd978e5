// SPDX-License-Identifier: Apache-2.0
#include "models/layout/relayout_kernels.h"

#include <cstring>

#include "models/base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/layout/relayout_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/layout/relayout_registers.h"

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t wide = HWY_MAX_BYTES < line_bytes ? HWY_MAX_BYTES : line_bytes;

#if HWY_TARGET == HWY_SCALAR  // no vectors: the same result unit by unit

/// Calls visit(byte among the rows, byte among the pieces) for every unit.
template <class T, std::size_t L, class Visit>
void visit_units(const ShuffleShape& shape, Visit visit) {
    constexpr std::size_t units = 16 / sizeof(T);
    for (std::size_t column = 0; column < shape.columns; ++column) {
        for (std::size_t group = 0; group < shape.groups; ++group) {
            for (std::size_t lane = 0; lane < L; ++lane) {
                const std::size_t unit = column * L + lane;
                visit(times(group, shape.group_row) + times(lane, shape.row) +
                          times(column, sizeof(T)),
                      times(group, 16) + times(unit / units, shape.piece) +
                          times(unit % units, sizeof(T)));
            }
        }
    }
}

template <class T, std::size_t L>
void interleave(const ShuffleShape& shape, const std::uint8_t* rows, std::uint8_t* pieces) {
    visit_units<T, L>(shape, [&](std::ptrdiff_t row, std::ptrdiff_t piece) {
        std::memcpy(pieces + piece, rows + row, sizeof(T));
    });
}

template <class T, std::size_t L>
void deinterleave(const ShuffleShape& shape, const std::uint8_t* pieces, std::uint8_t* rows) {
    visit_units<T, L>(shape, [&](std::ptrdiff_t row, std::ptrdiff_t piece) {
        std::memcpy(rows + row, pieces + piece, sizeof(T));
    });
}

#else

template <class T, std::size_t L, std::size_t Bytes>
HWY_INLINE void interleave_block(ShuffleShape shape, const std::uint8_t* rows,
                                 std::uint8_t* pieces) {
    using D = Vectors<T, Bytes>;
    const D d;
    hn::Vec<D> v[L];
    load_rows<D, L>(d, rows, shape.row, v);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < L; ++i) {
        store_blocks(d, v[i], pieces + times(i, shape.piece), times(L, shape.piece));
    }
}

template <class T, std::size_t L, std::size_t Bytes>
HWY_INLINE void deinterleave_block(ShuffleShape shape, const std::uint8_t* pieces,
                                   std::uint8_t* rows, bool stream) {
    using D = Vectors<T, Bytes>;
    const D d;
    hn::Vec<D> v[L];
    for (std::size_t i = 0; i < L; ++i) {
        v[i] = load_blocks(d, pieces + times(i, shape.piece), times(L, shape.piece));
    }
    store_rows<D, L>(d, v, shape.row, rows, stream);
}

/// One group from column `done` on.
template <class T, std::size_t L>
void interleave_group(ShuffleShape shape, std::size_t done, const std::uint8_t* rows,
                      std::uint8_t* pieces) {
    constexpr std::size_t block = 16 / sizeof(T);  // columns in 16 bytes of a row
    constexpr std::size_t step = wide / sizeof(T);
    const std::ptrdiff_t advance = times(L, shape.piece);
    pieces += times(done / block, advance);
    for (; done + step <= shape.columns; done += step) {
        if (done * sizeof(T) % 64 == 0) {
            fetch(shape, rows + done * sizeof(T));
        }
        interleave_block<T, L, wide>(shape, rows + done * sizeof(T), pieces);
        pieces += times(step / block, advance);
    }
    for (; done < shape.columns; done += block) {
        interleave_block<T, L, 16>(shape, rows + done * sizeof(T), pieces);
        pieces += advance;
    }
}

template <class T, std::size_t L>
void interleave(ShuffleShape shape, const std::uint8_t* rows, std::uint8_t* pieces) {
    std::size_t done = 0;
#if HWY_MAX_BYTES >= 64  // as many rows as registers hold
    if constexpr (4 * L <= most_line_rows) {
        done = shape.groups == 4 ? interleave_wide<T, L, 4>(shape, rows, pieces) : 0;
    }
    if constexpr (2 * L <= most_line_rows) {
        const bool pairs = shape.groups == 2 && shape.piece == 32;
        done = pairs ? interleave_wide<T, L, 2>(shape, rows, pieces) : done;
    }
    if constexpr (L >= 4) {
        const bool together = shape.groups == 1 && shape.piece == 16;
        done = together ? interleave_wide<T, L, 1>(shape, rows, pieces) : done;
    }
#endif
    for (std::size_t group = 0; group < shape.groups; ++group) {
        interleave_group<T, L>(shape, done, rows + times(group, shape.group_row),
                               pieces + times(group, 16));
    }
}

/// One group from column `done` up to column `last`, or as far as whole registers of `Bytes` cover.
template <class T, std::size_t L, std::size_t Bytes>
HWY_INLINE std::size_t deinterleave_group(ShuffleShape shape, std::size_t group, std::size_t done,
                                          std::size_t last, const std::uint8_t* pieces,
                                          std::uint8_t* rows) {
    for (; done + Bytes / sizeof(T) <= last; done += Bytes / sizeof(T)) {
        deinterleave_block<T, L, Bytes>(
            shape, pieces + times(group, 16) + times(done * sizeof(T) / 16 * L, shape.piece),
            rows + times(group, shape.group_row) + done * sizeof(T), shape.stream && Bytes == wide);
    }
    return done;
}

/// Prefetches a share of a later call's pieces, which are contiguous.
HWY_INLINE void fetch_pieces(ShuffleShape shape, std::size_t group, const std::uint8_t* pieces) {
    const std::size_t share = shape.columns * shape.lanes * shape.unit;
    pieces += shape.ahead + times(group, static_cast<std::ptrdiff_t>(share));
    for (std::size_t at = 0; at < share; at += 64) {
        hwy::Prefetch(pieces + at);
    }
}

/// Few rows are written in parallel; many rows group by group, some columns of each.
template <class T, std::size_t L>
void deinterleave(ShuffleShape shape, const std::uint8_t* pieces, std::uint8_t* rows) {
    const std::size_t part = shape.ahead == 0 ? wide / sizeof(T) : shape.columns;
    std::size_t done = 0;
    for (std::size_t last = part; last <= shape.columns; last += part) {
        std::size_t covered = done;
        for (std::size_t group = 0; group < shape.groups; ++group) {
            if (shape.ahead != 0) {
                fetch_pieces(shape, group, pieces);
            }
            covered = deinterleave_group<T, L, wide>(shape, group, done, last, pieces, rows);
        }
        done = covered;
    }
    for (std::size_t group = 0; group < shape.groups; ++group) {
        deinterleave_group<T, L, 16>(shape, group, done, shape.columns, pieces, rows);
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

void spread(const RowShape& shape, const std::uint8_t* stage, std::uint8_t* to) {
    const hn::CappedTag<std::uint8_t, wide> d;
    for (std::size_t row = 0; row < shape.rows; ++row, stage += shape.run, to += shape.row) {
        std::size_t at = 0;
        for (; at + hn::Lanes(d) <= shape.run; at += hn::Lanes(d)) {
            hn::StoreU(hn::LoadU(d, stage + at), d, to + at);
        }
        std::memcpy(to + at, stage + at, shape.run - at);
    }
}

void stream(const RowShape& shape, const std::uint8_t* stage, std::uint8_t* to) {
    const hn::CappedTag<std::uint8_t, wide> d;
    for (std::size_t row = 0; row < shape.rows; ++row, stage += shape.run, to += shape.row) {
        for (std::size_t at = 0; at < shape.run; at += hn::Lanes(d)) {
            hn::Stream(hn::LoadU(d, stage + at), d, to + at);
        }
    }
}

std::size_t widest() { return wide; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npuscope {

HWY_EXPORT(interleave_units);
HWY_EXPORT(deinterleave_units);
void interleave_rows(const ShuffleShape& shape, const std::uint8_t* rows, std::uint8_t* pieces) {
    NPU_CHECK(HWY_DYNAMIC_DISPATCH(interleave_units)(shape, rows, pieces),
              "units and lanes have a kernel");
}

void deinterleave_rows(const ShuffleShape& shape, const std::uint8_t* pieces, std::uint8_t* rows) {
    NPU_CHECK(HWY_DYNAMIC_DISPATCH(deinterleave_units)(shape, pieces, rows),
              "units and lanes have a kernel");
}

HWY_EXPORT(spread);
HWY_EXPORT(stream);
HWY_EXPORT(widest);

void spread_rows(const RowShape& shape, const std::uint8_t* stage, std::uint8_t* to) {
    HWY_DYNAMIC_DISPATCH(spread)(shape, stage, to);
}

void stream_rows(const RowShape& shape, const std::uint8_t* stage, std::uint8_t* to) {
    HWY_DYNAMIC_DISPATCH(stream)(shape, stage, to);
}

void fetch_rows(const RowShape& shape, const std::uint8_t* to) {
    for (std::size_t row = 0; row < shape.rows; ++row, to += shape.row) {
        for (std::size_t at = 0; at < shape.run; at += line_bytes) {
            hwy::Prefetch(to + at);
        }
    }
}

void end_streams() { hwy::FlushStream(); }

std::size_t vector_bytes() { return HWY_DYNAMIC_DISPATCH(widest)(); }

}  // namespace npuscope
#endif  // HWY_ONCE
