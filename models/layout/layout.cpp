// SPDX-License-Identifier: Apache-2.0
#include "models/layout/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "models/base/check.h"
#include "models/base/error.h"

namespace npuscope {

namespace {

/// Elements, and bytes of a surface.
constexpr std::uint64_t largest_tensor = std::uint64_t{1} << 48;

}  // namespace

std::uint64_t LogicalShape::elements() const {
    std::uint64_t product = 1;
    for (const AxisExtent& axis : axes) {
        product *= axis.extent;
    }
    return product;
}

std::vector<IndexRange> LogicalShape::box() const {
    std::vector<IndexRange> ranges;
    for (const AxisExtent& axis : axes) {
        ranges.push_back({0, axis.extent});
    }
    return ranges;
}

std::size_t LogicalShape::find(char axis) const {
    return static_cast<std::size_t>(std::ranges::find(axes, axis, &AxisExtent::axis) -
                                    axes.begin());
}

std::uint64_t LogicalShape::extent(char axis) const {
    const std::size_t found = find(axis);
    return found == axes.size() ? 1 : axes[found].extent;
}

void require_sane(const LogicalShape& shape) {
    std::uint64_t product = 1;
    for (const AxisExtent& axis : shape.axes) {
        if (axis.extent == 0) {
            throw ConfigError(
                fmt::format("axis {} of shape {} is empty", axis.axis, to_string(shape)),
                "every axis must have at least one element");
        }
        if (axis.extent >= largest_tensor / product) {
            throw ConfigError(fmt::format("shape {} has 2^48 elements or more", to_string(shape)));
        }
        product *= axis.extent;
    }
}

LogicalShape parse_shape(std::string_view text, std::string_view letters) {
    LogicalShape shape;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    for (const char letter : letters) {
        std::uint64_t extent = 0;
        const auto result = std::from_chars(at, end, extent);
        const bool last = shape.axes.size() + 1 == letters.size();
        const bool ends = result.ptr == end;
        if (result.ec != std::errc() || ends != last || (!ends && *result.ptr != 'x')) {
            throw ConfigError(fmt::format("shape '{}' does not give the {} extents {}", text,
                                          letters.size(), letters),
                              "numbers joined by x, e.g. 1x3x224x224");
        }
        shape.axes.push_back({letter, extent});
        at = result.ptr + (ends ? 0 : 1);
    }
    require_sane(shape);
    return shape;
}

std::string to_string(const LogicalShape& shape) {
    std::string text;
    for (const AxisExtent& axis : shape.axes) {
        text += fmt::format("{}{}{}", text.empty() ? "" : " ", axis.axis, axis.extent);
    }
    return text;
}

bool LayoutPart::holds(std::span<const std::uint64_t> index) const {
    return std::ranges::equal(index, box, [](std::uint64_t at, const IndexRange& range) {
        return at >= range.first && at < range.last;
    });
}

std::int64_t LayoutPart::offset(std::span<const std::uint64_t> index) const {
    std::int64_t sum = base;
    for (const LayoutStep& step : steps) {
        sum += step.offset(index[step.axis]);
    }
    return sum;
}

std::pair<std::int64_t, std::int64_t> LayoutPart::reach(std::span<const IndexRange> indices) const {
    std::int64_t low = base, high = base;
    for (const LayoutStep& step : steps) {
        if (step.pitch <= 0) {
            continue;  // reversed: its base is at the far end
        }
        const IndexRange& range = indices[step.axis];
        const std::uint64_t from = range.first / step.divide;
        const std::uint64_t to = (range.last - 1) / step.divide;
        const bool wraps = step.modulo != 0 && from / step.modulo != to / step.modulo;
        low += wraps ? 0 : step.offset(range.first);
        high += wraps ? static_cast<std::int64_t>(step.modulo - 1) * step.pitch
                      : step.offset(range.last - 1);
    }
    return {low, high};
}

const LayoutPart& Layout::part_of(std::span<const std::uint64_t> index) const {
    NPU_CHECK(index.size() == shape.axes.size(), "an index has one number for each axis");
    const auto part = std::ranges::find_if(
        parts, [index](const LayoutPart& candidate) { return candidate.holds(index); });
    NPU_CHECK(part != parts.end(), "every element lies in a part of " + sentence);
    return *part;
}

std::uint64_t Layout::address(std::span<const std::uint64_t> index) const {
    const auto offset = static_cast<std::uint64_t>(part_of(index).offset(index));
    // source: Kneron page "Convert ONNX & NPU Data", high/low index
    return code == ElementCode::HighLow ? offset / 16 * 32 + offset % 16 : offset;
}

Layout plain_layout(const LogicalShape& shape, std::uint32_t element, std::string_view order) {
    LayoutSentence sentence;
    for (const AxisExtent& axis : shape.axes) {
        sentence.push_back({.axis = order.empty() ? axis.axis : order[sentence.size()]});
    }
    return bind(sentence, shape, {.name = "plain", .element = element});
}

std::vector<std::uint64_t> first_index(std::span<const IndexRange> box) {
    std::vector<std::uint64_t> index;
    std::ranges::transform(box, std::back_inserter(index), &IndexRange::first);
    return index;
}

bool next_index(std::span<std::uint64_t> index, std::span<const IndexRange> box) {
    for (std::size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < box[axis].last) {
            return true;
        }
        index[axis] = box[axis].first;
    }
    return false;
}

void finish_layout(Layout& layout) {
    const bool split = layout.code == ElementCode::HighLow;
    const std::uint64_t unit = split ? 1 : layout.element;
    std::uint64_t end = 0;
    for (const LayoutPart& part : layout.parts) {
        const std::uint64_t bytes = part.field.width == 0 ? unit : 4;
        const std::int64_t last = part.reach(part.box).second;
        NPU_CHECK(last >= 0, "no element lies in front of its surface: " + layout.sentence);
        end = std::max(end, static_cast<std::uint64_t>(last) + bytes);
    }
    layout.used = split ? (end + 15) / 16 * 32 : end;
    NPU_CHECK(layout.used <= layout.bytes, "a surface covers its elements: " + layout.sentence);
}

// Binding an expression to a shape: extents, pitches and, where blocks are short, parts.

namespace {

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    if (a != 0 && b > largest_tensor / a) {
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

    Built build() const { return from_digit(0, shape_.box()); }

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

    /// An axis of extent 1: its digits have the value 0, but padded lanes keep their space.
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

    /// Lanes of a digit: all of its modulo, but only the existing ones in short blocks.
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
                fmt::format("a short last block (~) of term {} in '{}' is not possible",
                            to_string(digit), to_string(sentence)),
                "it needs one faster term of the same axis, such as K/8~ with K%8, and no pitch");
        }
    }
}

/// Sorted by pitch, every digit must step beyond everything that the smaller ones reach.
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
                    fmt::format("layout '{}' of {}: a pitch of {} byte{} overlaps elements that "
                                "span {} bytes",
                                layout.sentence, to_string(layout.shape), pitch,
                                pitch == 1 ? "" : "s", reach),
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
                fmt::format("layout '{}' has no term for axis {}, which has {} elements",
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
