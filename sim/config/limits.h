// SPDX-License-Identifier: Apache-2.0
// Which values the fields of a configuration may have, and which relations hold between fields: rows
// of two tables. A configuration that breaks one could not be built as hardware, or this simulator
// does not compute it; it is refused with the nearest values that are legal.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "models/base/diagnostic.h"
#include "sim/config/system_config.h"

namespace npuscope {

/// `4 to 128, a power of two`; empty for a field without a row.
std::string limit_text(std::string_view field);

/// `field: relation` of every relation that the field is part of, a line each.
std::string relations_text(std::string_view field);

/// ConfigError for the first field or relation that is broken. `place_of` says where a field, by its
/// dotted name, was given its value.
void check_limits(const SystemConfig& system,
                  const std::function<Place(const std::string& field)>& place_of);

}  // namespace npuscope
