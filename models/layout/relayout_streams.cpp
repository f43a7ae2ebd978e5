// SPDX-License-Identifier: Apache-2.0
#include "models/layout/relayout_streams.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/layout/relayout_streams.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t wide = HWY_MAX_BYTES < line_bytes ? HWY_MAX_BYTES : line_bytes;

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
