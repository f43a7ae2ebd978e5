// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>

#include "models/base/error.h"
#include "models/base/quantity.h"
#include "models/layout/layout.h"

namespace npuscope {
namespace {

constexpr std::uint64_t largest_number = std::uint64_t{1} << 48;  // more bytes than anyone maps

class SentenceReader {
 public:
    explicit SentenceReader(std::string_view text) : text_(text) {}

    LayoutSentence read() {
        LayoutSentence sentence;
        skip_spaces();
        while (at_ < text_.size()) {
            sentence.push_back(digit());
            if (at_ < text_.size() && text_[at_] != ' ') {
                fail("a term must end with a space");
            }
            skip_spaces();
        }
        if (sentence.empty()) {
            fail("a term is missing");
        }
        return sentence;
    }

 private:
    [[noreturn]] void fail(const char* what) const {
        throw ConfigError(
            fmt::format("layout expression '{}', character {}: {}", text_, at_ + 1, what),
            "terms look like H, C/32, C%32 or H:1024, from slowest to fastest");
    }
    void skip_spaces() {
        while (at_ < text_.size() && text_[at_] == ' ') {
            ++at_;
        }
    }
    bool take(char letter) {
        if (at_ < text_.size() && text_[at_] == letter) {
            ++at_;
            return true;
        }
        return false;
    }
    std::uint64_t number() {
        std::uint64_t value = 0;
        const char* end = text_.data() + text_.size();
        const auto result = std::from_chars(text_.data() + at_, end, value);
        if (result.ec != std::errc() || value == 0 || value > largest_number) {
            fail("a number of at least 1 is missing here");
        }
        at_ = static_cast<std::size_t>(result.ptr - text_.data());
        return value;
    }
    LayoutDigit digit() {
        LayoutDigit digit;
        if (text_[at_] < 'A' || text_[at_] > 'Z') {
            fail("an axis is a capital letter");
        }
        digit.axis = text_[at_++];
        digit.divide = take('/') ? number() : 1;
        digit.modulo = take('%') ? number() : 0;
        digit.ragged = take('~');
        digit.reversed = take('-');
        digit.pitch = take(':') ? number() : 0;
        digit.align = take('^') ? number() : 1;
        return digit;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

/// Term `i` of an axis does not begin where the one before it ends.
[[noreturn]] void refuse_terms(const std::vector<LayoutDigit>& digits, std::size_t i) {
    LayoutDigit meant = digits[i];
    if (i == 0) {
        meant.modulo = 0;
        throw ConfigError(
            fmt::format("axis {} has no term above {}", meant.axis, to_string(digits[i])),
            fmt::format("write {}, or add {}/{}", to_string(meant), meant.axis,
                        digits[i].modulo * digits[i].divide));
    }
    meant.modulo = digits[i - 1].divide / meant.divide;
    const bool fits = meant.modulo > 1 && meant.modulo * meant.divide == digits[i - 1].divide;
    throw ConfigError(
        fmt::format("terms {} and {} of axis {} do not fit together", to_string(digits[i - 1]),
                    to_string(digits[i]), meant.axis),
        fits ? fmt::format("after {}, write {}", to_string(digits[i - 1]), to_string(meant))
             : "name each axis once, or in blocks: C/8 with C%8");
}

void require_chain(char axis, std::vector<LayoutDigit> digits) {
    std::ranges::sort(digits, [](const LayoutDigit& a, const LayoutDigit& b) {
        return a.divide != b.divide ? a.divide > b.divide : a.modulo != 1 && b.modulo == 1;
    });
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const std::uint64_t above = i == 0 ? 0 : digits[i - 1].divide;
        const std::uint64_t covers = digits[i].modulo * digits[i].divide;
        if (covers != above || digits[i].modulo > largest_number / digits[i].divide) {
            refuse_terms(digits, i);
        }
    }
    if (digits.back().divide != 1) {
        throw ConfigError(
            fmt::format("axis {} has no term {}%{}", axis, axis, digits.back().divide),
            "without it, elements overlap");
    }
}

}  // namespace

LayoutSentence parse_sentence(std::string_view text) {
    LayoutSentence sentence = SentenceReader(text).read();
    require_complete(sentence);
    return sentence;
}

std::string to_string(const LayoutDigit& digit) {
    std::string text(1, digit.axis);
    text += digit.divide == 1 ? "" : fmt::format("/{}", digit.divide);
    text += digit.modulo == 0 ? "" : fmt::format("%{}", digit.modulo);
    text += digit.ragged ? "~" : "";
    text += digit.reversed ? "-" : "";
    text += digit.pitch == 0 ? "" : fmt::format(":{}", digit.pitch);
    text += digit.align == 1 ? "" : fmt::format("^{}", digit.align);
    return text;
}

std::string to_string(const LayoutSentence& sentence) {
    std::string text;
    for (const LayoutDigit& digit : sentence) {
        text += text.empty() ? "" : " ";
        text += to_string(digit);
    }
    return text;
}

void require_complete(const LayoutSentence& sentence) {
    std::string axes;
    for (const LayoutDigit& digit : sentence) {
        if (axes.find(digit.axis) == std::string::npos) {
            axes += digit.axis;
        }
    }
    for (const char axis : axes) {
        std::vector<LayoutDigit> digits;
        std::ranges::copy_if(sentence, std::back_inserter(digits),
                             [axis](const LayoutDigit& digit) { return digit.axis == axis; });
        require_chain(axis, digits);
    }
}

namespace {

std::string label_of(const LogicalShape& shape, std::span<const std::uint64_t> index) {
    const auto at = [&](char axis) {
        const std::size_t found = shape.find(axis);
        return found == shape.axes.size() ? 0 : index[found];
    };
    const bool image = std::ranges::all_of(shape.axes, [](const AxisExtent& axis) {
        return std::string_view("NCHW").find(axis.axis) != std::string_view::npos;
    });
    if (image && shape.find('C') != shape.axes.size()) {
        const std::string batch = shape.extent('N') > 1 ? fmt::format("N{}", at('N')) : "";
        return fmt::format("{}P{}CH{}", batch, at('H') * shape.extent('W') + at('W'), at('C'));
    }
    std::string label;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        if (shape.axes[axis].extent > 1) {
            label += fmt::format("{}{}", shape.axes[axis].axis, index[axis]);
        }
    }
    return label.empty() ? "0" : label;
}

/// Bytes of a cell: every element, or word of several components, has whole cells of its own.
std::uint64_t cell_of(const Layout& layout) {
    const bool words = std::ranges::any_of(
        layout.parts, [](const LayoutPart& part) { return part.field.width != 0; });
    std::uint64_t cell = words ? 4 : layout.code == ElementCode::HighLow ? 1 : layout.element;
    for (const LayoutPart& part : layout.parts) {
        cell = std::gcd(cell, part.base);
        for (const LayoutStep& step : part.steps) {
            cell = layout.shape.axes[step.axis].extent > 1 ? std::gcd(cell, step.pitch) : cell;
        }
    }
    return cell;
}

/// The contents of the first bytes, one label per cell.
class Picture {
 public:
    Picture(const Layout& layout, std::uint64_t bytes)
        : layout_(layout), bytes_(std::min(bytes, layout.bytes)), cell_(cell_of(layout)) {
        cells_.resize((bytes_ + cell_ - 1) / cell_);
        for (const LayoutPart& part : layout.parts) {
            fill(part);
        }
    }

