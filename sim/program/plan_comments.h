// SPDX-License-Identifier: Apache-2.0
// Comments of a .cfg trace that say what it is for, as `plan --out` writes them. They only affect
// the names in results:
//
//     // layer c1: conv, 2 operations, 117600 MACs       the next operations compute it
//     // surface input = ADDRESS:SHAPE:TYPE:LAYOUT       what is there
//     // result c1 = ADDRESS:SHAPE:TYPE:LAYOUT after id  a layer's result, once the id is raised
#pragma once

#include <optional>
#include <string_view>

#include "sim/program/program.h"

namespace npuscope {

/// Nothing if the comment, including `//`, is of another kind.
std::optional<BeginLayer> read_layer_comment(std::string_view comment);
std::optional<NamedSurface> read_surface_comment(std::string_view comment);

}  // namespace npuscope
