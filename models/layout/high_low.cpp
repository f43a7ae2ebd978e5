// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "models/layout/element_code.h"

// Like the vector kernels, the loops are compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/layout/high_low.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

std::uint16_t value_at(const std::uint8_t* values, std::uint64_t i) {
    std::uint16_t value = 0;
    std::memcpy(&value, values + 2 * i, 2);
    return value;
}

void put_value(std::uint8_t* values, std::uint64_t i, unsigned value) {
    const auto half = static_cast<std::uint16_t>(value);
    std::memcpy(values + 2 * i, &half, 2);
}

void split_loop(const std::uint8_t* HWY_RESTRICT values, std::uint64_t count,
                std::uint8_t* HWY_RESTRICT low, std::uint8_t* HWY_RESTRICT high) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint16_t value = value_at(values, i);
        low[i] = static_cast<std::uint8_t>((value & 0xFFU) >> 1U);
        high[i] = static_cast<std::uint8_t>(value >> 8U);
    }
}

void join_loop(const std::uint8_t* HWY_RESTRICT low, const std::uint8_t* HWY_RESTRICT high,
               std::uint64_t count, std::uint8_t* HWY_RESTRICT values) {
    for (std::uint64_t i = 0; i < count; ++i) {
        put_value(values, i, (low[i] & 0x7FU) << 1U | static_cast<unsigned>(high[i]) << 8U);
    }
}

namespace hn = hwy::HWY_NAMESPACE;
using Values = hn::CappedTag<std::int16_t, 16>;
using Halves = hn::Rebind<std::uint8_t, Values>;
using Unsigned = hn::RebindToUnsigned<Values>;

void split_pairs(std::uint8_t* pairs, std::uint64_t bytes) {
    const Values d;
    const Unsigned u;
    const Halves half;
    for (std::uint64_t at = 0; at < bytes; at += 32) {
        HWY_ALIGN std::int16_t values[16];
        std::memcpy(values, pairs + at, 32);
        for (std::size_t i = 0; i < 16; i += hn::Lanes(d)) {
            const auto value = hn::BitCast(u, hn::Load(d, values + i));
            const auto low = hn::ShiftRight<1>(hn::And(value, hn::Set(u, 0xFF)));
            const auto high = hn::ShiftRight<8>(value);
            hn::StoreU(hn::DemoteTo(half, hn::BitCast(d, low)), half, pairs + at + i);
            hn::StoreU(hn::DemoteTo(half, hn::BitCast(d, high)), half, pairs + at + 16 + i);
        }
    }
}

void join_pairs(const std::uint8_t* HWY_RESTRICT pairs, std::uint64_t bytes,
                std::uint8_t* HWY_RESTRICT values) {
    const Unsigned u;
    const Halves half;
    for (std::uint64_t at = 0; at < bytes; at += 32) {
        HWY_ALIGN std::uint16_t joined[16];
        for (std::size_t i = 0; i < 16; i += hn::Lanes(u)) {
            const auto low = hn::PromoteTo(u, hn::LoadU(half, pairs + at + i));
            const auto high = hn::PromoteTo(u, hn::LoadU(half, pairs + at + 16 + i));
            const auto kept = hn::ShiftLeft<1>(hn::And(low, hn::Set(u, 0x7F)));
            hn::Store(hn::Or(kept, hn::ShiftLeft<8>(high)), u, joined + i);
        }
        std::memcpy(values + at, joined, 32);
    }
}

void clear_loop(std::uint8_t* values, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        put_value(values, i, value_at(values, i) & 0xFFFEU);
    }
}