    std::uint64_t cell() const { return cell_; }
    std::string at(std::uint64_t byte) const {
        const std::uint64_t cell = byte / cell_;
        return cell >= cells_.size() ? "" : cells_[cell].empty() ? "-" : cells_[cell];
    }

 private:
    /// Values of a step, in the order of their offsets.
    struct Values {
        explicit Values(const LayoutStep& step, const IndexRange& box)
            : first(step.modulo == 0 ? box.first / step.divide : 0),
              last((box.last - 1) / step.divide),
              backwards(step.pitch < 0) {
            last = step.modulo == 0 ? last : std::min(last, step.modulo - 1);
        }
        std::uint64_t count() const { return last - first + 1; }
        std::uint64_t at(std::uint64_t i) const { return backwards ? last - i : first + i; }

        std::uint64_t first;
        std::uint64_t last;
        bool backwards;
    };

    /// What the steps of an axis add to: a short last block has no step for those before it.
    static std::uint64_t without_steps(const LayoutPart& part, std::size_t axis) {
        std::uint64_t block = 1;
        for (const LayoutStep& step : part.steps) {
            if (step.axis == axis && step.modulo == 0) {
                return 0;
            }
            block = step.axis == axis ? std::max(block, step.modulo * step.divide) : block;
        }
        return part.box[axis].first / block * block;
    }

    void fill(const LayoutPart& part) {
        std::vector<std::uint64_t> index;
        for (std::size_t axis = 0; axis < part.box.size(); ++axis) {
            index.push_back(without_steps(part, axis));
        }
        std::int64_t lowest = part.base;
        for (const LayoutStep& step : part.steps) {
            const Values values(step, part.box[step.axis]);
            lowest += static_cast<std::int64_t>(values.at(0)) * step.pitch;
        }
        fill_from(part, 0, lowest, index);
    }

    /// Chooses the values of the steps from `number` on: `offset` is the lowest with those before.
    void fill_from(const LayoutPart& part, std::size_t number, std::int64_t offset,
                   std::vector<std::uint64_t>& index) {
        if (number == part.steps.size()) {
            if (part.holds(index)) {
                put(part, index);
            }
            return;
        }
        const LayoutStep& step = part.steps[number];
        const Values values(step, part.box[step.axis]);
        const std::uint64_t before = index[step.axis];
        for (std::uint64_t i = 0; i < values.count() && offset < static_cast<std::int64_t>(bytes_);
             ++i, offset += std::abs(step.pitch)) {
            index[step.axis] = before + values.at(i) * step.divide;
            fill_from(part, number + 1, offset, index);
        }
        index[step.axis] = before;
    }

