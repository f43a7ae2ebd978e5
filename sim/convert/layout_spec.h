// SPDX-License-Identifier: Apache-2.0
// How a layout is named on the command line and in YAML:
//
//     4W4C8B    feature:atom=8,line_stride=64    "N C/8 H W C%8"
//
// a row of the catalogue, with parameters after a colon, or a sentence of one's own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "models/base/diagnostic.h"
#include "models/layout/layout_catalog.h"

namespace npuscope {

struct LayoutSpec {
    std::string text;
    const LayoutRow* row = nullptr;  ///< nullptr: a sentence
    LayoutSentence sentence;
    std::map<std::string, std::uint64_t, std::less<>> parameters;

    /// ConfigError as make_layout() and bind() give it.
    Layout bind_to(const LogicalShape& shape, std::uint32_t element) const;
    /// The same, or why the layout does not hold the shape.
    std::variant<Layout, Diagnostic> try_bind(const LogicalShape& shape,
                                              std::uint32_t element) const;
    /// Letters of the axes of a shape with so many extents.
    std::string axes_for(std::size_t extents) const;
};

/// ConfigError with the nearest known name.
LayoutSpec parse_layout_spec(const std::string& text);

}  // namespace npuscope
