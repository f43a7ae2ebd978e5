// SPDX-License-Identifier: Apache-2.0
// A layout as an expression: terms ("digits") of the element's index, from slowest to fastest.
//
//     C/32 H W C%32      the feature cube of 32 channels per atom
//     digit = axis ['/' divide] ['%' modulo] ['~'] ['-'] [':' pitch] ['^' align]
//
//     C/4%2  is (index of C) / 4 % 2. '~': the last block is short, no lane
//     is padded. '-': counted backwards. Pitch and alignment are in bytes; without a pitch the
//     digit directly follows all faster ones, its pitch rounded up to the alignment.
//
// An axis is one capital letter: N batch, C channel, D depth, H row, W column; K kernel, R and S
// rows and columns of a kernel. The expression is bound to a given shape below.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace npuscope {

struct LayoutDigit {
    char axis = 'C';
    std::uint64_t divide = 1;
    std::uint64_t modulo = 0;  ///< 0: up to the end of the axis
    bool ragged = false;       ///< the last block of the axis is short, not padded
    bool reversed = false;
    std::uint64_t pitch = 0;  ///< bytes from one value to the next; 0: packed
    std::uint64_t align = 1;  ///< bytes that a packed pitch is rounded up to

    bool operator==(const LayoutDigit&) const = default;
};

using LayoutSentence = std::vector<LayoutDigit>;

/// ConfigError that quotes the text and the position in it.
LayoutSentence parse_sentence(std::string_view text);
std::string to_string(const LayoutDigit& digit);
std::string to_string(const LayoutSentence& sentence);

/// Every axis must be cut without holes or overlaps: C/32 goes with C%32, W/8 with W/2%4 and W%2.
/// ConfigError that names the digit.
void require_complete(const LayoutSentence& sentence);

struct AxisExtent {
    char axis = 'C';
    std::uint64_t extent = 1;

    bool operator==(const AxisExtent&) const = default;
};

struct IndexRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  ///< one past the end

    bool operator==(const IndexRange&) const = default;
    std::uint64_t size() const { return last - first; }
};

/// A tensor's axes, slowest first: the logical order, in which plain arrays are stored row-major.
struct LogicalShape {
    std::vector<AxisExtent> axes;

    bool operator==(const LogicalShape&) const = default;

    std::uint64_t elements() const;
    /// All its indices.
    std::vector<IndexRange> box() const;
    /// Index into `axes`, or axes.size().
    std::size_t find(char axis) const;
    /// 1 for an axis that the shape does not have.
    std::uint64_t extent(char axis) const;
};

/// `1x3x224x224` with one letter of `letters` per number. ConfigError on anything else, and if the
/// tensor would have 2^48 elements or more.
LogicalShape parse_shape(std::string_view text, std::string_view letters);
/// `N1 C3 H224 W224`.
std::string to_string(const LogicalShape& shape);
void require_sane(const LogicalShape& shape);

/// How the value of an element is encoded at its byte.
enum class ElementCode : std::uint8_t {
    Plain,        ///< little-endian
    Even,         ///< 16 bits, bit 0 cleared
    SwappedEven,  ///< 16 bits, bit 0 cleared, high byte first
    HighLow,      ///< 15 bits in two bytes: low byte = bits 7..1, 16 bytes later bits 15..8
};

/// A digit with its pitch. Its value is index / divide % modulo.
struct LayoutStep {
    std::size_t axis = 0;  ///< of the shape
    std::uint64_t divide = 1;
    std::uint64_t modulo = 0;  ///< 0: none
    std::int64_t pitch = 0;    ///< bytes (high/low: scalars)

    std::uint64_t value(std::uint64_t index) const {
        return modulo == 0 ? index / divide : index / divide % modulo;
    }
    std::int64_t offset(std::uint64_t index) const {
        return static_cast<std::int64_t>(value(index)) * pitch;
    }
};

/// Bits of a component inside a 32-bit word; width 0 = separate elements.
struct BitField {
    std::uint8_t lsb = 0;
    std::uint8_t width = 0;

    bool operator==(const BitField&) const = default;
};

