// SPDX-License-Identifier: Apache-2.0
// Where a tensor differs from its expected values: how many elements, the first and the worst of
// them, which channels, and a picture of the plane.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/layout/layout.h"
#include "sim/config/text_table.h"

namespace npuscope {

struct ElementDifference {
    std::vector<std::uint64_t> index;  ///< along each axis of the shape
    Address address;                   ///< of its first byte
    double expected = 0;
    double actual = 0;
};

struct TensorDifference {
    LogicalShape shape;
    std::uint64_t elements = 0;
    std::uint64_t mismatches = 0;
    ElementDifference first{};  ///< in row-major order
    ElementDifference worst{};  ///< the first of those with the largest error
    std::string channels{};     ///< with mismatches, if the shape has channels: `3, 7..9`
    char down = ' ';            ///< axis of the picture's rows
    char across = ' ';          ///< axis of its columns
    /// At most 20 lines of at most 56 characters; each stands for a part of the plane, combined
    /// over all other axes: `.` nothing differs, `+` some, `#` all.
    std::vector<std::string> picture{};
};

/// Location of a surface, for the addresses.
struct ComparedSurface {
    Address base;
    const Layout& layout;
};

/// Values in row-major order, as many as the layout's shape has. Two NaNs are considered equal.
TensorDifference compare_tensors(const ComparedSurface& surface, std::span<const double> expected,
                                 std::span<const double> actual);

/// `batch 0, channel 3, row 5, column 7`; for weights `kernel 3, channel 0, row 1, column 2`.
std::string index_text(const LogicalShape& shape, std::span<const std::uint64_t> index);
/// As sentences, and the picture with its legend.
std::string difference_text(const TensorDifference& difference, std::size_t width = report_width);

}  // namespace npuscope