void swap_loop(std::uint8_t* values, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const unsigned value = value_at(values, i);
        put_value(values, i, value >> 8U | (value & 0xFFU) << 8U);
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npuscope {

HWY_EXPORT(split_loop);
HWY_EXPORT(join_loop);
HWY_EXPORT(split_pairs);
HWY_EXPORT(join_pairs);
HWY_EXPORT(clear_loop);
HWY_EXPORT(swap_loop);

namespace {

constexpr std::int64_t entry = 16;  // scalars; source: Kneron pages, 128-bit entries

struct SplitStep {
    std::vector<LayoutStep> steps;
    std::int64_t reach = 0;  ///< scalars within an entry after the first
};

/// A scalar step as byte steps of entry pairs; nothing where it skips entries.
std::optional<SplitStep> split_step(const LayoutStep& step, std::uint64_t extent) {
    const std::uint64_t all = (extent - 1) / step.divide + 1;
    const auto lanes =
        static_cast<std::int64_t>(step.modulo == 0 ? all : std::min(all, step.modulo));
    LayoutStep scaled = step;
    if (lanes == 1 || step.pitch % entry == 0) {
        scaled.pitch *= 2;
        return SplitStep{{scaled}, 0};
    }
    if (step.pitch < 0) {
        return std::nullopt;
    }
    if (step.pitch * (lanes - 1) < entry) {
        return SplitStep{{scaled}, step.pitch * (lanes - 1)};
    }
    const std::int64_t inside = entry / step.pitch;
    if (entry % step.pitch != 0 || (step.modulo != 0 && lanes % inside != 0)) {
        return std::nullopt;
    }
    const auto divide = static_cast<std::uint64_t>(inside);
    const LayoutStep outer{step.axis, step.divide * divide,
                           step.modulo == 0 ? 0 : step.modulo / divide, 2 * entry};
    const LayoutStep inner{step.axis, step.divide, divide, step.pitch};
    return SplitStep{{outer, inner}, step.pitch * (inside - 1)};
}

}  // namespace

std::optional<Layout> byte_layout(const Layout& high_low) {
    Layout layout = high_low;
    layout.element = 1;
    layout.code = ElementCode::Plain;
    layout.shape.axes.insert(layout.shape.axes.begin(), {'#', 2});
    for (LayoutPart& part : layout.parts) {
        std::vector<LayoutStep> steps;
        std::int64_t reach = part.base % entry;
        for (const LayoutStep& step : part.steps) {
            auto split = split_step(step, part.box[step.axis].last);
            if (!split) {
                return std::nullopt;
            }
            reach += split->reach;
            for (LayoutStep& each : split->steps) {
                each.axis += 1;
                steps.push_back(each);
            }
        }
        if (reach >= entry || part.base < 0) {
            return std::nullopt;
        }
        steps.push_back({0, 1, 0, entry});
        part.steps = std::move(steps);
        part.base = part.base / entry * 2 * entry + part.base % entry;
        part.box.insert(part.box.begin(), {0, 2});
    }
    return layout;
}

void split_high_low(const std::uint8_t* values, std::uint64_t count, std::uint8_t* planes) {
    HWY_DYNAMIC_DISPATCH(split_loop)(values, count, planes, planes + count);
}

void join_high_low(const std::uint8_t* planes, std::uint64_t count, std::uint8_t* values) {
    HWY_DYNAMIC_DISPATCH(join_loop)(planes, planes + count, count, values);
}

void split_entries(std::uint8_t* pairs, std::uint64_t bytes) {
    HWY_DYNAMIC_DISPATCH(split_pairs)(pairs, bytes);
}

void join_entries(const std::uint8_t* pairs, std::uint64_t bytes, std::uint8_t* values) {
    HWY_DYNAMIC_DISPATCH(join_pairs)(pairs, bytes, values);
}

void decode_values(ElementCode code, std::uint8_t* values, std::uint64_t count) {
    if (code == ElementCode::SwappedEven) {
        HWY_DYNAMIC_DISPATCH(swap_loop)(values, count);
    }
    if (code == ElementCode::SwappedEven || code == ElementCode::Even) {
        HWY_DYNAMIC_DISPATCH(clear_loop)(values, count);
    }
}

void encode_values(ElementCode code, std::uint8_t* values, std::uint64_t count) {
    if (code == ElementCode::SwappedEven || code == ElementCode::Even) {
        HWY_DYNAMIC_DISPATCH(clear_loop)(values, count);
    }
    if (code == ElementCode::SwappedEven) {
        HWY_DYNAMIC_DISPATCH(swap_loop)(values, count);
    }
}

}  // namespace npuscope
#endif  // HWY_ONCE
