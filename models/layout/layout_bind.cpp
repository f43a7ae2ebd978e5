// SPDX-License-Identifier: Apache-2.0
// Binding a sentence to a shape: extents, pitches and, where blocks are short, parts.
#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"
#include "models/layout/layout.h"

namespace npuscope {

namespace {

constexpr std::uint64_t largest_surface = std::uint64_t{1} << 48;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    if (a != 0 && b > largest_surface / a) {
        throw ConfigError(fmt::format("a surface of {} times {} bytes is larger than 2^48", a, b));
    }
    return a * b;
}

struct Built {
    std::vector<LayoutPart> parts;
    std::uint64_t size = 0;
};

class Binder {
 public:
    Binder(const LayoutSentence& sentence, const LogicalShape& shape, std::uint64_t unit)
        : sentence_(sentence), shape_(shape), unit_(unit) {}

    Built build() {
        std::vector<IndexRange> box;
        for (const AxisExtent& axis : shape_.axes) {
            box.push_back({0, axis.extent});
        }
        return from_digit(0, box);
    }

 private:
    Built from_digit(std::size_t at, const std::vector<IndexRange>& box) const {
        if (at == sentence_.size()) {
            return {{LayoutPart{box, 0, {}, {}}}, unit_};
        }
        const LayoutDigit& digit = sentence_[at];
        const std::size_t axis = shape_.find(digit.axis);
        if (axis == shape_.axes.size()) {
            return absent(at, box);
        }
        return digit.ragged ? ragged(at, axis, box) : regular(at, axis, box);
    }

    /// An axis of extent 1: its digits have the value 0, but padded lanes keep their room.
    Built absent(std::size_t at, const std::vector<IndexRange>& box) const {
        Built inner = from_digit(at + 1, box);
        const std::uint64_t lanes = std::max<std::uint64_t>(sentence_[at].modulo, 1);
        inner.size = std::max(inner.size, times(pitch_of(at, inner.size), lanes));
        return inner;
    }

    std::uint64_t pitch_of(std::size_t at, std::uint64_t inner_size) const {
        const LayoutDigit& digit = sentence_[at];
        const std::uint64_t packed = (inner_size + digit.align - 1) / digit.align * digit.align;
        return digit.pitch == 0 ? packed : digit.pitch;
    }

    /// Lanes of a digit: all of its modulo, but in short blocks only those that exist.
    std::uint64_t lanes_of(const LayoutDigit& digit, const IndexRange& range) const {
        const auto quotient = std::ranges::find_if(sentence_, [&digit](const LayoutDigit& other) {
            return other.axis == digit.axis && other.ragged;
        });
        if (digit.modulo == 0) {
            return (range.last + digit.divide - 1) / digit.divide;
        }
        return quotient == sentence_.end() ? digit.modulo : std::min(digit.modulo, range.size());
    }

    Built regular(std::size_t at, std::size_t axis, const std::vector<IndexRange>& box) const {
        const LayoutDigit& digit = sentence_[at];
        const std::uint64_t lanes = lanes_of(digit, box[axis]);
        Built built = from_digit(at + 1, box);
        const std::uint64_t pitch = pitch_of(at, built.size);
        const auto step = static_cast<std::int64_t>(pitch);
        for (LayoutPart& part : built.parts) {
            part.steps.insert(part.steps.begin(),
                              {axis, digit.divide, digit.modulo, digit.reversed ? -step : step});
            part.base += digit.reversed ? step * static_cast<std::int64_t>(lanes - 1) : 0;
        }
        built.size = std::max(built.size, times(pitch, lanes));
        return built;
    }