struct LayoutPart {
    std::vector<IndexRange> box;  ///< one range for each axis of the shape
    std::int64_t base = 0;
    std::vector<LayoutStep> steps;
    BitField field;

    bool holds(std::span<const std::uint64_t> index) const;
    std::int64_t offset(std::span<const std::uint64_t> index) const;
    /// Smallest and largest offset in a box; only of steps that go forwards.
    std::pair<std::int64_t, std::int64_t> reach(std::span<const IndexRange> indices) const;
};

/// The location of every element of a tensor in memory: a layout expression bound to a shape.
///
///     byte of element (n, c, h, w) = part.base
///                                  + sum over steps of (index / divide % modulo) * pitch
///
/// A layout has one part for each box of indices in which that sum holds: usually one, several
/// where last blocks are short (weights), planes differ (semi-planar pixels) or channels are
/// reordered. Codes define what is at that byte if it is not the plain little-endian value; the
/// high/low format splits each entry of 16 scalars into 16 low and 16 high bytes:
///
///     s = the sum above:   low byte at s / 16 * 32 + s % 16,   high byte 16 bytes later
///
///     entry | low 0 | low 1 | ... | low 15 | high 0 | high 1 | ... | high 15 |     32 bytes
///
/// source: architecture; codes: Kneron pages "Supported NPU Data Layout Format", "Convert ONNX &
/// NPU Data"; packed words: NVDLA format page, table 33
struct Layout {
    std::string name;
    std::string sentence;
    LogicalShape shape;
    std::uint32_t element = 1;  ///< bytes per value
    ElementCode code = ElementCode::Plain;
    std::vector<LayoutPart> parts;
    std::uint64_t bytes = 0;  ///< of the whole surface, padding at its end included
    std::uint64_t used = 0;   ///< from the first byte to the end of the last element

    const LayoutPart& part_of(std::span<const std::uint64_t> index) const;
    /// The element's first byte; for a high/low element, the low byte.
    std::uint64_t address(std::span<const std::uint64_t> index) const;
    /// True where every byte belongs to exactly one element.
    bool is_dense() const {
        return bytes == shape.elements() * element &&
               (parts.empty() || parts.front().field.width == 0);
    }
};

struct BindOptions {
    std::string name{};
    std::uint32_t element = 1;
    ElementCode code = ElementCode::Plain;
    std::uint64_t align_total = 1;  ///< the surface's size is a multiple of this
};

/// Axes of the expression that the shape lacks have extent 1; axes of the shape that the expression
/// lacks must have extent 1. ConfigError with the numbers if digits would overlap or 2^48 bytes are
/// exceeded.
Layout bind(const LayoutSentence& sentence, const LogicalShape& shape, const BindOptions& options);

/// Row-major without gaps, axes in the order of `order`: `NCHW`.
Layout plain_layout(const LogicalShape& shape, std::uint32_t element, std::string_view order = {});

/// The first index of a box.
std::vector<std::uint64_t> first_index(std::span<const IndexRange> box);
/// Counts through a box in row-major order; false when it wraps around.
bool next_index(std::span<std::uint64_t> index, std::span<const IndexRange> box);

/// Fills `used` and checks sizes; for layouts that are built part by part.
void finish_layout(Layout& layout);

// Layouts for people: how an element's byte is computed, and the first entries as the vendors'
// tables draw them, byte 0 at the right.

/// One line per digit with its value and pitch, then the byte. `index` is within the shape.
std::string explain_element(const Layout& layout, std::span<const std::uint64_t> index);

struct PictureSize {
    std::uint64_t entries = 3;
    std::uint64_t entry_bytes = 16;
};

/// `P3CH1` is channel 1 of pixel 3 (its row times the width, plus its column); weights and other
/// tensors name axes and indices. `-` belongs to no element; L and H are low and high bytes.
std::string draw_entries(const Layout& layout, const PictureSize& size);

/// Labels of the first entry from byte 0 on, in one line.
std::string first_entry(const Layout& layout, std::uint64_t entry_bytes);

}  // namespace npuscope