    void put(const LayoutPart& part, std::span<const std::uint64_t> index) {
        const auto offset = static_cast<std::uint64_t>(part.offset(index));
        const std::string label = label_of(layout_.shape, index);
        if (layout_.code == ElementCode::HighLow) {
            const std::uint64_t low = offset / 16 * 32 + offset % 16;
            put(low, label + "L");
            put(low + 16, label + "H");
            return;
        }
        const std::uint64_t end = offset + (part.field.width == 0 ? layout_.element : 4);
        for (std::uint64_t byte = offset; byte < end; byte += cell_) {
            put(byte, label);
        }
    }

    void put(std::uint64_t byte, const std::string& label) {
        if (byte / cell_ < cells_.size()) {
            std::string& cell = cells_[byte / cell_];
            cell = cell.empty() ? label : label + "+" + cell;
        }
    }

    const Layout& layout_;
    std::uint64_t bytes_;
    std::uint64_t cell_;
    std::vector<std::string> cells_;
};

}  // namespace

std::string explain_element(const Layout& layout, std::span<const std::uint64_t> index) {
    const LayoutPart& part = layout.part_of(index);
    const bool split = layout.code == ElementCode::HighLow;
    const char* unit = split ? "scalars" : "bytes";
    std::string name;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
        name +=
            fmt::format("{}{}{}", axis == 0 ? "" : " ", layout.shape.axes[axis].axis, index[axis]);
    }
    std::string text = fmt::format("{} in {} ({}) of {}\n", name, layout.name, layout.sentence,
                                   to_string(layout.shape));
    if (part.base != 0) {
        text += fmt::format("  {:<14}{:>26} {}\n", "part begins at", part.base, unit);
    }
    for (const LayoutStep& step : part.steps) {
        const std::uint64_t at = index[step.axis];
        const LayoutDigit digit{.axis = layout.shape.axes[step.axis].axis,
                                .divide = step.divide,
                                .modulo = step.modulo};
        text += fmt::format("  {:<8} = {:>6} x {:>10} = {:>10} {}\n", to_string(digit),
                            step.value(at), step.pitch, step.offset(at), unit);
    }
    const std::uint64_t byte = layout.address(index);
    if (split) {
        return text + fmt::format("  scalar {}: low byte at {}, high byte at {} (of {})\n",
                                  part.offset(index), byte, byte + 16, layout.bytes);
    }
    if (part.field.width != 0) {
        return text + fmt::format("  word at byte {}, bits {}:{} (of {} bytes)\n", byte,
                                  part.field.lsb + part.field.width - 1, part.field.lsb,
                                  layout.bytes);
    }
    const char* form = layout.code == ElementCode::Even ? ", bit 0 cleared"
                       : layout.code == ElementCode::SwappedEven
                           ? ", high byte first, bit 0 cleared"
                           : "";
    return text + fmt::format("  byte {} = {} (of {}){}\n", byte, to_hex(byte), layout.bytes, form);
}

std::string draw_entries(const Layout& layout, const PictureSize& size) {
    const Picture picture(layout, size.entries * size.entry_bytes);
    const std::uint64_t cell = picture.cell();
    std::string head = fmt::format("{:<12}", "Bits");
    std::string rows;
    std::size_t width = 9;
    for (std::uint64_t byte = 0; byte < size.entries * size.entry_bytes; byte += cell) {
        width = std::max(width, picture.at(byte).size());
    }
    for (std::uint64_t at = size.entry_bytes; at >= cell; at -= cell) {
        head += fmt::format(" {:>{}}", fmt::format("[{}:{}]", at * 8 - 1, (at - cell) * 8), width);
    }
    for (std::uint64_t entry = 0; entry < size.entries; ++entry) {
        const std::uint64_t begin = entry * size.entry_bytes;
        if (begin >= layout.bytes) {
            break;
        }
        rows += fmt::format("{:<12}", fmt::format("Entry #{}", entry));
        for (std::uint64_t at = size.entry_bytes; at >= cell; at -= cell) {
            rows += fmt::format(" {:>{}}", picture.at(begin + at - cell), width);
        }
        rows += '\n';
    }
    return head + '\n' + rows;
}

std::string first_entry(const Layout& layout, std::uint64_t entry_bytes) {
    const Picture picture(layout, entry_bytes);
    std::string text;
    for (std::uint64_t byte = 0; byte + picture.cell() <= entry_bytes && byte < layout.bytes;
         byte += picture.cell()) {
        text += text.empty() ? "" : " ";
        text += picture.at(byte);
    }
    return text;
}

}  // namespace npuscope