    Built ragged(std::size_t at, std::size_t axis, const std::vector<IndexRange>& box) const {
        const LayoutDigit& digit = sentence_[at];
        const std::uint64_t extent = box[axis].last;
        const std::uint64_t full = extent / digit.divide;
        Built built;
        std::vector<IndexRange> range = box;
        if (full > 0) {
            range[axis] = {0, full * digit.divide};
            built = from_digit(at + 1, range);
            for (LayoutPart& part : built.parts) {
                part.steps.insert(part.steps.begin(),
                                  {axis, digit.divide, 0, static_cast<std::int64_t>(built.size)});
            }
            built.size = times(built.size, full);
        }
        if (extent % digit.divide != 0) {
            range[axis] = {full * digit.divide, extent};
            Built tail = from_digit(at + 1, range);
            for (LayoutPart& part : tail.parts) {
                part.base += static_cast<std::int64_t>(built.size);
                built.parts.push_back(std::move(part));
            }
            built.size += tail.size;
        }
        return built;
    }

    const LayoutSentence& sentence_;
    const LogicalShape& shape_;
    std::uint64_t unit_;
};

void require_ragged_rules(const LayoutSentence& sentence) {
    for (std::size_t at = 0; at < sentence.size(); ++at) {
        const LayoutDigit& digit = sentence[at];
        if (!digit.ragged) {
            continue;
        }
        const auto later = std::count_if(sentence.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                         sentence.end(), [&digit](const LayoutDigit& other) {
                                             return other.axis == digit.axis &&
                                                    other.modulo == digit.divide &&
                                                    other.divide == 1 && !other.reversed;
                                         });
        const bool alone = digit.modulo == 0 && !digit.reversed && digit.pitch == 0 &&
                           digit.align == 1 && later == 1;
        const bool packed = std::ranges::all_of(
            sentence, [](const LayoutDigit& other) { return other.pitch == 0; });
        if (!alone || !packed) {
            throw ConfigError(
                fmt::format("short blocks of digit {} in '{}'", to_string(digit),
                            to_string(sentence)),
                "they need one faster digit of the same axis, such as K/8~ with K%8, and no pitch");
        }
    }
}

/// Sorted by pitch, every digit must step over all that the smaller ones reach.
void require_distinct(const Layout& layout, std::uint64_t unit) {
    for (const LayoutPart& part : layout.parts) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> digits;  // pitch, lanes
        for (const LayoutStep& step : part.steps) {
            const IndexRange& range = part.box[step.axis];
            const std::uint64_t all =
                (range.last - 1) / step.divide - range.first / step.divide + 1;
            const std::uint64_t lanes = step.modulo == 0 ? all : std::min(all, step.modulo);
            if (lanes > 1) {
                digits.emplace_back(static_cast<std::uint64_t>(std::abs(step.pitch)), lanes);
            }
        }
        std::ranges::sort(digits);
        std::uint64_t reach = unit;
        for (const auto& [pitch, lanes] : digits) {
            if (pitch < reach) {
                throw ConfigError(
                    fmt::format("layout '{}' of {}: a pitch of {} bytes steps onto elements that "
                                "reach over {} bytes",
                                layout.sentence, to_string(layout.shape), pitch, reach),
                    fmt::format("the pitch must be at least {}", reach));
            }
            reach += pitch * (lanes - 1);
        }
    }
}

}  // namespace

Layout bind(const LayoutSentence& sentence, const LogicalShape& shape, const BindOptions& options) {
    require_sane(shape);
    require_complete(sentence);
    require_ragged_rules(sentence);
    for (const AxisExtent& axis : shape.axes) {
        if (axis.extent > 1 &&
            std::ranges::find(sentence, axis.axis, &LayoutDigit::axis) == sentence.end()) {
            throw ConfigError(
                fmt::format("layout '{}' has no digit of axis {}, which has {} "
                            "elements",
                            to_string(sentence), axis.axis, axis.extent));
        }
    }
    const bool split = options.code == ElementCode::HighLow;
    const std::uint64_t unit = split ? 1 : options.element;
    Built built = Binder(sentence, shape, unit).build();
    const std::uint64_t stored = split ? (built.size + 15) / 16 * 32 : built.size;
    Layout layout{options.name,
                  to_string(sentence),
                  shape,
                  options.element,
                  options.code,
                  std::move(built.parts),
                  (stored + options.align_total - 1) / options.align_total * options.align_total,
                  0};
    require_distinct(layout, unit);
    finish_layout(layout);
    return layout;
}

}  // namespace npuscope
