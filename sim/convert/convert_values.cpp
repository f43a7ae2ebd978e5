// SPDX-License-Identifier: Apache-2.0
// Values that are converted are processed tile by tile: read in row-major order, quantised or
// dequantised there, written in the other layout.
#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/layout/relayout.h"
#include "models/layout/relayout_plan.h"
#include "sim/convert/conversion.h"

namespace npuscope {

namespace {

constexpr std::uint64_t tile_elements = 32768;  // float and fixed tile in a second-level cache

/// Runs of a row-major tile that share a factor: visit(first value, values, first factor). A run
/// along the last axis has one factor per value.
template <class Visit>
void for_each_run(const Layout& tile, std::size_t axis, Visit visit) {
    const LayoutPart& part = tile.parts.front();
    const bool each = axis + 1 == part.box.size();
    std::uint64_t length = each ? part.box[axis].size() : 0;
    for (const LayoutStep& step : part.steps) {
        if (!each && step.axis == axis) {
            length = static_cast<std::uint64_t>(step.pitch) / tile.element;
        }
    }
    std::vector<std::uint64_t> index = first_index(part.box);
    const std::size_t outer = each ? axis : axis + 1;
    do {
        visit(static_cast<std::uint64_t>(part.offset(index)) / tile.element, length, index[axis]);
    } while (next_index(std::span(index).first(outer), part.box));
}

template <class T>
bool quantise_tile(const Layout& tile, const Quantisation& by, const float* values, T* fixed) {
    if (by.factors.size() == 1) {
        return quantise<T>({values, tile.bytes / tile.element}, by.factors.front(), by.math, fixed);
    }
    const std::size_t axis = tile.shape.find(by.axis);
    const bool each = axis + 1 == tile.shape.axes.size();
    bool numbers = true;
    for_each_run(tile, axis, [&](std::uint64_t at, std::uint64_t count, std::uint64_t factor) {
        const std::span<const float> run(values + at, count);
        numbers = (each ? quantise_each<T>(run, std::span(by.factors).subspan(factor, count),
                                           by.math, fixed + at)
                        : quantise<T>(run, by.factors[factor], by.math, fixed + at)) &&
                  numbers;
    });
    return numbers;
}

template <class T>
void dequantise_tile(const Layout& tile, const Quantisation& by, const T* fixed, float* values) {
    if (by.factors.size() == 1) {
        dequantise<T>({fixed, tile.bytes / tile.element}, by.factors.front(), values);
        return;
    }
    const std::size_t axis = tile.shape.find(by.axis);
    const bool each = axis + 1 == tile.shape.axes.size();
    for_each_run(tile, axis, [&](std::uint64_t at, std::uint64_t count, std::uint64_t factor) {
        const std::span<const T> run(fixed + at, count);
        if (each) {
            dequantise_each<T>(run, std::span(by.factors).subspan(factor, count), values + at);
        } else {
            dequantise<T>(run, by.factors[factor], values + at);
        }
    });
}

struct TilePair {
    const Layout& tile;  ///< of the source's values
    std::vector<std::uint8_t>& read;
    std::vector<std::uint8_t>& written;
};

template <class T>
void change_values(const ConversionPlan& conversion, const TilePair& pair) {
    if (conversion.quantise) {
        const bool numbers = quantise_tile<T>(pair.tile, *conversion.quantise,
                                              reinterpret_cast<const float*>(pair.read.data()),
                                              reinterpret_cast<T*>(pair.written.data()));
        if (!numbers) {
            throw ConfigError("the input contains NaN",
                              "NaNs cannot be quantised: remove them from the input");
        }
        return;
    }
    dequantise_tile<T>(pair.tile, *conversion.dequantise,
                       reinterpret_cast<const T*>(pair.read.data()),
                       reinterpret_cast<float*>(pair.written.data()));
}

void change_tile(const ConversionPlan& conversion, const TilePair& pair) {
    const ElementRow& fixed =
        conversion.quantise ? *conversion.target_type : *conversion.source_type;
    if (fixed.name == "int8") {
        change_values<std::int8_t>(conversion, pair);
    } else if (fixed.name == "int16") {
        change_values<std::int16_t>(conversion, pair);
    } else {
        NPU_CHECK(fixed.name == "float32", "other types were refused");
        change_values<float>(conversion, pair);
    }
}

/// A layout that cannot be split into tiles is converted to row-major order first.
struct PlainCopy {
    Layout layout;
    std::vector<std::uint8_t> bytes;
};

PlainCopy plain_copy(const Layout& source, std::span<const std::uint8_t> from) {
    PlainCopy copy{plain_layout(source.shape, source.element), {}};
    copy.bytes.resize(copy.layout.bytes);
    relayout(source, from, copy.layout, copy.bytes);
    return copy;
}

void convert_tiles(const ConversionPlan& conversion, std::span<const std::uint8_t> from,
                   std::span<std::uint8_t> to, MoveProgress& progress) {
    const Layout& source = conversion.source;
    const Layout& target = conversion.target;
    TileMover reader(source), writer(target);
    std::vector<std::uint8_t> read, written;
    for_each_tile(source, target, tile_elements, [&](const std::vector<IndexRange>& box) {
        const Layout tile = tile_layout(source.shape, box, source.element);
        read.resize(tile.bytes);
        written.resize(tile_layout(source.shape, box, target.element).bytes);
        reader.read(from, box, read.data(), progress);
        change_tile(conversion, {tile, read, written});
        writer.write(to, box, written.data(), progress);
    });
}

}  // namespace

void convert(const ConversionPlan& conversion, std::span<const std::uint8_t> from,
             std::span<std::uint8_t> to, const std::function<void(std::uint64_t)>& report) {
    const Layout& source = conversion.source;
    const Layout& target = conversion.target;
    if (!conversion.quantise && !conversion.dequantise) {
        relayout(source, from, target, to, {.gaps = GapPolicy::AreZero, .progress = report});
        return;
    }
    if (from.size() < source.used || to.size() < target.bytes) {
        throw ConfigError(
            fmt::format("{} bytes are given for a source of {}, and {} for a target of {}",
                        from.size(), source.used, to.size(), target.bytes));
    }
    MoveProgress progress(report);
    if (!moves_in_tiles(source)) {
        ConversionPlan plain = conversion;
        const PlainCopy copy = plain_copy(source, from);
        plain.source = copy.layout;
        convert(plain, copy.bytes, to, report);
    } else if (!moves_in_tiles(target)) {
        ConversionPlan plain = conversion;
        plain.target = plain_layout(target.shape, target.element);
        std::vector<std::uint8_t> values(plain.target.bytes);
        convert(plain, from, values, report);
        relayout(plain.target, values, target, to,
                 {.gaps = GapPolicy::AreZero, .progress = report});
    } else {
        convert_tiles(conversion, from, to, progress);
    }
    progress.flush();
}

}  // namespace npuscope
